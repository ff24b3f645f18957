// Sessions by their id.
import { readField } from '../../lib/index.ts';
import type { Session, SessionRuntime } from '../../sessions/index.ts';
import type { ProblemReporter } from '../../events/index.ts';
import type { Gate, HttpAction } from './authorization.ts';
import { isServerError } from './json-response.ts';

/** Errors that belong to one session. Before its tenant is known, they would show that it exists. */
const sessionCodes = [
  'unknown-session',
  'session-deleted',
  'session-damaged',
  'damaged-data',
  'unknown-agent',
  'newer-schema',
  'wrong-kind',
];

/** Services that finding a session needs. */
export interface FindingServices {
  readonly runtime: Pick<SessionRuntime, 'get'>;
  readonly gate: Gate;
  readonly report: ProblemReporter;
}

/** A request for a session. */
export interface SessionRequest {
  readonly request: Request;
  readonly action: HttpAction;
  readonly id: string;
}

/** Returns a session. Throws for one that does not exist or cannot be read: the same as for one that the caller may not see. */
export async function getSession({ runtime, gate, report }: FindingServices, { request, action, id }: SessionRequest): Promise<Session> {
  try {
    return await runtime.get(id);
  } catch (error) {
    if (!sessionCodes.some((code) => code === readField(error, 'code'))) throw error;
    if (isServerError(error)) report(error, `session "${id}"`);
    return gate.refuseUnknown(request, { action, id });
  }
}
