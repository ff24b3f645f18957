// Shared by the scripts: the repository's folder, and running a command.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a command, in the repository unless told otherwise, and returns its output and how long it took.
 * @type {(command: string, args: readonly string[], options?: { readonly timeoutMs?: number, readonly cwd?: string }) => Promise<{ readonly ok: boolean, readonly output: string, readonly seconds: string }>} */
export function run(command, args, { timeoutMs = 0, cwd = root } = {}) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    let output = '';
    const keep = (/** @type {Buffer} */ chunk) => (output += chunk.toString());
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal !== null) output += `\nEnded by ${signal}.\n`;
      resolve({ ok: code === 0, output, seconds: `${((performance.now() - startedAt) / 1000).toFixed(1)} s` });
    });
  });
}
