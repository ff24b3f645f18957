// Decisions of people about an execution that waits or runs.
// D1. Every decision returns a new execution; one that does not fit throws and changes nothing.
import { ContinuationOutcome, toStopEvaluation } from '../continuation/index.ts';
import { cleanText, InvalidArgumentError, isRecord } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import type { Execution } from './execution.ts';
import { getAwaitedGrants, hasEnded, getLastOutcome, getStopReason, withResult } from './execution.ts';
import type { Grant } from './grant.ts';
import { parseGrant } from './grant.ts';
import type { Step } from './step.ts';
import { addCost } from './step.ts';
import { StepResult } from './step-result.ts';
import type { PendingStep, ProviderWait, Wait } from './waiting.ts';
import { parseValue, getOpenWaits, withAnswer } from './waiting.ts';

/** Returns the waits that need an answer before an execution can continue. */
export function getWaits(execution: Execution): readonly Wait[] {
  const { crashLoop, results } = execution;
  // Nothing else can be answered until it is known whether the step may be resumed.
  if (crashLoop !== undefined) return [{ type: 'person', id: `crash-loop/${results.length + 1}`, reason: 'crash-loop', ...crashLoop }];
  if (execution.pendingStep !== undefined) return getOpenWaits(execution.pendingStep);
  return [...new Set(getAwaitedGrants(execution))].map((limit) => ({ type: 'grant', id: `grant/${limit}`, limit }));
}

/** True if the execution waits for a grant with this id. */
export const isWaitingGrant = (execution: Execution, id: string): boolean =>
  execution.pendingStep === undefined && getWaits(execution).some((wait) => wait.type === 'grant' && wait.id === id);

function refuseGrant(execution: Execution, id: string): void {
  if (isWaitingGrant(execution, id))
    throw new InvalidArgumentError(`"${id}" waits for a grant; settle it with grant(amounts) or reject(id, reason).`);
}

export function approveWait<S extends Step>(execution: Execution<S>, id: string, options: { readonly args?: unknown }): Execution<S> {
  refuseGrant(execution, id);
  const { pendingStep } = execution;
  // Arguments passed in the wrong place would be lost, and the call would run unchanged.
  const isWaiting = pendingStep?.waits.some((wait) => wait.id === id) === true;
  const isRight = !isWaiting || (isRecord(options) && Object.keys(options).every((name) => name === 'args'));
  if (!isRight) throw new InvalidArgumentError('approve(id, { args }) takes the edited arguments under "args", and nothing else.');
  const edited = options.args === undefined ? {} : { args: parseValue(options.args, 'The edited arguments') };
  return { ...execution, pendingStep: withAnswer(pendingStep, { type: 'approved', id, ...edited }) };
}

export function rejectWait<S extends Step>(execution: Execution<S>, id: string, reason: string): Execution<S> {
  if (typeof reason !== 'string') throw new InvalidArgumentError(`The reason of reject(id, reason) must be text, not ${typeof reason}.`);
  const kept = cleanText(reason);
  if (isWaitingGrant(execution, id)) return { ...execution, grantRefused: kept };
  return { ...execution, pendingStep: withAnswer(execution.pendingStep, { type: 'rejected', id, reason: kept }) };
}

export function answerWait<S extends Step>(execution: Execution<S>, id: string, value: unknown): Execution<S> {
  refuseGrant(execution, id);
  return { ...execution, pendingStep: withAnswer(execution.pendingStep, { type: 'answered', id, value: parseValue(value, 'The answer') }) };
}

export function addGrant<S extends Step>(execution: Execution<S>, amounts: Grant): Execution<S> {
  const grant = parseGrant(amounts);
  if (hasEnded(execution)) {
    throw new InvalidArgumentError(
      `This execution has ended (${getStopReason(execution) ?? 'completed'}); a grant raises limits of one that waits or runs. Open a new one with a message.`,
    );
  }
  // With a grant in time, no summary is needed.
  const waited = getAwaitedGrants(execution).length > 0 || getLastOutcome(execution)?.isFinalizing === true;
  // Time spent waiting for a grant does not count.
  const regranted = waited && execution.pendingStep === undefined ? { regranted: true, wallStartedAt: undefined } : {};
  return { ...execution, grants: [...(execution.grants ?? []), grant], ...regranted };
}

/** Returns the wait for a provider that is down, if the execution has one. */
export const getProviderWait = (execution: Execution): ProviderWait | undefined =>
  getWaits(execution).find((wait) => wait.type === 'provider');

/** Drops the attempt that waits for a provider, so that its step is taken again. What the attempt has cost stays counted. */
export function retryProvider<S extends Step>(execution: Execution<S>): Execution<S> {
  const { pendingStep } = execution;
  const wait = getProviderWait(execution);
  if (pendingStep === undefined || wait === undefined)
    throw new InvalidArgumentError('retryNow() is for an execution that waits for a provider, and this one does not. Look at waitingFor.');
  const { since, tries } = wait;
  const { usage, cost } = pendingStep.partial;
  const spanMs = Math.max(execution.outage?.spanMs ?? 0, pendingStep.parkedAt - since);
  return {
    ...execution,
    pendingStep: undefined,
    usage: Usage.add(execution.usage, usage),
    cost: addCost(execution.cost, cost),
    outage: { since, tries, spanMs },
  };
}

/** Ends an execution that waits between two steps, at a person's request. */
export function endAtLimit<S extends Step>(execution: Execution<S>, reason: string): Execution<S> {
  const startOutcome = ContinuationOutcome.fromEvaluations([toStopEvaluation({ by: 'request', reason })]);
  return { ...execution, startOutcome, regranted: undefined, crashLoop: undefined };
}

/** Records a closed step and ends the execution for this reason. */
export function recordClosedStep<S extends Step>(
  execution: Execution<S>,
  { pending, step, reason }: { readonly pending: PendingStep<S>; readonly step: S; readonly reason: string },
): Execution<S> {
  const { number, startedAt, parkedAt, activeMs, waitedMs } = pending;
  const stop = toStopEvaluation({ by: 'request', reason });
  const outcome = ContinuationOutcome.fromEvaluations([stop, ...(pending.evaluations ?? [])]);
  const result = new StepResult({ number, step, outcome, timing: { startedAt, endedAt: parkedAt, activeMs, waitedMs } });
  const usage = Usage.add(execution.usage, step.usage);
  return withResult({ ...execution, pendingStep: undefined, queued: undefined, usage, cost: addCost(execution.cost, step.cost) }, result);
}
