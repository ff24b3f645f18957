// The time that a cold import of the built root entry point adds to the start of Node.
import { spawnSync } from 'node:child_process';
import { median } from './measure.ts';

const starts = 5;
const importing = `import ${JSON.stringify(import.meta.resolve('stepline'))};`;

function startMs(script: string): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  const tookMs = performance.now() - startedAt;
  if (status !== 0) throw new Error(`The started script failed: ${stderr}`);
  return tookMs;
}

/** Wall time of fresh processes in milliseconds, medians: one that does nothing, one that imports. They take turns. */
export function coldImport(): { readonly emptyMs: number; readonly importMs: number } {
  startMs(importing);
  const taken = Array.from({ length: starts }, () => ({ emptyMs: startMs(''), importMs: startMs(importing) }));
  return {
    emptyMs: median(taken.map(({ emptyMs }) => emptyMs)),
    importMs: median(taken.map(({ importMs }) => importMs)),
  };
}
