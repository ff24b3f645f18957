// Workers and clients of two builds on one database. In the middle, each worker is replaced by one of the other build.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from '../figures.ts';
import type { ProcessOptions } from '../processes/run.ts';
import { runProcesses } from '../processes/run.ts';
import { checkFields, watchFields } from './check-fields.ts';
import { createBuilds } from './create-builds.ts';

/** Runs everything, and returns the figures that must hold. */
export async function runBuilds(options: Omit<ProcessOptions, 'builds' | 'watch'>): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-builds-'));
  try {
    return await runProcesses({
      ...options,
      builds: createBuilds(folder),
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
