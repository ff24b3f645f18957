// Which workers are called when a session has mail, or is ready.
// Owns:     the choice.
// Does not: call anybody.
import { isRecord, systemRandom } from '../../lib/index.ts';
import type { StoredRow } from '../index.ts';
import type { WakingSession } from '../table/index.ts';
import type { Query } from './connection.ts';
import { queryJson, readRows } from './connection.ts';
import { inSchema } from './tables.ts';

/** A worker, as far as it matters for that. */
export interface JoinedWorker {
  readonly id: string;
  readonly room: number;
  /** Names of the agents that it runs. */
  readonly agents: readonly unknown[];
}

function readAgents(body: unknown): readonly unknown[] {
  const info: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  const agents = isRecord(info) ? info['agents'] : undefined;
  return Array.isArray(agents) ? agents : [];
}

export const readWorkers = (rows: readonly StoredRow[]): readonly JoinedWorker[] =>
  rows.map(({ id, room, body }) => ({ id: String(id), room: Number(room ?? 0), agents: readAgents(body) }));

export async function findWorkers(query: Query, schema: string): Promise<readonly JoinedWorker[]> {
  const text = `SELECT json_build_object('rows', (SELECT json_agg(w) FROM ${inSchema(schema, 'workers')} w))::text AS found`;
  return readWorkers(readRows((await queryJson(query, text))['rows']));
}

/**
 * Chooses workers: for each session its owner, else the worker that had it last if that has room, else any that has room and runs its
 * agent. Undefined if none is found for one of them: then anybody may look.
 */
export function chooseWorkers(sessions: readonly WakingSession[], workers: readonly JoinedWorker[]): readonly string[] | undefined {
  const free = new Map(workers.filter(({ room }) => room > 0).map((worker) => [worker.id, worker]));
  const chosen = new Set<string>();
  for (const { agentName, owner, last } of sessions) {
    const fitting = (): readonly JoinedWorker[] => [...free.values()].filter(({ agents }) => agents.includes(agentName));
    const pick = (found: readonly JoinedWorker[]): string | undefined => found[Math.floor(systemRandom() * found.length)]?.id;
    const worker = owner ?? (last !== undefined && free.has(last) ? last : pick(fitting()));
    if (worker === undefined) return undefined;
    chosen.add(worker);
  }
  return chosen.size === 0 ? undefined : [...chosen];
}
