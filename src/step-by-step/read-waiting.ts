import { LimitKind } from '../continuation/index.ts';
import { assertNever, omitUndefined, readObject } from '../lib/index.ts';
import type { ApprovalScope } from '../tools/index.ts';
import type { Answer, Wait } from './waiting.ts';

function readScope(data: ReturnType<typeof readObject> | undefined): ApprovalScope | undefined {
  return (
    data && { arguments: data.oneOf('arguments', ['exact', 'any']), maxUses: data.number('maxUses'), expiresMs: data.number('expiresMs') }
  );
}

/** Reads a stored wait. */
export function readWait(input: unknown, path: string): Wait {
  const data = readObject(input, path);
  const type = data.oneOf('type', ['approval', 'client-tool', 'unknown-call', 'person', 'provider', 'grant']);
  const common = omitUndefined({
    id: data.string('id'),
    problem: data.optionalString('problem'),
    agent: data.optionalString('agent'),
  });
  switch (type) {
    case 'approval':
      return omitUndefined({
        type,
        ...common,
        toolName: data.string('toolName'),
        args: data.json('args'),
        fingerprint: data.optionalString('fingerprint'),
        reason: data.optionalString('reason'),
        approvalScope: readScope(data.optionalObject('approvalScope')),
      });
    case 'client-tool':
    case 'unknown-call':
      return omitUndefined({
        type,
        ...common,
        toolName: data.string('toolName'),
        args: data.json('args'),
        fingerprint: data.optionalString('fingerprint'),
      });
    case 'person':
      return omitUndefined({
        type,
        ...common,
        prompt: data.optionalString('prompt'),
        participant: data.optionalString('participant'),
      });
    case 'provider':
      return {
        type,
        ...common,
        reason: data.string('reason'),
        since: data.time('since'),
        tries: data.number('tries'),
        nextTryAt: data.time('nextTryAt'),
        giveUpAt: data.time('giveUpAt'),
      };
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
  const fields = omitUndefined({ id: data.string('id'), by: data.optionalString('by') });
  switch (type) {
    case 'approved':
      return omitUndefined({ type, ...fields, args: data.optionalJson('args') });
    case 'rejected':
      return { type, ...fields, reason: data.string('reason') };
    case 'answered':
      return { type, ...fields, value: data.json('value') };
    default:
      return assertNever(type);
  }
}
