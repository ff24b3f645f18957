// One thing to do after a run has ended.
import type { LimitKind } from '../../continuation/index.ts';
import { ContinuationDecision, ContinuationEvaluation, getNextAction, StopReason } from '../../continuation/index.ts';
import { getAdvice, isErrorType } from '../../errors/index.ts';
import type { EventView } from './event-view.ts';

/** Fields of the limits that come with the package, and their kind. */
const limitFields: Readonly<Record<string, LimitKind>> = {
  maxSteps: 'steps',
  maxTokens: 'tokens',
  elapsedSeconds: 'wall',
  cumulativeSeconds: 'active',
  maxUsd: 'cost',
};

const isStopReason = (value: string | undefined): value is StopReason => Object.values<string | undefined>(StopReason).includes(value);

/** Advises on the last failure of a run that failed. */
function adviseOnFailure(view: EventView, stopReason: StopReason): string | undefined {
  const failure = view.list('errors').at(-1);
  const code = failure?.optionalName('code');
  if (failure === undefined || code === undefined) return undefined;
  const type = failure.name('type');
  const retryable = failure.fields['retryable'] !== false;
  return getAdvice({ code, type: isErrorType(type) ? type : 'unknown', retryable, retried: stopReason === StopReason.RetryLimitReached });
}

/** Returns what to do about the end of a run; undefined if there is nothing to do. The advice is that of an explanation. */
export function toNextAction(view: EventView): string | undefined {
  const [stopReason, criterion = 'ContinuationCriteria'] = [view.optionalName('stopReason'), view.optionalName('resolvedBy')];
  if (!isStopReason(stopReason) || view.name('status') === 'completed' || view.name('status') === 'waiting') return undefined;
  const context = view.object('context') ?? {};
  const field = Object.keys(limitFields).find((name) => context[name] !== undefined);
  const decision = ContinuationDecision.ForbidContinuation;
  const limit = field === undefined ? undefined : limitFields[field];
  const evaluation = new ContinuationEvaluation({ criterion, decision, stopReason, limit, context });
  const advice = view.name('status') === 'failed' ? adviseOnFailure(view, stopReason) : undefined;
  return advice ?? getNextAction({ decision, shouldContinue: false, resolvedBy: criterion, stopReason, evaluations: [evaluation] });
}
