// The demo as `npm start` serves it, built, on a port of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { root } from '../../scripts/run.mjs';

/** Starts the demo; it ends with the test. Returns its address. */
export async function startDemo(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-demo-'));
  const args = ['examples/partner-desk/main.ts', '--offline', '--port', '0', '--db', join(folder, 'desk.db')];
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        output += data.toString();
        const [address] = /http:\/\/localhost:\d+/.exec(output) ?? [];
        if (address !== undefined) resolve(address);
      });
    void gone.then(() => reject(new Error(`The demo ended before it printed an address.\n${output}`)));
  });
}
