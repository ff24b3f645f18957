import { decodeTurn, encodeTurn, getInnerOutcome } from '../chat/index.ts';
import { assertNever, omitUndefined, present, readObject } from '../lib/index.ts';
import type { StepFieldsCodec } from '../step-by-step/index.ts';
import type { Act, CollaborationStep, Fit } from './collaboration-step.ts';

function readAct(input: unknown, path: string): Act {
  const data = readObject(input, path);
  const type = data.oneOf('type', ['write', 'approve', 'handoff']);
  switch (type) {
    case 'write':
      return { type, artifact: data.string('artifact'), version: data.number('version') };
    case 'approve':
      return omitUndefined({
        type,
        artifact: data.string('artifact'),
        version: data.number('version'),
        note: data.optionalString('note'),
      });
    case 'handoff':
      return { type, to: data.string('to'), reason: data.string('reason') };
    default:
      return assertNever(type);
  }
}

function readFit(input: unknown, path: string): Fit {
  const data = readObject(input, path);
  return omitUndefined({
    artifact: data.string('artifact'),
    version: data.number('version'),
    ok: data.boolean('ok'),
    problem: data.optionalString('problem'),
    schema: data.string('schema'),
    isUnknown: data.optionalBoolean('isUnknown'),
  });
}

/** Stores the turns of a collaboration. */
export const collaborationCodec: StepFieldsCodec<CollaborationStep> = {
  encode: (step) => present({ ...encodeTurn(step), acts: step.acts, fit: step.fit }),
  decode: (step, fields, innerOutcome) =>
    omitUndefined({
      ...decodeTurn(step, fields, innerOutcome),
      acts: fields.optionalArray('acts', readAct),
      fit: fields.optionalValue('fit', readFit),
    }),
  getInnerOutcome,
};
