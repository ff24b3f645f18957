import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './figures.ts';
import { info, wrongOnes } from './figures.ts';

/** Works in a folder of its own. The folder is removed afterwards, and kept for inspection if something failed. */
export async function withFolder(work: (folder: string) => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-chaos-'));
  let figures: readonly Figure[];
  try {
    figures = await work(folder);
  } catch (error) {
    throw new Error(`The chaos run failed; its files are in ${folder}.`, { cause: error });
  }
  if (wrongOnes(figures).length > 0) return [...figures, info('its files', folder)];
  rmSync(folder, { recursive: true, force: true });
  return figures;
}
