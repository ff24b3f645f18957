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
export function writeUsage({ total: _, ...counts }: Usage): JsonObject {
  return present(counts);
}

/** A step in its stored form, without its id, its messages and outcomes. */
export interface StoredStep {
  readonly common: JsonObject;
  readonly fields: JsonObject;
}

export function writeStep<S extends Step>(step: S, codec: StepFieldsCodec<S>): StoredStep {
  const common = present({
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
  return { common, fields: codec.encode(step) };
}

/** Values that a step is read with, besides its own data. */
export interface ReadStepOptions<S extends Step> {
  readonly step: StepFieldsCodec<S>;
  readonly refs: MessageRefs;
  readonly innerOutcome?: ContinuationOutcome | undefined;
}

export function readStep<S extends Step>(data: ObjectReader, { step: codec, refs, innerOutcome }: ReadStepOptions<S>): S {
  const step: Step = omitUndefined({
    id: data.string('id'),
    participant: data.optionalString('participant'),
    outputMessages: data.array('messages', (item, path) => refs.read(item, path)),
    usage: data.value('usage', Usage.fromJSON),
    errors: data.optionalArray('errors', readFailure) ?? [],
    interrupted: data.optionalOneOf('interrupted', Object.values(Interruption)),
    finishReason: data.optionalString('finishReason'),
    hasToolCalls: data.optionalBoolean('hasToolCalls'),
    cost: data.optionalValue('cost', readCost),
    finalizing: data.optionalBoolean('finalizing'),
    resumed: data.optionalBoolean('resumed'),
  });
  return codec.decode(step, data.object('fields'), innerOutcome);
}
