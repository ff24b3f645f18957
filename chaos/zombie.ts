// A worker that stands still, is taken for dead, and wakes up.
// Z1. From the moment at which another has claimed the store, nothing that the first one does is stored.
// Z2. It begins nothing more outside either: what it does after waking was begun before, and its end is unknown to the session.
import { readLog } from './check-log.ts';
import { check } from './check.ts';
import type { Child } from './child.ts';
import { startWorker } from './child.ts';
import type { Figure } from './figures.ts';
import { exactly, none, info } from './figures.ts';
import type { Orders, Place } from './orders.ts';
import { readDeeds, readSeen } from './records.ts';
import { withFolder } from './with-folder.ts';

export interface ZombieOptions {
  readonly sessions: number;
  readonly steps: number;
  /** Place at which the first worker is held. */
  readonly place: Place;
}

/** Places to try: before and after an effect, and before a step is recorded. */
export const zombiePlaces: readonly Place[] = ['before-effect', 'after-effect', 'commit-asked'];

// Long enough to be stopped while it is held. It is held outside every transaction: one that it had open would keep the file locked.
const heldMs = 3000;

/** Entries behind those that stood when the second worker claimed the store, and that it did not write itself. */
function foreignEntries(folder: string, { pid, heads }: Child): readonly string[] {
  const toName = ({ session, n }: { readonly session: string; readonly n: number }): string => `${session}: entry ${n}`;
  const own = new Set(
    readSeen(folder)
      .entries.filter((entry) => entry.pid === pid)
      .map(toName),
  );
  const all = [...readLog(folder).entries.values()].flat();
  return all
    .filter(({ session, n }) => n > (heads[session] ?? 0))
    .map(toName)
    .filter((name) => !own.has(name));
}

const reaches = (child: Child, steps: number): Promise<unknown> => child.hear((said) => said.type === 'progress' && said.steps >= steps);

/** One worker is stopped half-way, another takes over, the first one wakes up in the middle of that. */
export async function runZombie({ sessions, steps, place }: ZombieOptions): Promise<readonly Figure[]> {
  return withFolder(async (folder) => {
    const orders: Orders = { folder, sessions, steps, atOnce: sessions, everyMs: 5 };
    const total = sessions * steps;
    const first = startWorker({ ...orders, hold: { place, from: total / 2, passes: 3, ms: heldMs } });
    await first.hear(({ type }) => type === 'held');
    first.signal('SIGSTOP');
    const second = startWorker(orders);
    const isDone = second.hear(({ type }) => type === 'done');
    await reaches(second, total * 0.6);
    const before = readDeeds(folder).length;
    const end = first.hear(({ type }) => type === 'fenced' || type === 'done');
    first.signal('SIGCONT');
    const [{ type }] = await Promise.all([end, isDone]);
    await Promise.all([first.gone, second.gone]);
    const late = readDeeds(folder)
      .slice(before)
      .filter(({ pid }) => pid === first.pid);
    const isFenced = type === 'fenced' && first.problems.some(({ code }) => code === 'store-fenced');
    // A worker that has lost the store drops the results of what it had started.
    const isExpected = (code: string): boolean => code === 'store-fenced' || code === 'late-result';
    const others = [...first.problems.filter(({ code }) => !isExpected(code)), ...second.problems];
    return [
      none('entries in the log that the first worker wrote after its time', foreignEntries(folder, second)),
      exactly('first workers that were told that their time is over', isFenced ? 1 : 0, 1),
      info('effects that it had begun and that came after it woke up', late.length),
      none(
        'other problems that workers told of',
        others.map(({ code, where, message }) => `${code}, ${where}: ${message}`),
      ),
      ...(await check(folder, { sessions, steps })),
    ];
  });
}
