// Mails, for people. A mail that cannot be read is shown as an action of somebody.
import type { Json, Redactor } from '../../lib/index.ts';
import { omitUndefined, parseJsonText, readField } from '../../lib/index.ts';
import type { Mail } from '../../sessions/index.ts';
import { toTime } from '../render/time.ts';

function readText(value: unknown, ...path: readonly string[]): string | undefined {
  const found = path.reduce(readField, value);
  return typeof found === 'string' ? found : undefined;
}

/** Describes a mail: the action, its author and time, and the refusal if there is one. */
export function describeMail({ body, at, reply }: Mail, redactor: Redactor): string {
  const action = parseJsonText(body);
  const [type = 'action', author = 'somebody'] = [readText(action, 'request', 'type'), readText(action, 'by', 'id')];
  const refusal = reply === undefined ? undefined : (readText(parseJsonText(reply), 'message') ?? '');
  const state = refusal === undefined ? 'waits for a worker' : `refused: ${redactor.text(refusal)}`;
  return `${type} by ${author} at ${toTime(at)}, ${state}`;
}

/** Writes a mail as plain data. */
export function toMailJson({ at, requestId, body, reply }: Mail, redactor: Redactor): object {
  // Holds: what was parsed from JSON is JSON.
  const action = redactor.value((parseJsonText(body) ?? null) as Json);
  const refused = reply === undefined ? undefined : redactor.text(readText(parseJsonText(reply), 'message') ?? '');
  return omitUndefined({ at, requestId, action, refused });
}
