// The log itself, entry by entry, against the plan and against what processes were told.
import type { LogEntry, SessionStore } from '../../src/sessions/index.ts';
import type { Figure } from '../figures.ts';
import { exactly, none, info } from '../figures.ts';
import type { Freeze } from './disturb.ts';
import type { ClientRecord, WriteRecord } from './orders.ts';
import { isGated } from './plan.ts';
import { readWrites } from './records.ts';

/** The parts of an entry's body that are checked. */
interface CheckedBody {
  readonly action?: { readonly type: string; readonly waitId?: string };
  readonly refused?: readonly { readonly entry: number }[];
}

export interface ReadLog {
  readonly session: string;
  readonly entries: readonly (LogEntry & { readonly parsed: CheckedBody; readonly seqs: readonly number[] })[];
}

// Events are stored as one list: the fields that they share, then the fields of each.
function readSeqs(events: string | undefined): readonly number[] {
  if (events === undefined) return [];
  // Holds: that is how events are stored.
  const [shared, ...own] = JSON.parse(events) as readonly { readonly seq?: number }[];
  return own.map((event) => event.seq ?? shared?.seq ?? Number.NaN);
}

async function readEntries(store: SessionStore, session: string): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const page = await store.log.entries(session, { from: all.length + 1 });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

export async function readLogs(store: SessionStore, ids: readonly string[]): Promise<readonly ReadLog[]> {
  const logs: ReadLog[] = [];
  for (const session of ids) {
    const entries = await readEntries(store, session);
    // Holds: the runtime writes JSON.
    const parse = (body: string): CheckedBody => JSON.parse(body) as CheckedBody;
    logs.push({ session, entries: entries.map((entry) => ({ ...entry, parsed: parse(entry.body), seqs: readSeqs(entry.events) })) });
  }
  return logs;
}

const isDense = (numbers: readonly number[]): boolean => numbers.every((number, index) => number === index + 1);

function hasPlannedSteps({ entries }: ReadLog, steps: number): boolean {
  const recorded = entries.filter(({ step }) => step !== undefined);
  return recorded.length === steps && recorded.every(({ execution, step }, index) => execution === 1 && step === index + 1);
}

/** Approvals that took effect, by the id of the call. */
function countApprovals({ entries }: ReadLog): ReadonlyMap<string, number> {
  const refused = new Set(entries.flatMap(({ parsed }) => parsed.refused?.map(({ entry }) => entry) ?? []));
  const counts = new Map<string, number>();
  for (const { n, parsed } of entries) {
    const { waitId } = parsed.action ?? {};
    if (waitId !== undefined && !refused.has(n)) counts.set(waitId, (counts.get(waitId) ?? 0) + 1);
  }
  return counts;
}

function findWrongApprovals(logs: readonly ReadLog[], steps: number): readonly string[] {
  return logs.flatMap((log) => {
    const counts = countApprovals(log);
    const planned = Array.from({ length: steps - 1 }, (_, index) => index + 1).filter((step) => isGated(log.session, step));
    const wrong = planned.map((step) => `sign-${step}`).filter((waitId) => counts.get(waitId) !== 1);
    const others = counts.size > planned.length ? [`${log.session}: ${counts.size} calls approved, ${planned.length} planned`] : [];
    return [...wrong.map((waitId) => `${log.session}: ${waitId} approved ${counts.get(waitId) ?? 0} times`), ...others];
  });
}

/** Accepted requests that are not in the log exactly once. */
function findLostRequests(logs: readonly ReadLog[], records: readonly ClientRecord[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { session, entries } of logs)
    for (const { requestId } of entries)
      if (requestId !== undefined) counts.set(`${session} ${requestId}`, (counts.get(`${session} ${requestId}`) ?? 0) + 1);
  const accepted = records.flatMap((line) => (line.type === 'accepted' ? [`${line.session} ${line.requestId}`] : []));
  return [...new Set(accepted)].filter((request) => counts.get(request) !== 1);
}

/** Entries that a worker was told to be safe, and that are not there as they were written. */
function findLostWrites(logs: readonly ReadLog[], writes: readonly WriteRecord[]): readonly string[] {
  const entries = new Map(logs.map(({ session, entries }) => [session, entries]));
  return writes
    .filter(({ type, session, n, step }) => {
      const entry = entries.get(session)?.[n - 1];
      return type === 'safe' && (entry === undefined || entry.step !== step);
    })
    .map(({ session, n }) => `${session}: entry ${n}`);
}

/** Writes of stopped workers that were safe after another had claimed the store, and entries since then that no later worker asked for. */
function findForeignWrites(logs: readonly ReadLog[], { folder, freezes, workers }: Omit<LogFacts, 'records'>): readonly string[] {
  return freezes.flatMap(({ frozen, next }) => {
    const isLater = ({ session, n }: { readonly session: string; readonly n: number }): boolean => n > (next.heads?.[session] ?? 0);
    const own = readWrites(folder, frozen.name).filter((write) => write.type === 'safe' && isLater(write));
    const later = workers.slice(workers.indexOf(next.child.name)).filter((name) => name !== frozen.name);
    // A worker that stood by may have a lower number than the one that it follows.
    const names = new Set([next.child.name, ...later]);
    const asked = new Set([...names].flatMap((name) => readWrites(folder, name)).map(({ session, n }) => `${session}: entry ${n}`));
    const all = logs.flatMap(({ session, entries }) => entries.map(({ n }) => ({ session, n }))).filter(isLater);
    const foreign = all.map(({ session, n }) => `${session}: entry ${n}`).filter((name) => !asked.has(name));
    return [...own.map(({ session, n }) => `${session}: entry ${n}, written by ${frozen.name}`), ...foreign];
  });
}

export interface LogFacts {
  readonly folder: string;
  readonly steps: number;
  readonly workers: readonly string[];
  readonly records: readonly ClientRecord[];
  readonly freezes: readonly Freeze[];
}

export function checkLogs(logs: readonly ReadLog[], facts: LogFacts): readonly Figure[] {
  const { folder, steps, workers, records } = facts;
  const name = (list: readonly ReadLog[]): readonly string[] => list.map(({ session }) => session);
  const recorded = logs.flatMap(({ entries }) => entries.filter(({ step }) => step !== undefined)).length;
  const approvals = logs.reduce((sum, log) => sum + [...countApprovals(log).values()].reduce((one, count) => one + count, 0), 0);
  return [
    exactly('steps in the log', recorded, logs.length * steps),
    none('sessions whose steps are not 1 to the last, once each', name(logs.filter((log) => !hasPlannedSteps(log, steps)))),
    none('sessions whose entries have a gap', name(logs.filter(({ entries }) => !isDense(entries.map(({ n }) => n))))),
    none(
      'sessions whose events have a gap or are stored twice',
      name(logs.filter(({ entries }) => !isDense(entries.flatMap(({ seqs }) => seqs)))),
    ),
    none(
      'writes lost that a worker was told to be safe',
      findLostWrites(
        logs,
        workers.flatMap((worker) => readWrites(folder, worker)),
      ),
    ),
    none('accepted requests that are not in the log exactly once', findLostRequests(logs, records)),
    none('calls that were not approved exactly once', findWrongApprovals(logs, steps)),
    info('  approvals that took effect', approvals),
    none('entries that a stopped worker wrote after it was continued', findForeignWrites(logs, facts)),
  ];
}
