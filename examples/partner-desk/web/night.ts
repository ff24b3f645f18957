// A night of nine hours that takes a second: a worker whose clock is slow begins a session, and the regular ones go on with it.
import type { EmbeddedRuntime } from 'stepline/sessions';
import type { Clock } from 'stepline/step-by-step';
import { systemClock } from 'stepline/step-by-step';
import { deskId } from '../desk.ts';
import { TourDesk } from '../desks.ts';

const nightMs = 9 * 60 * 60_000;

/** A clock that is nine hours slow. Durations are as long as on any other. */
export const slowClock: Clock = { ...systemClock, now: () => systemClock.now() - nightMs };

const by = { id: 'the tour', kind: 'tour' };

/** Agents whose sessions are not to run on the slow clock. */
const dayAgents = [deskId, TourDesk.Usual, TourDesk.BrokenSearch, TourDesk.OneStep];

/** Keeps all other sessions from running on the slow clock. */
export async function holdOthers(runtime: EmbeddedRuntime): Promise<void> {
  for (const agent of dayAgents) await runtime.hold({ agent }, 'The tour plays an evening.', { by });
}

/** Lets them run again. Also releases what a process left that was killed. */
export async function releaseNight(runtime: EmbeddedRuntime): Promise<void> {
  for (const hold of await runtime.holds()) if (hold.by?.id === by.id) await runtime.release(hold.id);
}
