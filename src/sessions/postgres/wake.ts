// Which workers are called when a session has mail, or is ready.
// Owns:     the choice.
// Does not: call anybody.
import { isRecord, systemRandom } from '../../lib/index.ts';
import { readRows } from './connection.ts';
import { inSchema } from './tables.ts';

/** A worker, as far as it matters for that. */
export interface JoinedWorker {
  readonly id: string;
  readonly room: number;
  /** Names of the agents that it runs. */
  readonly agents: readonly unknown[];
}

/** A session that somebody is to look at. */
export interface WakingSession {
  readonly agentName: string;
  /** Absent if nobody owns it. */
  readonly owner?: string | undefined;
  readonly last?: string | undefined;
}

/** SQL for the workers as `readWorkers` reads them. */
export const selectWorkers = (schema: string): string =>
  `(SELECT json_agg(json_build_object('id', id, 'room', room, 'body', body)) FROM ${inSchema(schema, 'workers')})`;

function readAgents(body: unknown): readonly unknown[] {
  const info: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  const agents = isRecord(info) ? info['agents'] : undefined;
  return Array.isArray(agents) ? agents : [];
}

export const readWorkers = (found: unknown): readonly JoinedWorker[] =>
  readRows(found).map(({ id, room, body }) => ({ id: String(id), room: Number(room ?? 0), agents: readAgents(body) }));

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
