// A keeper of one child process.
// Owns:     which process there is, and when another one is started.
// Does not: know what the process does.
// K1. There is never more than one at a time: the next is started when the one before has ended.
// K2. One that ends by itself is replaced: soon at first, and later and later if its successors end soon too.
// K3. After stop() nothing is started any more; after pause(), not before resume().
// K4. The first one is not replaced if it cannot start: whoever started it decides.
import type { Clock } from 'stepline/step-by-step';
import type { Child } from './child-process.ts';
import type { ChildFailure, ChildReady, ToChild, TourRequest } from './messages.ts';

const firstDelayMs = 500;
const longestDelayMs = 10_000;
/** Time after which a process counts as one that works. */
const steadyMs = 30_000;
/** Time that a process has to end by itself. */
const graceMs = 8000;

/** Thrown if the first process cannot start. */
export class ChildFailedError extends Error {
  readonly reason: ChildFailure['reason'];

  constructor({ message, reason }: Pick<ChildFailure, 'message' | 'reason'>) {
    super(message);
    this.reason = reason;
  }
}

export interface KeeperOptions {
  /** Name in messages for people. */
  readonly name: string;
  readonly launch: () => Child;
  readonly clock: Clock;
  /** Prints a line for whoever watches. */
  readonly print: (line: string) => void;
  readonly onRequest?: (request: TourRequest) => void;
}

export interface Keeper {
  /** Starts the first process. Settles when it is ready. */
  start(): Promise<ChildReady>;
  send(message: ToChild): void;
  /** Returns the number of the process; undefined while there is none. */
  getPid(): number | undefined;
  /** Kills the process. It is replaced. */
  kill(): void;
  /** Ends the process. Settles when it is gone. */
  pause(): Promise<void>;
  /** Starts another one after a pause. */
  resume(): void;
  /** Ends the process for good. */
  stop(): Promise<void>;
}

/** Time before the next start, if this many processes in a row ended soon. */
export const getRestartDelay = (ends: number): number => Math.min(firstDelayMs * 2 ** (ends - 1), longestDelayMs);

export function createKeeper({ name, launch, clock, print, onRequest = () => undefined }: KeeperOptions): Keeper {
  let child: Child | undefined;
  let isWanted = false;
  let isStopped = false;
  let ends = 0;
  let cancelStart = (): void => undefined;

  function replace(how: string, readyAt: number | undefined): void {
    if (readyAt !== undefined && clock.monotonic() - readyAt >= steadyMs) ends = 0;
    ends += 1;
    const delayMs = getRestartDelay(ends);
    print(`The ${name} has ended (${how}). Another one starts in ${delayMs / 1000} s.`);
    cancelStart = clock.schedule(delayMs, () => void run());
  }

  /** Settles when the process is ready, or with the reason why it never was. */
  function run({ isFirst = false } = {}): Promise<ChildReady | ChildFailure> {
    const started = launch();
    let readyAt: number | undefined;
    let failure: ChildFailure | undefined;
    child = started;
    return new Promise((resolve) => {
      started.onMessage((message) => {
        if (message.type === 'ready') {
          readyAt = clock.monotonic();
          resolve(message);
        } else if (message.type === 'failed') failure = message;
        else onRequest(message);
      });
      void started.ended.then((how) => {
        child = undefined;
        resolve(failure ?? { type: 'failed', reason: 'unusable', message: `The ${name} could not start (${how}).` });
        if (isFirst && readyAt === undefined) isWanted = false;
        if (isWanted) replace(failure?.message ?? how, readyAt);
      });
    });
  }

  async function pause(): Promise<void> {
    isWanted = false;
    cancelStart();
    const ending = child;
    if (ending === undefined) return;
    ending.send({ type: 'end' });
    const cancelKill = clock.schedule(graceMs, () => ending.kill());
    await ending.ended;
    cancelKill();
  }

  return {
    start: async () => {
      isWanted = true;
      const result = await run({ isFirst: true });
      if (result.type === 'failed') throw new ChildFailedError(result);
      return result;
    },
    send: (message) => child?.send(message),
    getPid: () => child?.pid,
    kill: () => child?.kill(),
    pause,
    resume: () => {
      if (isStopped || isWanted) return;
      isWanted = true;
      // One that is still ending is replaced when it has ended.
      if (child === undefined) void run();
    },
    stop: () => {
      isStopped = true;
      return pause();
    },
  };
}
