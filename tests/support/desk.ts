import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { createDirectory } from '../../examples/partner-desk/partners.ts';
import { sourcePreload, toImport } from './source-preload.ts';

/** Code for `--import` that makes a process take its pipes for a terminal. */
export const terminalPreload = `
for (const stream of [process.stdin, process.stdout]) Object.defineProperty(stream, 'isTTY', { value: true });
process.stdout.columns = 300;
`;
const main = fileURLToPath(new URL('../../examples/partner-desk/main.ts', import.meta.url));

/** Starts the demo in a terminal, on this file; the process is killed when the test ends. */
export function startDesk(db: string, ...more: readonly string[]) {
  const args = ['--import', toImport(sourcePreload + terminalPreload), main, '--offline', '--terminal', '--db', db, ...more];
  const child = spawn(process.execPath, args, { env: { ...process.env, NO_COLOR: '1' } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'close').then(([code]) => code as number | null);
  let output = '';
  let readTo = 0;
  let look = (): void => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += data.toString();
      look();
    });
  /** Settles when it has said this since the last time. */
  const says = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      look = () => {
        const at = output.indexOf(text, readTo);
        if (at === -1) return;
        readTo = at + text.length;
        resolve();
      };
      const fail = (): void => {
        reject(new Error(`It did not say "${text}":\n${output}`));
      };
      void exit.then(fail);
      AbortSignal.timeout(15_000).addEventListener('abort', fail);
      look();
    });
  return {
    says,
    output: () => output,
    exit,
    type: (line: string) => child.stdin.write(`${line}\n`),
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
    quit: () => {
      child.stdin.write('/quit\n');
      return exit;
    },
  };
}

/** Runs the demo without a terminal, with this text piped in, and returns what it printed. */
export async function runPiped(text: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', toImport(sourcePreload), main, '--offline', ...args], { env: process.env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  child.stdin.end(text);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** The leads that the demo on this file has kept. */
export function leadsBeside(db: string): readonly number[] {
  const directory = createDirectory(`${db}.partners`);
  const leads = directory.leads().map(({ lead }) => lead);
  directory.close();
  return leads;
}
