// A worker that others take for gone, and that is not: stopped for longer than the silence, or without its signs of life for as long.
// Z1. Once another has freed its sessions, nothing is stored that it writes with the leases from before.
// Z2. It begins nothing more outside with them: what it does then was begun before, and its end is unknown to the session.
// Z3. It joins again, and works on beside the other; whoever waits for a session in it is told the right end.
import { readLog } from './check-log.ts';
import { check } from './check.ts';
import { startWorker } from './child.ts';
import type { Figure } from './figures.ts';
import { atLeast, none } from './figures.ts';
import type { Leases, Orders, Place } from './orders.ts';
import { readSeen } from './records.ts';
import { withFolder } from './with-folder.ts';

/** One such worker, and the work that it shares. */
export interface ZombieScene {
  readonly name: string;
  readonly sessions: number;
  readonly steps: number;
  /** Place at which it is stopped. If absent, it goes on, without its signs of life. */
  readonly place?: Place;
  /** Duration of a model call, and of a `once` call. */
  readonly callMs?: number;
  /** Writes that the store must refuse at least. */
  readonly refused: number;
}

const silenceMs = 1500;

// Short steps catch what is written after the head has moved; steps longer than the silence catch what only a fence refuses.
const [short, long] = [
  { sessions: 100, steps: 20 },
  { sessions: 60, steps: 5, callMs: 2000 },
];

/** The scenes: before and after an effect, before a step is recorded, and without any stop. */
export const zombieScenes: readonly ZombieScene[] = [
  { ...short, name: 'stopped before an effect', place: 'before-effect', refused: 0 },
  { ...short, name: 'stopped after an effect', place: 'after-effect', refused: 0 },
  { ...short, name: 'stopped before a step is recorded', place: 'commit-asked', refused: 1 },
  { ...long, name: 'stopped before a step of four seconds is recorded', place: 'commit-asked', refused: 1 },
  { ...long, name: 'not heard of, in steps of four seconds', refused: 20 },
];

// Long enough to be stopped while it is held. It is held outside every transaction: one that it had open would keep the file locked.
const heldMs = 3000;
const muteMs = 10_000;

/** Entries behind those that stood when the second worker freed all sessions, and that nobody has written with a later fence. */
function findStaleEntries(folder: string, freed: Leases): readonly string[] {
  const toName = ({ session, n }: { readonly session: string; readonly n: number }): string => `${session}: entry ${n}`;
  const valid = new Set(
    readSeen(folder)
      .entries.filter(({ session, fence }) => fence >= (freed[session]?.fence ?? 0))
      .map(toName),
  );
  const all = [...readLog(folder).entries.values()].flat();
  return all
    .filter(({ session, n }) => n > (freed[session]?.head ?? 0))
    .map(toName)
    .filter((name) => !valid.has(name));
}

// A worker that has lost a session drops the results of what it had started there.
const expectedCodes: readonly string[] = ['lease-lost', 'late-result'];

/** One worker falls silent, another takes its sessions, and the first one comes back in the middle of that. */
export async function runZombie({ sessions, steps, place, callMs, refused }: ZombieScene): Promise<readonly Figure[]> {
  return withFolder(async (folder) => {
    const orders: Orders = { folder, sessions, steps, silenceMs, atOnce: sessions, everyMs: 5, ...(callMs !== undefined && { callMs }) };
    const total = sessions * steps;
    const from = total / 4;
    const first = startWorker({
      ...orders,
      ...(place === undefined ? { mute: { from, ms: muteMs } } : { hold: { place, from, passes: 3, ms: heldMs } }),
    });
    const firstEnd = first.hear(({ type }) => type === 'done');
    await first.hear(({ type }) => type === 'held' || type === 'mute');
    if (place !== undefined) first.signal('SIGSTOP');
    const second = startWorker(orders);
    const secondEnd = second.hear(({ type }) => type === 'done');
    if (place !== undefined) {
      await second.hear(({ type }) => type === 'freed');
      // It has begun with some of them.
      await second.hear(({ type }) => type === 'progress');
      first.signal('SIGCONT');
    }
    await Promise.all([firstEnd, secondEnd]);
    await Promise.all([first.gone, second.gone]);
    const lost = readSeen(folder).refused.filter(({ pid, code }) => pid === first.pid && code === 'lease-lost');
    const others = [...first.problems, ...second.problems].filter(({ code }) => !expectedCodes.includes(code));
    return [
      atLeast('sessions that the second worker freed the first time', Object.keys(second.freed ?? {}).length, 1),
      atLeast('writes of the first worker that were refused', lost.length, refused),
      none('entries in the log that were written with leases from before', findStaleEntries(folder, second.freed ?? {})),
      none(
        'other problems that workers told of',
        others.map(({ code, where, message }) => `${code}, ${where}: ${message}`),
      ),
      ...(await check(folder, { sessions, steps })),
    ];
  });
}
