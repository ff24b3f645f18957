import { decodeTurn, encodeTurn, getInnerOutcome } from '../chat/index.ts';
import { omitUndefined, present, readObject } from '../lib/index.ts';
import type { StepFieldsCodec } from '../step-by-step/index.ts';
import type { TurnChange, CollaborationStep, Fit } from './collaboration-step.ts';

/** Reads a change; the content of a write is left to the board. */
export function readChange(input: unknown, path: string): TurnChange {
  const data = readObject(input, path);
  const type = data.oneOf('type', ['write', 'approve', 'handoff']);
  if (type === 'handoff') return { type, to: data.string('to'), reason: data.string('reason') };
  const base = { artifact: data.string('artifact'), version: data.number('version') };
  return type === 'write' ? { type, ...base } : omitUndefined({ type, ...base, note: data.optionalString('note') });
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
  encode: (step) => present({ ...encodeTurn(step), changes: step.changes, fit: step.fit }),
  decode: (step, fields, innerOutcome) =>
    omitUndefined({
      ...decodeTurn(step, fields, innerOutcome),
      changes: fields.optionalArray('changes', readChange),
      fit: fields.optionalValue('fit', readFit),
    }),
  getInnerOutcome,
};
