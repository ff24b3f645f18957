import type { ContinuationOutcome } from '../../continuation/index.ts';
import type { JsonObject, ObjectReader } from '../../lib/index.ts';
import { omitUndefined, present, readObject } from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import { readFailure } from '../read-failure.ts';
import type { Cost, Step } from '../step.ts';
import { Interruption } from '../step.ts';
import type { MessageRefs } from './message-refs.ts';

/** Writes and reads the fields that one kind of step has besides the common ones. */
export interface StepFieldsCodec<S extends Step> {
  encode(step: S): JsonObject;
  decode(step: Step, fields: ObjectReader, innerOutcome?: ContinuationOutcome): S;
  /** The outcome of a run inside the step, stored like the step's own and not among the fields. */
  getInnerOutcome?(step: S): ContinuationOutcome | undefined;
}

export const readCost = (input: unknown, path: string): Cost => {
  const data = readObject(input, path);
  return omitUndefined({ usd: data.number('usd'), unknownCalls: data.optionalNumber('unknownCalls') });
};

/** Leaves out the total, which follows from the rest. */
export function writeUsage(usage: Usage): JsonObject {
  const { input, output, cacheRead, cacheWrite, reasoning, unknownCalls } = usage;
  return present({ input, output, cacheRead, cacheWrite, reasoning, unknownCalls });
}

/** A step in its stored form, without its id, its messages and outcomes. */
export interface StoredStep {
  readonly common: JsonObject;
  readonly fields: JsonObject;
}

export function writeStepCommon(step: Step): JsonObject {
  return present({
    participant: step.participant,
    usage: writeUsage(step.usage),
    errors: step.errors.length === 0 ? undefined : step.errors,
    interrupted: step.interrupted,
    finishReason: step.finishReason,
    hasToolCalls: step.hasToolCalls,
    cost: step.cost,
    finalizing: step.finalizing,
    resumed: step.resumed,
  });
}

export const writeStep = <S extends Step>(step: S, codec: StepFieldsCodec<S>): StoredStep => ({
  common: writeStepCommon(step),
  fields: codec.encode(step),
});

/** Fields of a step that many steps in a row have in common. */
export type CommonFields = Omit<Step, 'id' | 'outputMessages'>;

type Draft<Fields> = { -readonly [Key in keyof Fields]: Fields[Key] };

const interruptions = Object.values(Interruption);

/** Reads the common fields. Those that are absent are left out. */
export function readCommon(data: ObjectReader): CommonFields {
  const common: Draft<CommonFields> = {
    usage: data.value('usage', Usage.fromJSON),
    errors: data.optionalArray('errors', readFailure) ?? [],
  };
  const participant = data.optionalString('participant');
  const interrupted = data.optionalOneOf('interrupted', interruptions);
  const finishReason = data.optionalString('finishReason');
  const hasToolCalls = data.optionalBoolean('hasToolCalls');
  const cost = data.optionalValue('cost', readCost);
  const finalizing = data.optionalBoolean('finalizing');
  const resumed = data.optionalBoolean('resumed');
  if (participant !== undefined) common.participant = participant;
  if (interrupted !== undefined) common.interrupted = interrupted;
  if (finishReason !== undefined) common.finishReason = finishReason;
  if (hasToolCalls !== undefined) common.hasToolCalls = hasToolCalls;
  if (cost !== undefined) common.cost = cost;
  if (finalizing !== undefined) common.finalizing = finalizing;
  if (resumed !== undefined) common.resumed = resumed;
  return common;
}

/** Values that a step is read with, besides its own data. */
export interface ReadStepOptions<S extends Step> {
  readonly step: StepFieldsCodec<S>;
  readonly refs: MessageRefs;
  /** The common fields, if they were read already. */
  readonly common?: CommonFields | undefined;
  readonly innerOutcome?: ContinuationOutcome | undefined;
}

export function readStep<S extends Step>(data: ObjectReader, options: ReadStepOptions<S>): S {
  const { step: codec, refs, common = readCommon(data), innerOutcome } = options;
  const step: Step = {
    id: data.string('id'),
    outputMessages: data.array('messages', (item, path) => refs.read(item, path)),
    ...common,
  };
  return codec.decode(step, data.object('fields'), innerOutcome);
}
