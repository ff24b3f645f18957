import type { Json, JsonObject, ObjectReader } from '../../lib/index.ts';
import { present, readObject } from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import { readFailure } from '../read-failure.ts';
import type { Cost, Step } from '../step.ts';
import { Interruption } from '../step.ts';
import type { MessageRefs } from './message-refs.ts';

/** How a room writes what its steps have beside the common fields. */
export interface StepFieldsCodec<S extends Step> {
  encode(step: S): JsonObject;
  decode(step: Step, fields: ObjectReader): S;
}

export const readCost = (input: unknown, path: string): Cost => {
  const data = readObject(input, path);
  const unknownCalls = data.optionalNumber('unknownCalls');
  return { usd: data.number('usd'), ...(unknownCalls !== undefined && { unknownCalls }) };
};

/** Usage as it is written: input and output where that is all there is to say. */
export function writeUsage(usage: Usage): Json {
  const { input, output, total, ...more } = usage;
  return Object.keys(more).length === 0 && total === input + output ? [input, output] : Usage.toJSON(usage);
}

export function readUsage(input: unknown, path: string): Usage {
  return Usage.fromJSON(Array.isArray(input) && input.length === 2 ? { input: input[0] as Json, output: input[1] as Json } : input, path);
}

/** A step as it is written: what all steps have, and what the room's own have beside it. */
export interface WrittenStep {
  readonly common: JsonObject;
  readonly fields: JsonObject;
}

export function writeStep<S extends Step>(step: S, codec: StepFieldsCodec<S>, refs: MessageRefs): WrittenStep {
  const common = present({
    id: step.id,
    participant: step.participant,
    messages: step.outputMessages.map((message) => refs.write(message)),
    usage: writeUsage(step.usage),
    errors: step.errors.length === 0 ? undefined : step.errors,
    interrupted: step.interrupted,
    finishReason: step.finishReason,
    hasToolCalls: step.hasToolCalls,
    cost: step.cost,
    finalizing: step.finalizing,
  });
  return { common, fields: codec.encode(step) };
}

export function readStep<S extends Step>(data: ObjectReader, codec: StepFieldsCodec<S>, refs: MessageRefs): S {
  const interrupted = data.optionalOneOf('interrupted', Object.values(Interruption));
  const finishReason = data.optionalString('finishReason');
  const participant = data.optionalString('participant');
  const hasToolCalls = data.optionalBoolean('hasToolCalls');
  const cost = data.optionalValue('cost', readCost);
  const finalizing = data.optionalBoolean('finalizing');
  const step: Step = {
    id: data.string('id'),
    ...(participant !== undefined && { participant }),
    outputMessages: data.array('messages', (item, path) => refs.read(item, path)),
    usage: data.value('usage', readUsage),
    errors: data.optionalArray('errors', readFailure) ?? [],
    ...(interrupted !== undefined && { interrupted }),
    ...(finishReason !== undefined && { finishReason }),
    ...(hasToolCalls !== undefined && { hasToolCalls }),
    ...(cost !== undefined && { cost }),
    ...(finalizing !== undefined && { finalizing }),
  };
  return codec.decode(step, data.object('fields'));
}
