// Decisions to continue or stop, with their numbers as meters.
import type { JsonObject } from '../lib/index.ts';
import type { Block, StoredEnvelope } from './block.ts';
import type { BlockList, BlockPage } from './block-list.ts';
import { getNumber, getObject, getObjects, getStep, getText, isRoot } from './fields.ts';
import type { ViewContinuation } from './message.ts';

/** Used part of a limit: 12 of 20 steps. */
export interface Meter {
  readonly value: number;
  readonly limit: number;
  /** `steps`, `tokens`, `seconds`, `usd`, `failures`; absent for a limit of the host's own. */
  readonly unit?: string;
}

/** One criterion's evaluation of a step. */
export interface ViewEvaluation {
  readonly criterion: string;
  /** `forbid`, `allow`, `request` or `stop`. */
  readonly decision: string;
  readonly reason: string;
  readonly stop_reason?: string;
  readonly meter?: Meter;
}

/** The decision after a step. */
export interface StepDecision extends ViewContinuation {
  readonly execution_id: string;
  readonly step_number: number;
  /** True if a process ended in this step, and another one resumed it. */
  readonly resumed?: true;
  /** Empty unless the server sends the trace of decisions. */
  readonly evaluations: readonly ViewEvaluation[];
}

/** Fields of the limits that come with the package: the value, the limit, the unit. */
const knownMeters: readonly (readonly [string, string, string])[] = [
  ['currentSteps', 'maxSteps', 'steps'],
  ['currentUsage', 'maxTokens', 'tokens'],
  ['elapsedSeconds', 'maxSeconds', 'seconds'],
  ['cumulativeSeconds', 'maxSeconds', 'seconds'],
  ['currentUsd', 'maxUsd', 'usd'],
  ['consecutiveFailures', 'maxConsecutiveFailures', 'failures'],
];

/** Reads a meter from the numbers of a criterion: its own fields, or those of a limit that comes with the package. */
export function readMeter(context: JsonObject): Meter | undefined {
  for (const [valueKey, limitKey, unit] of knownMeters) {
    const [value, limit] = [getNumber(context, valueKey), getNumber(context, limitKey)];
    if (value !== undefined && limit !== undefined) return { value, limit, unit };
  }
  const [value, limit] = [getNumber(context, 'value'), getNumber(context, 'limit')];
  return value === undefined || limit === undefined ? undefined : { value, limit };
}

function toEvaluation(data: JsonObject): ViewEvaluation {
  const meter = readMeter(getObject(data, 'context') ?? {});
  const stopReason = getText(data, 'stop_reason');
  return {
    criterion: getText(data, 'criterion') ?? '',
    decision: getText(data, 'decision') ?? '',
    reason: getText(data, 'reason') ?? '',
    ...(stopReason !== undefined && { stop_reason: stopReason }),
    ...(meter !== undefined && { meter }),
  };
}

/** Reads the summary of a decision. */
export function readContinuation(data: JsonObject): ViewContinuation | undefined {
  const shouldContinue = data['should_continue'];
  if (typeof shouldContinue !== 'boolean') return undefined;
  const [stopReason = null, resolvedBy = ''] = [getText(data, 'stop_reason'), getText(data, 'resolved_by')];
  return { should_continue: shouldContinue, stop_reason: stopReason, resolved_by: resolvedBy };
}

/** Reads the decision after a step from its envelopes; undefined before it is made. */
export function readDecision(envelopes: readonly StoredEnvelope[]): StepDecision | undefined {
  const traced = envelopes.findLast(({ event }) => event === 'agent.continuation');
  const completed = envelopes.findLast(({ event }) => event === 'agent.step.completed');
  const source = traced ?? completed;
  const data = traced?.data ?? getObject(completed?.data ?? {}, 'continuation');
  const continuation = data && readContinuation(data);
  if (source === undefined || data === undefined || continuation === undefined) return undefined;
  const evaluations = getObjects(data, 'evaluations').map(toEvaluation);
  const isResumed = envelopes.some(({ event, data: { resumed } }) => event === 'agent.step.started' && resumed === true);
  const base = { execution_id: source.execution_id, step_number: getStep(source) ?? 0, ...continuation };
  return { ...base, ...(isResumed && { resumed: true }), evaluations };
}

/** Returns the value of an object, computed once for each. */
function memoize<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const found = values.get(key) ?? { value: compute(key) };
    values.set(key, found);
    return found.value;
  };
}

const isOwnStep = ({ key, envelopes: [first] }: Block): boolean => key.startsWith('step:') && first !== undefined && isRoot(first);

const readBlock = memoize((block: Block) => (isOwnStep(block) ? readDecision(block.envelopes) : undefined));
const readPage = memoize((page: BlockPage) => page.blocks.flatMap((block) => readBlock(block) ?? []));

/** Reads the decisions after all steps of the session's own agent, oldest first. */
export const readDecisions: (list: BlockList) => readonly StepDecision[] = memoize((list) =>
  ([] as readonly StepDecision[]).concat(...list.pages.map(readPage)),
);
