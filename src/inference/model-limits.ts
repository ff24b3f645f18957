// Model limits
// Owns:     when a call may begin, for all calls that share a key.
// Does not: make calls, or retry them.
// G1. Never more than `concurrent` calls at once (a cancelled one gives up its place, even if the model continues), and never more than `requestsPerMinute` start within any minute.
// G2. First come, first served; who gives up leaves the line at once.
// G3. After a 429 nobody on the key begins until the cool-down is over.
// G4. No timer is left when nobody waits.
// G5. A process that shares an allowance with others keeps to its part, as it is at that moment: also those who wait already.
import type { Failure } from '../errors/index.ts';
import { classifyError, RateLimitedError } from '../errors/index.ts';
import type { Clock } from '../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, omitUndefined, systemClock } from '../lib/index.ts';
import type { ModelNotice, ModelOutcome } from './model.ts';
import { abortedFailure } from './settle-answer.ts';
import { createSlidingSum } from './sliding-sum.ts';

/** Limits of a provider, per key. Anything left out is unlimited. */
export interface ModelLimitOptions {
  /** Calls at the same time. */
  readonly concurrent?: number;
  /** Calls that begin within any 60 seconds. */
  readonly requestsPerMinute?: number;
  /** Tokens, booked as they are reported when a call ends: calls that run at the same time may overshoot. */
  readonly tokensPerMinute?: number;
  /** Wait of all calls after a 429 that names no time itself. @default 1000 */
  readonly coolDownMs?: number;
  /** Longest wait: if a provider asks for more, calls fail at once. @default 60_000 */
  readonly longestCoolDownMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** One call in the line. */
export interface Permission {
  readonly signal?: AbortSignal | undefined;
  /** Returns the number of processes that share the limits. @default 1 */
  readonly sharedBy?: (() => number) | undefined;
  /** Hears why the call waits. */
  readonly onWait: (reason: WaitReason, ms: number | undefined) => void;
}

/** Why a call waits. */
export type WaitReason = Extract<ModelNotice, { readonly type: 'waiting' }>['reason'];

/** Result of a wait. */
export interface Entry {
  /** Reason why the call may not start. If absent, it may start and must leave afterwards. */
  readonly failure?: Failure;
  /** Absent if it did not have to wait. */
  readonly waitedMs?: number;
}

/** The line of one key. */
export interface Gate {
  /** Resolves when the call may begin, or never will. */
  enter(permission: Permission): Promise<Entry>;
  /** The call has ended. */
  leave(outcome: ModelOutcome): void;
}

/** Limits that many models and runs share. */
export interface ModelLimits {
  /** The line of all who use this key. */
  gate(key: string): Gate;
}

interface Waiter {
  readonly sharedBy: () => number;
  readonly wait: (reason: WaitReason, ms?: number) => void;
  readonly settle: (failure?: Failure) => void;
}

interface Block {
  readonly reason: WaitReason;
  /** Absent if only the end of another call helps. */
  readonly until?: number;
}

/** Time between two checks whether others have left, while a call waits for its part of what they share. */
const recheckMs = 1000;

const alone = (): number => 1;

type Limits = Required<Pick<ModelLimitOptions, 'coolDownMs' | 'longestCoolDownMs' | 'clock'>> & ModelLimitOptions;

function createGate({ clock, coolDownMs, longestCoolDownMs, ...limits }: Limits): Gate {
  const { concurrent = Number.POSITIVE_INFINITY, requestsPerMinute, tokensPerMinute } = limits;
  const line = new Set<Waiter>();
  const requests = createSlidingSum(requestsPerMinute);
  const tokens = createSlidingSum(tokensPerMinute);
  let running = 0;
  let coolUntil = 0;
  let cancelTimer: (() => void) | undefined;

  const block = (now: number, sharedBy: number): Block | undefined => {
    if (now < coolUntil) return { reason: 'cool-down', until: coolUntil };
    if (running >= Math.max(1, Math.floor(concurrent / sharedBy))) return { reason: 'concurrency' };
    const requestAt = requests.freeAt(now, sharedBy);
    if (requestAt > now) return { reason: 'requests', until: requestAt };
    const tokensAt = tokens.freeAt(now, sharedBy);
    return tokensAt > now ? { reason: 'tokens', until: tokensAt } : undefined;
  };
  const begin = (waiter: Waiter, now: number): void => {
    line.delete(waiter);
    running += 1;
    requests.add(now, 1);
    waiter.settle();
  };
  const refuseAll = (retryAfterMs: number): void => {
    const message = `The provider asked to wait ${Math.ceil(retryAfterMs / 1000)} s, but calls wait at most ${Math.floor(longestCoolDownMs / 1000)} s (longestCoolDownMs).`;
    const failure = classifyError(new RateLimitedError(message, { retryAfterMs }));
    for (const waiter of [...line]) {
      line.delete(waiter);
      waiter.settle(failure);
    }
  };
  const moveOn = (): Block | undefined => {
    cancelTimer?.();
    cancelTimer = undefined;
    for (const waiter of line) {
      const now = clock.monotonic();
      const sharedBy = waiter.sharedBy();
      const held = block(now, sharedBy);
      if (held === undefined) begin(waiter, now);
      else if (held.reason === 'cool-down' && coolUntil - now > longestCoolDownMs) refuseAll(coolUntil - now);
      else {
        const nextMs = Math.min((held.until ?? Infinity) - now, sharedBy > 1 ? recheckMs : Infinity);
        if (nextMs < Infinity) cancelTimer = clock.schedule(nextMs, moveOn);
        return held;
      }
    }
    return undefined;
  };
  const coolDown = (ms: number): void => {
    const until = clock.monotonic() + ms;
    if (until <= coolUntil) return;
    coolUntil = until;
    for (const waiter of line) waiter.wait('cool-down', ms);
  };

  return {
    enter: ({ signal, sharedBy = alone, onWait }) =>
      new Promise((resolve) => {
        const cameAt = clock.monotonic();
        let hasWaited = false;
        const giveUp = (): void => {
          line.delete(waiter);
          waiter.settle(abortedFailure);
          moveOn();
        };
        const waiter: Waiter = {
          sharedBy,
          wait: (reason, ms) => {
            hasWaited = true;
            onWait(reason, ms);
          },
          settle: (failure) => {
            signal?.removeEventListener('abort', giveUp);
            resolve(omitUndefined({ failure, waitedMs: hasWaited ? clock.monotonic() - cameAt : undefined }));
          },
        };
        if (signal?.aborted === true) {
          resolve({ failure: abortedFailure });
          return;
        }
        signal?.addEventListener('abort', giveUp, { once: true });
        line.add(waiter);
        const held = moveOn();
        if (held !== undefined) waiter.wait(held.reason, held.until === undefined ? undefined : held.until - cameAt);
      }),
    leave: (outcome) => {
      running -= 1;
      tokens.add(clock.monotonic(), (outcome.ok ? outcome.response : outcome.partial).usage.total);
      if (!outcome.ok && outcome.failure.type === 'rate_limit') coolDown(outcome.failure.retryAfterMs ?? coolDownMs);
      moveOn();
    },
  };
}

const leastLimits = { concurrent: 1, requestsPerMinute: 1, tokensPerMinute: 1, coolDownMs: 0, longestCoolDownMs: 0 };

function checkLimits({ clock: _, ...limits }: ModelLimitOptions): void {
  checkKeys('the limits of a model', limits, Object.keys(leastLimits));
  for (const [key, least] of Object.entries(leastLimits)) {
    const value = new Map(Object.entries(limits)).get(key);
    if (value === undefined || value >= least) continue;
    throw new InvalidArgumentError(`${key} must be a number of ${least} or more, not ${describeValue(value)}.`);
  }
}

/** Creates limits with a queue for each key. Pass the same limits to every `withModelLimits` that shares the allowance. */
export function createModelLimits(options: ModelLimitOptions = {}): ModelLimits {
  checkLimits(options);
  const limits: Limits = { coolDownMs: 1000, longestCoolDownMs: 60_000, clock: systemClock, ...options };
  const gates = new Map<string, Gate>();
  return {
    gate: (key) => {
      const gate = gates.get(key) ?? createGate(limits);
      gates.set(key, gate);
      return gate;
    },
  };
}
