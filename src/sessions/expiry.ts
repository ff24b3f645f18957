// Approvals that nobody gives.
// Owns:     when an approval expires, and the timer that looks for those that have.
// Does not: settle anything itself.
import type { Clock } from '../lib/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import type { RunState, Wait } from '../step-by-step/index.ts';

/** How approvals are settled that nobody gives. */
export interface ExpiryOptions {
  /** How long an approval is waited for. */
  readonly expireAfterMs: number;
  /** What is decided then. @default 'reject' */
  readonly whenExpired?: 'reject' | 'approve';
}

export interface Expiry {
  readonly whenExpired: 'reject' | 'approve';
  /** When a wait is settled without anybody; undefined where it waits for ever. */
  expiresAt(wait: Pick<Wait, 'type'>, parkedAt: number): number | undefined;
  /** When somebody has to look at a session in this state. */
  wakeAt(state: RunState): number | undefined;
  /** Looks for what has expired, now and from then on. */
  start(): void;
  /** A session has come to rest in this state. */
  watch(state: RunState): void;
  stop(): void;
}

/** How often the store is asked at least: other processes may have parked sessions there. */
const longestMs = 60_000;

export function createExpiry(options: ExpiryOptions | undefined, clock: Clock, wake: () => Promise<void>): Expiry {
  const { expireAfterMs, whenExpired = 'reject' } = options ?? { expireAfterMs: Number.POSITIVE_INFINITY };
  if (options !== undefined && !(Number.isFinite(expireAfterMs) && expireAfterMs > 0))
    throw new InvalidArgumentError(`approvals.expireAfterMs must be a number greater than 0, not ${String(expireAfterMs)}.`);
  if (!['reject', 'approve'].includes(whenExpired)) throw new InvalidArgumentError('approvals.whenExpired must be "reject" or "approve".');
  const isOn = options !== undefined;
  let isRunning = false;
  let cancel: (() => void) | undefined;
  let next = Number.POSITIVE_INFINITY;

  const arm = (): void => {
    cancel?.();
    if (!isRunning) return;
    cancel = clock.schedule(Math.max(0, Math.min(longestMs, next - clock.now())), () => {
      next = Number.POSITIVE_INFINITY;
      void wake().finally(arm);
    });
  };
  const expiresAt: Expiry['expiresAt'] = ({ type }, parkedAt) => (isOn && type === 'approval' ? parkedAt + expireAfterMs : undefined);
  const wakeAt = ({ pendingStep, waitingFor }: RunState): number | undefined =>
    isOn && pendingStep !== undefined && waitingFor.some(({ type }) => type === 'approval')
      ? pendingStep.parkedAt + expireAfterMs
      : undefined;
  return {
    whenExpired,
    expiresAt,
    wakeAt,
    start: () => {
      isRunning = isOn;
      next = clock.now();
      arm();
    },
    watch: (state) => {
      const at = wakeAt(state);
      if (at === undefined || at >= next) return;
      next = at;
      arm();
    },
    stop: () => {
      isRunning = false;
      cancel?.();
    },
  };
}
