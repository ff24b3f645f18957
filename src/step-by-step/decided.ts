// Decisions of people about an execution that waits or runs.
// D1. Every decision returns a new execution; one that does not fit throws and changes nothing.
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationOutcome, toStopEvaluation } from '../continuation/index.ts';
import type { IdSource } from '../lib/index.ts';
import { cleanText, describeValue, InvalidArgumentError, isRecord, jsonEquals } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import type { Execution } from './execution.ts';
import { getAwaitedGrants, hasEnded, getLastOutcome, getStopReason, withResult } from './execution.ts';
import type { DecisionOptions, Grant, RecordedGrant } from './grant.ts';
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
    throw new InvalidArgumentError(`"${id}" is waiting for a grant. Answer it with grant(amounts) or reject(id, reason).`);
}

const describeOptions = (options: unknown): string =>
  isRecord(options) ? `{ ${Object.keys(options).join(', ')} }` : describeValue(options);

/** Options of an approval. */
export interface ApproveOptions extends DecisionOptions {
  /** Arguments in place of those that were asked about. */
  readonly args?: unknown;
}

const toAuthor = ({ by }: DecisionOptions): DecisionOptions => (by === undefined ? {} : { by: cleanText(by) });

export function approveWait<S extends Step>(execution: Execution<S>, id: string, options: ApproveOptions): Execution<S> {
  refuseGrant(execution, id);
  const { pendingStep } = execution;
  // Arguments passed in the wrong place would be lost, and the call would run unchanged.
  const wait = pendingStep?.waits.find((each) => each.id === id);
  if (wait !== undefined && !(isRecord(options) && Object.keys(options).every((name) => name === 'args' || name === 'by')))
    throw new InvalidArgumentError(
      `The options of approve() must be { args }, not ${describeOptions(options)}. Put edited arguments in args.`,
    );
  const args = options.args === undefined ? undefined : parseValue(options.args, 'The edited arguments');
  // What was asked for may be sent back as it is: that changes nothing.
  const isEdited = args !== undefined && !(wait !== undefined && 'args' in wait && jsonEquals(wait.args, args));
  const edited = isEdited ? { args } : {};
  return { ...execution, pendingStep: withAnswer(pendingStep, { type: 'approved', id, ...edited, ...toAuthor(options) }) };
}

/** A rejection of a wait. */
interface Rejection extends DecisionOptions {
  readonly id: string;
  readonly reason: string;
}

export function rejectWait<S extends Step>(execution: Execution<S>, { id, reason, ...options }: Rejection): Execution<S> {
  if (typeof reason !== 'string') throw new InvalidArgumentError(`The reason of reject() must be a string, not ${describeValue(reason)}.`);
  const kept = cleanText(reason);
  const author = toAuthor(options);
  if (isWaitingGrant(execution, id)) return { ...execution, grantRefused: kept, grantRefusedBy: author.by };
  return { ...execution, pendingStep: withAnswer(execution.pendingStep, { type: 'rejected', id, reason: kept, ...author }) };
}

/** An answer to a wait. */
interface GivenAnswer extends DecisionOptions {
  readonly id: string;
  readonly value: unknown;
}

export function answerWait<S extends Step>(execution: Execution<S>, { id, value, ...options }: GivenAnswer): Execution<S> {
  refuseGrant(execution, id);
  const answer = { type: 'answered' as const, id, value: parseValue(value, 'The answer'), ...toAuthor(options) };
  return { ...execution, pendingStep: withAnswer(execution.pendingStep, answer) };
}

export function addGrant<S extends Step>(execution: Execution<S>, amounts: Grant, options: DecisionOptions): Execution<S> {
  const grant: RecordedGrant = { ...parseGrant(amounts), ...toAuthor(options) };
  if (hasEnded(execution)) {
    throw new InvalidArgumentError(
      `Cannot grant more: this execution has ended (${getStopReason(execution) ?? 'completed'}). Send a message to start a new one.`,
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
    throw new InvalidArgumentError(
      'Cannot retry now: this execution is not waiting for a provider. See waitingFor for what it is waiting for.',
    );
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

/** The evaluation of a cancel. It keeps that the process ended in the open step, if that is why somebody was asked. */
function toCancelEvaluation({ crashLoop, results }: Execution, reason: string, by: string | undefined): ContinuationEvaluation {
  const stop = toStopEvaluation({ by: 'request', reason, person: by, crashes: crashLoop?.attempts });
  return crashLoop === undefined ? stop : { ...stop, context: { ...stop.context, crashedStep: results.length + 1 } };
}

/** Ends an execution that waits between two steps, at a person's request. */
export function endAtLimit<S extends Step>(execution: Execution<S>, reason: string, { by }: DecisionOptions): Execution<S> {
  const startOutcome = ContinuationOutcome.fromEvaluations([toCancelEvaluation(execution, reason, by)]);
  return { ...execution, startOutcome, regranted: undefined, crashLoop: undefined };
}

/** Records a closed step and ends the execution for this reason. */
export function recordClosedStep<S extends Step>(
  execution: Execution<S>,
  { pending, step, reason, by }: DecisionOptions & { readonly pending: PendingStep<S>; readonly step: S; readonly reason: string },
): Execution<S> {
  const { number, startedAt, parkedAt, activeMs, waitedMs } = pending;
  const stop = toCancelEvaluation(execution, reason, by);
  const outcome = ContinuationOutcome.fromEvaluations([stop, ...(pending.evaluations ?? [])]);
  const result = new StepResult(step, outcome, { number, timing: { startedAt, endedAt: parkedAt, activeMs, waitedMs } });
  const usage = Usage.add(execution.usage, step.usage);
  return withResult({ ...execution, pendingStep: undefined, queued: undefined, usage, cost: addCost(execution.cost, step.cost) }, result);
}

/** Adds the result of a step that was taken outside a run, and starts the execution if it has not started. */
export function recordResult<S extends Step>(execution: Execution<S>, result: StepResult<S>, ids: IdSource): Execution<S> {
  const { step, timing } = result;
  const next = execution.results.length + 1;
  const numbered = result.number === 0 ? new StepResult(step, result.outcome, { ...result, number: next }) : result;
  if (execution.pendingStep !== undefined)
    throw new InvalidArgumentError(
      `Step ${execution.pendingStep.number} waits for somebody. Answer it or cancel it before you record another step.`,
    );
  if (hasEnded(execution))
    throw new InvalidArgumentError('The execution has ended. Start a new one with withUserMessage() before you record a step.');
  if (numbered.number !== next)
    throw new InvalidArgumentError(
      `The result has the number ${result.number}, but the next step is step ${next}. Number the results from 1, or leave the number out.`,
    );
  return withResult(
    {
      ...execution,
      id: execution.id ?? ids(),
      startedAt: execution.startedAt ?? timing.startedAt,
      usage: Usage.add(execution.usage, step.usage),
      cost: addCost(execution.cost, step.cost),
      activeMs: execution.activeMs + timing.activeMs,
      waitedMs: execution.waitedMs + timing.waitedMs,
    },
    numbered,
  );
}
