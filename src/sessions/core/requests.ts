// Repeated requests.
// Q1. A stored request takes effect once; repeating it returns its result.
// Q2. The same id with other content is refused.
import type { JsonObject } from '../../lib/index.ts';
import { jsonEquals, present } from '../../lib/index.ts';
import type { ActionRequest } from './action.ts';
import { ActionRefusedError } from './errors.ts';
import { readBody, readEntriesFrom } from './entries.ts';
import type { LogEntry, SessionReader } from '../store/session-store.ts';
import { fromWire } from './wire-errors.ts';

// Where it came from and when does not count, nor what the runtime has added.
const toContent = (request: ActionRequest): JsonObject =>
  present({
    ...request,
    ...{ by: undefined, at: undefined, traceparent: undefined, shown: undefined },
    ...(request.type === 'send' && { message: present({ ...request.message, id: undefined }) }),
  });

/** True if two requests ask for the same. */
export const isSameRequest = (one: ActionRequest, other: ActionRequest): boolean => jsonEquals(toContent(one), toContent(other));

/**
 * Finds the execution that the action of an entry went to; undefined if none has applied it yet. Throws if the action was refused, each time
 * the same.
 */
export async function findExecution(reader: SessionReader, sessionId: string, { n, body }: LogEntry): Promise<number | undefined> {
  const { isQueued, execution, action } = readBody(body);
  if (isQueued !== true || action?.type === 'cancel') return execution;
  const later = (await readEntriesFrom(reader, sessionId, n + 1)).map((entry) => readBody(entry.body));
  const refused = later.flatMap((each) => each.refused ?? []).find(({ entry }) => entry === n);
  if (refused !== undefined)
    throw refused.error === undefined ? new ActionRefusedError(refused.why, refused.code) : fromWire(refused.error);
  return later.find(({ applied }) => applied?.includes(n) === true)?.execution;
}
