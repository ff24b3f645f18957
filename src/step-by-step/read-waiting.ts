import { LimitKind } from '../continuation/index.ts';
import { assertNever, readObject } from '../lib/index.ts';
import type { Answer, Wait } from './waiting.ts';

/** Reads a stored wait. */
export function readWait(input: unknown, path: string): Wait {
  const data = readObject(input, path);
  const type = data.oneOf('type', ['approval', 'client-tool', 'unknown-call', 'person', 'grant']);
  const text = data.optionalString('problem');
  const agent = data.optionalString('agent');
  const common = { id: data.string('id'), ...(text !== undefined && { problem: text }), ...(agent !== undefined && { agent }) };
  switch (type) {
    case 'approval':
    case 'client-tool':
    case 'unknown-call':
      return { type, ...common, toolName: data.string('toolName'), args: data.json('args') };
    case 'person': {
      const prompt = data.optionalString('prompt');
      const participant = data.optionalString('participant');
      return { type, ...common, ...(prompt !== undefined && { prompt }), ...(participant !== undefined && { participant }) };
    }
    case 'grant':
      return { type, ...common, limit: data.oneOf('limit', Object.values(LimitKind)) };
    default:
      return assertNever(type);
  }
}

/** Reads a stored answer. */
export function readAnswer(input: unknown, path: string): Answer {
  const data = readObject(input, path);
  const type = data.oneOf('type', ['approved', 'rejected', 'answered']);
  const id = data.string('id');
  switch (type) {
    case 'approved': {
      const args = data.optionalJson('args');
      return { type, id, ...(args !== undefined && { args }) };
    }
    case 'rejected':
      return { type, id, reason: data.string('reason') };
    case 'answered':
      return { type, id, value: data.json('value') };
    default:
      return assertNever(type);
  }
}
