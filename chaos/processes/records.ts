// The records that processes leave beside the store.
import { existsSync, readFileSync } from 'node:fs';
import type { ClientRecord, WriteRecord } from './orders.ts';
import { getFiles } from './orders.ts';

/** One effect on the outside world. */
export interface WorldEffect {
  readonly pid: number;
  readonly tool: string;
  readonly key: string;
}

function readLines(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

export function readWorld(folder: string): readonly WorldEffect[] {
  return readLines(getFiles(folder).world).map((line) => {
    const [pid, tool = '', key = ''] = line.split('\t');
    return { pid: Number(pid), tool, key };
  });
}

/** Reads the record of a process. A line that a kill cut off is left out. */
function readRecord<Line>(folder: string, name: string): readonly Line[] {
  return readLines(getFiles(folder).record(name)).flatMap((line) => {
    try {
      // Holds: the process wrote these lines.
      return [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}

export const readWrites = (folder: string, name: string): readonly WriteRecord[] => readRecord(folder, name);
export const readClient = (folder: string, name: string): readonly ClientRecord[] => readRecord(folder, name);
