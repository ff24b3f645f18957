import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Folder of the recordings, or the reason why there is none. */
export type FoundRecordings = { readonly found: true; readonly folder: string } | { readonly found: false; readonly reason: string };

/** Looks for recordings in `STEPLINE_RECORDINGS`, else beside the project in `shared/recordings`. */
export function findRecordings(projectRoot: string, named: string | undefined = process.env['STEPLINE_RECORDINGS']): FoundRecordings {
  const folder = named === undefined || named === '' ? join(projectRoot, '..', 'shared', 'recordings') : resolve(projectRoot, named);
  if (existsSync(folder)) return { found: true, folder };
  return { found: false, reason: `There are no recordings in ${folder}; set STEPLINE_RECORDINGS to the folder that holds them.` };
}

/** The files of a kind of recording, in the order of their names; none if the folder is missing. */
export function listRecordings(folder: string, kind: 'single' | 'loops'): readonly string[] {
  const inside = join(folder, kind);
  if (!existsSync(inside)) return [];
  return readdirSync(inside)
    .filter((name) => /\.(json|chunks\.txt|sse)$/.test(name))
    .sort()
    .map((name) => join(inside, name));
}
