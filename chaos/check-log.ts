// Reads the file itself, past the runtime and the store.
import { DatabaseSync } from 'node:sqlite';
import type { Figure } from './figures.ts';
import { exactly, none } from './figures.ts';
import { filesIn } from './orders.ts';
import { toRequestId } from './plan.ts';
import type { SafeEntry } from './records.ts';

/** An entry of the log as it stands in the file. */
export interface RawEntry {
  readonly session: string;
  readonly n: number;
  /** `execution/step`, or `-/-`. */
  readonly step: string;
  readonly request: string | undefined;
  /** The numbers of its events. */
  readonly seqs: readonly number[];
}

export interface RawLog {
  readonly entries: ReadonlyMap<string, readonly RawEntry[]>;
  readonly openEffects: number;
  /** Ids of sessions that somebody owns, or is to own. */
  readonly unfinished: readonly string[];
  readonly workers: number;
  readonly integrity: string;
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const orDash = (value: unknown): string => (typeof value === 'number' ? String(value) : '-');

// Events are stored as one array: what they share, then each of them.
function readSeqs(events: unknown): readonly number[] {
  if (typeof events !== 'string') return [];
  // Holds: it is how events are stored.
  const [shared, ...own] = JSON.parse(events) as readonly { readonly seq?: number }[];
  return own.map((event) => event.seq ?? shared?.seq ?? Number.NaN);
}

export function readLog(folder: string): RawLog {
  const database = new DatabaseSync(filesIn(folder).store, { readOnly: true });
  const rows = database
    .prepare('SELECT id, n, execution, step, request_id, events FROM log JOIN sessions ON session = num ORDER BY session, n')
    .all();
  const entries = rows.map(({ id, n, execution, step, request_id: request, events }): RawEntry => ({
    session: String(id),
    n: Number(n),
    step: `${orDash(execution)}/${orDash(step)}`,
    request: typeof request === 'string' ? request : undefined,
    seqs: readSeqs(events),
  }));
  const openEffects = Number(database.prepare('SELECT count(*) AS open FROM effects').get()?.['open']);
  const unfinished = database
    .prepare('SELECT id FROM heads JOIN sessions ON session = num WHERE heads.owner IS NOT NULL OR is_ready = 1')
    .all();
  const workers = Number(database.prepare('SELECT count(*) AS workers FROM workers').get()?.['workers']);
  const integrity = String(database.prepare('PRAGMA integrity_check').get()?.['integrity_check']);
  database.close();
  return {
    ...{ entries: groupBy(entries, ({ session }) => session), openEffects, workers, integrity },
    unfinished: unfinished.map(({ id }) => String(id)),
  };
}

const isDense = (numbers: readonly number[]): boolean => numbers.every((number, index) => number === index + 1);

function wrongSteps(entries: readonly RawEntry[], steps: number): boolean {
  const recorded = entries.filter(({ step }) => step !== '-/-').map(({ step }) => step);
  return recorded.length !== steps || recorded.some((step, index) => step !== `1/${index + 1}`);
}

/** Finds entries that were written with an earlier fence than one before them, or with that of another process. */
function findStaleEntries(safe: readonly SafeEntry[]): readonly string[] {
  return [...groupBy(safe, ({ session }) => session)].flatMap(([session, entries]) => {
    const sorted = entries.toSorted((one, other) => one.n - other.n);
    return sorted.flatMap(({ n, fence, pid }, index) => {
      const before = sorted[index - 1];
      const isStale = before !== undefined && (fence < before.fence || (fence === before.fence && pid !== before.pid));
      return isStale ? `${session}: entry ${n} with fence ${fence}, after one with ${before.fence}` : [];
    });
  });
}

/** Everything that the store said to be safe, compared with what stands there. */
export function checkLog(
  log: RawLog,
  safe: readonly SafeEntry[],
  { ids, steps }: { readonly ids: readonly string[]; readonly steps: number },
): readonly Figure[] {
  const getEntries = (session: string): readonly RawEntry[] => log.entries.get(session) ?? [];
  const lost = safe.filter(({ session, n, step }) => getEntries(session)[n - 1]?.step !== step);
  const isStep = ({ step }: SafeEntry): boolean => step !== '-/-';
  const toText = ({ session, n, step }: SafeEntry): string => `${session}: entry ${n}, step ${step}`;
  const twice = [...groupBy(safe, ({ session, n }) => `${session}: entry ${n}`)].filter(([, entries]) => entries.length > 1);
  return [
    exactly('sessions in the log', log.entries.size, ids.length),
    exactly('steps in the log', [...log.entries.values()].flat().filter(({ step }) => step !== '-/-').length, ids.length * steps),
    none('steps lost that were told to be safe', lost.filter(isStep).map(toText)),
    none('other entries lost that were told to be safe', lost.filter((entry) => !isStep(entry)).map(toText)),
    none(
      'entries told to be safe twice',
      twice.map(([entry]) => entry),
    ),
    none(
      'sessions whose steps are not 1 to the last, once each',
      ids.filter((id) => wrongSteps(getEntries(id), steps)),
    ),
    none(
      'sessions whose entries have a gap',
      ids.filter((id) => !isDense(getEntries(id).map(({ n }) => n))),
    ),
    none(
      'sessions whose events have a gap or stand twice',
      ids.filter((id) => !isDense(getEntries(id).flatMap(({ seqs }) => seqs))),
    ),
    none(
      'sessions whose request does not stand exactly once',
      ids.filter((id) => getEntries(id).filter(({ request }) => request === toRequestId(id)).length !== 1),
    ),
    none('entries written with a fence that had passed', findStaleEntries(safe)),
    none('sessions left with an owner, or for one', log.unfinished),
    exactly('workers left in the store', log.workers, 0),
    exactly('effects left open in the store', log.openEffects, 0),
    none('damage that SQLite finds', log.integrity === 'ok' ? [] : [log.integrity]),
  ];
}
