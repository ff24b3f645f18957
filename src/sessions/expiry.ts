// Approvals that nobody gives.
// Owns:     when an approval expires, and the timer that looks for those that have.
// Does not: settle anything itself.
import type { Clock } from '../lib/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import type { PendingStep, RunState, Wait } from '../step-by-step/index.ts';

/** How approvals are settled that nobody gives. */
export interface ExpiryOptions {
  /** How long an approval is waited for. */
  readonly expireAfterMs: number;
  /** What is decided then. @default 'reject' */
  readonly whenExpired?: 'reject' | 'approve';
}

export interface Expiry {
  readonly isOn: boolean;
  readonly whenExpired: 'reject' | 'approve';
  /** When a wait is settled without anybody; undefined where it waits for ever. */
  expiresAt(wait: Pick<Wait, 'type'>, askedAt: number): number | undefined;
  /** When somebody has to look at a session in this state. */
  wakeAt(state: RunState): number | undefined;
  /** Looks for what has expired, now and from then on. */
  start(): void;
  /** Something expires at this time. */
  watch(at: number | undefined): void;
  stop(): void;
}

/** How far ahead is looked: what expires later is found by then. */
export const lookAheadMs = 60_000;

function parseOptions(options: ExpiryOptions | undefined): ExpiryOptions | undefined {
  if (options === undefined) return undefined;
  const { expireAfterMs, whenExpired = 'reject' } = options;
  if (!(Number.isFinite(expireAfterMs) && expireAfterMs > 0))
    throw new InvalidArgumentError(`approvals.expireAfterMs must be a number greater than 0, not ${String(expireAfterMs)}.`);
  if (!['reject', 'approve'].includes(whenExpired)) throw new InvalidArgumentError('approvals.whenExpired must be "reject" or "approve".');
  return options;
}

/** When something was asked for that is still waited for. */
export const getAskedAt = ({ parkedAt, askedEarlier }: PendingStep, { id }: Pick<Wait, 'id'>): number => askedEarlier?.[id] ?? parkedAt;

/** `wake` settles what has expired, and gives the times of what expires within the time that is looked ahead. */
export function createExpiry(given: ExpiryOptions | undefined, clock: Clock, wake: () => Promise<readonly number[]>): Expiry {
  const options = parseOptions(given);
  let isRunning = false;
  let cancel: (() => void) | undefined;
  let next = Number.POSITIVE_INFINITY;

  const arm = (): void => {
    cancel?.();
    if (!isRunning) return;
    cancel = clock.schedule(Math.max(0, Math.min(lookAheadMs, next - clock.now())), look);
  };
  const watch = (at: number | undefined): void => {
    if (at === undefined || at >= next) return;
    next = at;
    arm();
  };
  function look(): void {
    next = Number.POSITIVE_INFINITY;
    wake()
      .then((times) => {
        next = Math.min(next, ...times);
      })
      .finally(arm)
      // What went wrong was told by whoever looked.
      .catch(() => undefined);
  }
  const expiresAt: Expiry['expiresAt'] = ({ type }, at) =>
    options !== undefined && type === 'approval' ? at + options.expireAfterMs : undefined;
  return {
    isOn: options !== undefined,
    whenExpired: options?.whenExpired ?? 'reject',
    expiresAt,
    wakeAt: ({ pendingStep, waitingFor }) => {
      const times = pendingStep === undefined ? [] : waitingFor.flatMap((wait) => expiresAt(wait, getAskedAt(pendingStep, wait)) ?? []);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    start: () => {
      isRunning = options !== undefined;
      next = clock.now();
      arm();
    },
    watch,
    stop: () => {
      isRunning = false;
      cancel?.();
    },
  };
}
