// A provider that is down: the step that failed waits for it, and is taken again in place of being recorded.
// Owns:     whether a step may wait, and when it is taken again.
// Does not: take it again: the host does, when the time has come.
// U1. A step waits only if nothing was done in it, and only failures of a provider end the run.
// U2. It waits for at most the given time since the first failure; then it is recorded as it failed.
import { ContinuationDecision } from '../../continuation/index.ts';
import type { ErrorHandling } from '../../errors/index.ts';
import { drawWaitMs, isOutage } from '../../errors/index.ts';
import type { Random } from '../../lib/index.ts';
import { defaultRedactor, latestTime } from '../../lib/index.ts';
import type { Execution } from '../execution.ts';
import type { Judged } from './judge.ts';
import type { OutageRule } from '../run-options.ts';
import type { RunState } from '../run-state.ts';
import type { Step } from '../step.ts';
import type { ProviderWait } from '../waiting.ts';

/** Waits between tries: 30 s, 1, 2, 4, then 5 minutes, each drawn between half of it and all of it. */
const waits = { baseMs: 30_000, factor: 2, capMs: 300_000 };

/** Facts for the decision about a failed step. */
interface FailedStep<State> {
  readonly rule: OutageRule;
  readonly judged: Judged<State>;
  /** Handling of the failure that decided. */
  readonly handling: ErrorHandling;
  /** True if the step may be taken again. */
  readonly isRepeatable: (step: Step) => boolean;
  /** The wall clock, by which people read when the next try is. */
  readonly now: number;
  readonly random: Random;
}

const isProviderEnd = (cause: unknown): boolean => cause === 'retries-used-up' || cause === 'wait-too-long';

/** True if the run ends only because a provider is down. */
function endsByOutage({ judged: { candidate, outcome }, isRepeatable }: FailedStep<RunState>): boolean {
  const { judgedStep } = candidate.state.execution;
  if (judgedStep === undefined || judgedStep.interrupted !== undefined || judgedStep.finalizing === true) return false;
  const forbidding = outcome.evaluations.filter(({ decision }) => decision === ContinuationDecision.ForbidContinuation);
  const isAlone = outcome.isForbidden && forbidding.every(({ context }) => isProviderEnd(context['cause']));
  return isAlone && judgedStep.errors.length > 0 && judgedStep.errors.every(isOutage) && isRepeatable(judgedStep);
}

/** Returns the wait for a provider that is down; undefined if the step is to be recorded. Pure, except for `random` and the rule. */
export function findProviderWait<State extends RunState>(failed: FailedStep<State>): ProviderWait | undefined {
  const { rule, judged, handling, now, random } = failed;
  const { state } = judged.candidate;
  if (!isProviderEnd(handling.cause) || !endsByOutage(failed)) return undefined;
  const { outage }: Execution = state.execution;
  const since = outage?.since ?? now - (handling.context.failureSpanMs ?? 0);
  const leftMs = rule.maxMs - Math.max(0, now - since);
  const tries = (outage?.tries ?? 0) + 1;
  const askedMs = Math.max(0, ...state.errors.map(({ retryAfterMs = 0 }) => retryAfterMs));
  if (leftMs <= 0 || askedMs > leftMs) return undefined;
  const giveUpAt = Math.min(latestTime, now + leftMs);
  const nextTryAt = Math.min(giveUpAt, now + Math.max(askedMs, drawWaitMs(waits, tries, random)));
  // People read it; the step keeps the original.
  const reason = defaultRedactor.text(state.errors[0]?.message ?? '');
  return { type: 'provider', id: 'provider', reason, since, tries, nextTryAt, giveUpAt };
}
