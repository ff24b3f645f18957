// What a world and its worker in another process say to each other, and the files that they share.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentSurroundings, RuntimeWorldOptions } from '../../src/testing/index.ts';

/** The first argument of a worker, as JSON. */
export interface WorkerOrders {
  readonly folder: string;
  readonly options: RuntimeWorldOptions;
  /** Time that was skipped before this worker started. */
  readonly skippedMs: number;
  /** Options for the worker to open its store. */
  readonly place: Readonly<Record<string, string>>;
}

/** From the world to its worker. */
export type WorkerCommand = { readonly type: 'advance'; readonly ms: number } | { readonly type: 'drain' | 'start' };

/** From a worker to its world. */
export type WorkerWord = { readonly type: 'listening' | 'ready' | 'advanced' | 'drained' };

const gateMs = 3;

/** Records and gates as files, which outlive every process. */
export function createFileScene(folder: string) {
  const [records, gates] = [join(folder, 'records.txt'), join(folder, 'gates')];
  mkdirSync(gates, { recursive: true });
  const isOpen = (gate: string): boolean => existsSync(join(gates, gate));
  const surroundings: AgentSurroundings = {
    record: (line) => appendFileSync(records, `${line}\n`),
    isOpen,
    pass: async (gate) => {
      while (!isOpen(gate)) await pause(gateMs);
    },
  };
  return {
    surroundings,
    open: (gate: string): void => writeFileSync(join(gates, gate), ''),
    // A line that a kill cut off does not count.
    read: (): readonly string[] => (existsSync(records) ? readFileSync(records, 'utf8').split('\n').slice(0, -1) : []),
  };
}
