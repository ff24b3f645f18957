// The end of a turn: what it leaves to later turns.
// Owns:     when the session is given to a worker again.
// Does not: know Restate, or what happened in the turn.
// E1. A session that needs attention at some time has a wake-up pending for that time, or for an earlier one. Workers' clocks may differ.
// E2. Nothing that a turn has recorded stays unreported, whichever attempt ends it.
// E3. A turn that could not do its work is tried again, each time after a longer delay. However many turns fail, one wake-up is pending.
import type { TurnInput } from './protocol.ts';
import type { SessionImage } from './session-image.ts';

export interface TurnEnd {
  /** True if another turn has to continue at once. */
  readonly goesOn: boolean;
  /** Delay until the session has to be checked again, and the time from which it was computed. */
  readonly wake?: { readonly inMs: number; readonly at: number };
  /** Number of turns in a row that could not do their work, this one included. */
  readonly failedTurns?: number;
  /** Set if mails were not applied that another worker may be able to apply. */
  readonly keepsMails?: boolean;
  /** Delay after which a fresh invocation does the same turn: this one has had too many attempts. */
  readonly repeatInMs?: number;
  /** Set if the desk has not confirmed the reports of this turn: the server keeps them for it. */
  readonly reportsLate?: boolean;
}

type ImageFacts = Pick<SessionImage, 'header' | 'wakeAt' | 'taken' | 'failedTurns' | 'keepsMails' | 'hasUnreported'>;

interface TurnFacts {
  readonly now: number;
  readonly input: TurnInput;
  /** True if this worker could not do the work: another one may, or this one later. */
  readonly hasFailed?: boolean;
  readonly keepsMails?: boolean;
  /** True if mails were not applied because the turn had to end. */
  readonly leavesMails?: boolean;
}

const firstRetryMs = 1000;
const longestRetryMs = 60_000;

/** Delay before a turn is tried again that could not do its work. */
const toRetryMs = (failedTurns: number): number => Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(10, failedTurns - 1));

/** True if the wake-up that was scheduled last has come. Its own turn says so, whatever this worker's clock shows. */
const hasCome = (wakeAt: number | undefined, { now, input }: TurnFacts): boolean =>
  wakeAt !== undefined && (wakeAt === input.wakeAt || wakeAt <= now);

/** True if there is nothing to do in this turn. */
function isOver({ header, wakeAt, taken, keepsMails }: ImageFacts, turn: TurnFacts): boolean {
  const { mails = [] } = turn.input;
  const areTaken = mails.every(({ num }) => taken.includes(num));
  const isAwake = hasCome(wakeAt, turn) && (header?.wakeAt !== undefined || keepsMails);
  const continues = mails.length === 0 && turn.input.wakeAt === undefined && keepsMails;
  return areTaken && header?.isOpen !== true && !isAwake && !continues;
}

/** Computes what the end of a turn leaves to others. */
export function planEnd(image: ImageFacts, turn: TurnFacts): TurnEnd {
  const { header, wakeAt } = image;
  const { now, hasFailed = false, keepsMails = false, leavesMails = false } = turn;
  const pendingAt = hasCome(wakeAt, turn) ? undefined : wakeAt;
  // Another worker takes them at once.
  if (leavesMails && !keepsMails) return { goesOn: true, keepsMails: true };
  if (hasFailed) {
    const failedTurns = pendingAt === undefined || image.failedTurns === 0 ? image.failedTurns + 1 : image.failedTurns;
    const at = now + toRetryMs(failedTurns);
    const isPending = pendingAt !== undefined && pendingAt <= at;
    return { goesOn: false, failedTurns, ...(keepsMails && { keepsMails }), ...(!isPending && { wake: { inMs: at - now, at } }) };
  }
  if (header?.isOpen === true) return { goesOn: true };
  const at = header?.wakeAt;
  return { goesOn: false, ...(at !== undefined && at !== pendingAt && { wake: { inMs: Math.max(0, at - now), at } }) };
}

/** Facts that stay true if a turn does nothing. Changes of an earlier attempt may not have been reported. */
const carryOver = ({ failedTurns, keepsMails, hasUnreported }: ImageFacts): Partial<TurnEnd> => ({
  ...(failedTurns > 0 && { failedTurns }),
  ...(keepsMails && { keepsMails }),
  ...(hasUnreported && { reportsLate: true }),
});

/** Attempts at one turn after which a fresh invocation does it: each of them adds to the journal. */
const maxAttempts = 10;

const repeatMs = 1000;

/** Computes the end of a turn that is not run, because there is nothing to do or too many attempts have failed; undefined if it is run. */
export function planSkip(image: ImageFacts, turn: TurnFacts, attempts: number): TurnEnd | undefined {
  if (isOver(image, turn)) return { ...planEnd(image, turn), ...carryOver(image) };
  return attempts >= maxAttempts ? { goesOn: false, repeatInMs: repeatMs, ...carryOver(image) } : undefined;
}
