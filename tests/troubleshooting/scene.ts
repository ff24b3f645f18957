// A fault of docs/troubleshooting.md, staged in a SQLite file as a real application leaves it behind.
import type { Orchestrator } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../src/entry/sessions.ts';
import type { FakeClock } from '../../src/entry/testing.ts';
import type { Desk } from '../faults/desk.ts';
import { ann, createDesk } from '../faults/desk.ts';
import { sqlitePlace } from '../sessions/stage.ts';

/** A store with at least one session that has the fault. */
export interface Scene {
  /** File of the store. */
  readonly path: string;
  /** Time at which somebody looks for the cause. */
  readonly now: () => number;
  /** Message of the error that the application gets, if there is one. */
  readonly error?: string;
}

/** A SQLite file, a fake clock, and processes that can end. */
export interface Shop extends Desk, Scene {
  /** Starts a process with one agent. */
  readonly run: (agent: Orchestrator, options?: Partial<SessionRuntimeOptions>) => EmbeddedRuntime;
  /** Creates a session and sends a message of ann; returns when the run has ended or waits. The clock stands still. */
  readonly ask: (runtime: EmbeddedRuntime, id: string, text: string) => Promise<void>;
}

export function createShop(): Shop {
  const place = sqlitePlace();
  const desk = createDesk(place);
  return {
    ...desk,
    path: place.path ?? '',
    now: () => desk.clock.now(),
    run: (agent, options) => desk.start([agent], options),
    ask: async (runtime, id, text) => {
      await runtime.create({ id, tenant: 'acme' }, { by: ann });
      await runtime.send(id, text, { by: ann });
    },
  };
}

/** A clock that jumps over waits before retries, at once and exactly: a store on a disk takes real time, which must not show. */
export const skipRetryWaits = (clock: FakeClock): FakeClock => ({
  ...clock,
  schedule: (ms, run, inBackground) => {
    const cancel = clock.schedule(ms, run, inBackground);
    if (ms >= 500 && ms <= 10_000) setImmediate(() => void clock.advance(ms));
    return cancel;
  },
});

/** Days in milliseconds. */
export const days = (count: number): number => count * 24 * 3_600_000;

/** A promise, and the function that resolves it. */
export function createSignal(): { readonly reached: Promise<void>; readonly reach: () => void } {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return { reached, reach: () => reach() };
}
