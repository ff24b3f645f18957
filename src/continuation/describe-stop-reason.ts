// Stop reasons for people. `docs/errors.md` has the same table; a test compares the two.
import type { ValueDescription } from '../lib/index.ts';
import { StopReason } from './stop-reason.ts';

/** A stop reason in words, with one thing to do about it. */
export interface StopReasonDescription extends ValueDescription {
  /** Absent if nothing has to be done. */
  readonly next?: string;
}

const descriptions: Readonly<Record<StopReason, StopReasonDescription>> = {
  completed: { label: 'Completed', sentence: 'The run completed by itself.' },
  steps_limit: {
    label: 'Step limit',
    sentence: 'The run took as many steps as its limit allows.',
    next: 'Raise limits.steps if the work needs more steps.',
  },
  token_limit: {
    label: 'Token limit',
    sentence: 'The run used as many tokens as its limit allows.',
    next: 'Raise limits.tokens if the work needs more tokens.',
  },
  time_limit: {
    label: 'Time limit',
    sentence: 'The run took as long as its time limit allows.',
    next: 'Raise the time limit (limits.wallMs or limits.activeMs) if the work needs more time.',
  },
  retry_limit: {
    label: 'Retries used up',
    sentence: 'A failure was retried as often as the error policy allows.',
    next: 'Fix the cause of the failures, then send a message to continue.',
  },
  error: {
    label: 'Failed',
    sentence: 'A failure ended the run.',
    next: 'Fix the cause of the failure, then send a message to continue.',
  },
  finish_reason: {
    label: 'Answer ended early',
    sentence: 'The model ended its answer for a reason that ends the run.',
    next: 'Change the request or the settings of the model, then send a message to continue.',
  },
  guard: {
    label: 'Stopped by a rule',
    sentence: 'A rule, a hook or the cost limit ended the run.',
    next: 'Resolve what the rule objects to, then send a message to continue.',
  },
  user_requested: {
    label: 'Stopped on request',
    sentence: 'Somebody cancelled the run, or its signal was aborted.',
    next: 'Send a message to continue.',
  },
};

/** Describes a stop reason for a page: a label, a sentence, and one thing to do. */
export const describeStopReason = (reason: StopReason): StopReasonDescription =>
  Object.hasOwn(descriptions, reason) ? descriptions[reason] : descriptions[StopReason.GuardForbade];
