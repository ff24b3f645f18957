// Workers and clients of two builds, which take turns on one database.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from '../figures.ts';
import type { Database } from '../processes/orders.ts';
import { runProcesses } from '../processes/run.ts';
import { checkFields, watchFields } from './check-fields.ts';
import { createBuilds } from './create-builds.ts';

export interface BuildOptions {
  readonly store: Database['type'];
  readonly sessions: number;
  readonly steps: number;
  readonly kills: number;
  readonly seed: number;
  readonly onProgress?: (line: string) => void;
}

/** Runs everything, and returns the figures that must hold. */
export async function runBuilds(options: BuildOptions): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-builds-'));
  try {
    return await runProcesses({
      ...options,
      builds: createBuilds(folder),
      freezes: 0,
      restarts: 0,
      cuts: 0,
      watch: async (database) => {
        const { most, stop } = await watchFields(database);
        return async (facts) => {
          await stop();
          return checkFields({ ...facts, sessions: options.sessions, most });
        };
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
