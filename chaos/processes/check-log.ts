// The log itself, entry by entry, against the plan and against what processes were told.
import type { LogEntry, SessionStore } from '../../src/sessions/index.ts';
import type { Figure } from '../figures.ts';
import { exactly, none, info } from '../figures.ts';
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

// Events are stored as one list: what they have in common, then the fields of each.
function readSeqs(events: string | undefined): readonly number[] {
  if (events === undefined) return [];
  // Holds: that is how events are stored, and no two have the same number.
  const [, ...own] = JSON.parse(events) as readonly { readonly seq?: number }[];
  return own.map(({ seq }) => seq ?? Number.NaN);
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
    .filter(({ session, n, step }) => {
      const entry = entries.get(session)?.[n - 1];
      return entry === undefined || entry.step !== step;
    })
    .map(({ session, n }) => `${session}: entry ${n}`);
}

/** Entries that were written by a worker after a later owner of the session had written. */
function findForeignWrites(writes: readonly WriteRecord[]): readonly string[] {
  const last = new Map<string, WriteRecord>();
  return [...writes]
    .sort((one, other) => one.n - other.n)
    .flatMap((write) => {
      const { session, n, worker, fence } = write;
      const before = last.get(session) ?? write;
      last.set(session, fence >= before.fence ? write : before);
      const isForeign = fence < before.fence || (fence === before.fence && worker !== before.worker);
      return isForeign ? [`${session}: entry ${n}, written with fence ${fence} behind ${before.fence}`] : [];
    });
}

/** Compares the feed, as the store has it, with the logs. */
async function checkFeed(store: SessionStore, logs: readonly ReadLog[]): Promise<readonly Figure[]> {
  const wrong: string[] = [];
  const last = new Map<string, number>();
  const toName = (session: string, n: number): string => `${session}: entry ${n}`;
  const seen = new Set<string>();
  let after: string | undefined;
  for (let hasMore = true; hasMore;) {
    const page = await store.feed.read({ ...(after !== undefined && { after }) });
    for (const fed of page.entries) {
      if ('damage' in fed) {
        wrong.push(fed.damage);
        continue;
      }
      const { sessionId, entry } = fed;
      const name = toName(sessionId, entry.n);
      if (seen.has(name)) wrong.push(`${name} is there twice`);
      const before = last.get(sessionId) ?? 0;
      if (entry.n < before) wrong.push(`${name} comes after entry ${before}`);
      last.set(sessionId, entry.n);
      seen.add(name);
    }
    ({ cursor: after, hasMore } = page);
  }
  const stored = logs.flatMap(({ session, entries }) =>
    entries.flatMap(({ n, events }) => (events === undefined ? [] : [toName(session, n)])),
  );
  const missing = stored.filter((name) => !seen.has(name)).map((name) => `${name} is missing`);
  return [
    info('entries in the feed', seen.size),
    none('entries of the feed that are missing, doubled or out of order', [...missing, ...wrong]),
  ];
}

export interface LogFacts {
  readonly folder: string;
  readonly steps: number;
  readonly workers: readonly string[];
  readonly records: readonly ClientRecord[];
}

export async function checkLogs(
  store: SessionStore,
  logs: readonly ReadLog[],
  { folder, steps, workers, records }: LogFacts,
): Promise<readonly Figure[]> {
  const writes = workers.flatMap((worker) => readWrites(folder, worker));
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
    none('writes lost that a worker was told to be safe', findLostWrites(logs, writes)),
    none('accepted requests that are not in the log exactly once', findLostRequests(logs, records)),
    none('calls that were not approved exactly once', findWrongApprovals(logs, steps)),
    info('  approvals that took effect', approvals),
    none('entries that a worker wrote after another had owned the session', findForeignWrites(writes)),
    ...(await checkFeed(store, logs)),
  ];
}
