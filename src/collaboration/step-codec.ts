import { decodeTurn, encodeTurn } from '../chat/index.ts';
import { assertNever, present, readObject } from '../lib/index.ts';
import type { StepFieldsCodec } from '../step-by-step/index.ts';
import type { Act, CollaborationStep, Fit } from './collaboration-step.ts';

function readAct(input: unknown, path: string): Act {
  const data = readObject(input, path);
  const type = data.oneOf('type', ['write', 'approve', 'handoff']);
  switch (type) {
    case 'write':
      return { type, artifact: data.string('artifact'), version: data.number('version') };
    case 'approve': {
      const note = data.optionalString('note');
      return { type, artifact: data.string('artifact'), version: data.number('version'), ...(note !== undefined && { note }) };
    }
    case 'handoff':
      return { type, to: data.string('to'), reason: data.string('reason') };
    default:
      return assertNever(type);
  }
}

function readFit(input: unknown, path: string): Fit {
  const data = readObject(input, path);
  const problem = data.optionalString('problem');
  const isUnknown = data.optionalBoolean('isUnknown');
  return {
    artifact: data.string('artifact'),
    version: data.number('version'),
    ok: data.boolean('ok'),
    ...(problem !== undefined && { problem }),
    schema: data.string('schema'),
    ...(isUnknown !== undefined && { isUnknown }),
  };
}

/** How the turns of a collaboration are stored. */
export const collaborationCodec: StepFieldsCodec<CollaborationStep> = {
  encode: (step) => present({ ...encodeTurn(step), acts: step.acts, fit: step.fit }),
  decode: (step, fields) => {
    const acts = fields.optionalArray('acts', readAct);
    const fit = fields.optionalValue('fit', readFit);
    return { ...decodeTurn(step, fields), ...(acts !== undefined && { acts }), ...(fit !== undefined && { fit }) };
  },
};
