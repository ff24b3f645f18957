// Sessions by their id.
import { readField } from '../../lib/index.ts';
import type { Session, SessionRuntime } from '../../sessions/index.ts';
import { UnknownSessionError } from '../../sessions/index.ts';
import type { ProblemReporter } from '../../events/index.ts';
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
  readonly report: ProblemReporter;
}

/** Returns a session. Throws for one that does not exist or cannot be read: the same as for one that the caller may not see. */
export async function getSession({ runtime, report }: FindingServices, id: string): Promise<Session> {
  try {
    return await runtime.get(id);
  } catch (error) {
    if (!sessionCodes.some((code) => code === readField(error, 'code'))) throw error;
    if (isServerError(error)) report(error, `session "${id}"`);
    throw new UnknownSessionError(id);
  }
}
