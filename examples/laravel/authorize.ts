// The side of Stepline: pages act for their users, and Laravel may read who owns a session.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Authorize } from 'stepline/http';

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Reads the user of a page from the token that your Laravel has given it. */
export type ReadUser = (token: string) => Promise<string | undefined>;

/** Creates the authorization of createSessionHandler(). The token of the service opens the facts of sessions, and nothing else. */
export function createAuthorize(serviceToken: string, readUser: ReadUser): Authorize {
  const expected = hash(serviceToken);
  return async ({ request, action, session }) => {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
    if (action === 'facts' && timingSafeEqual(hash(token), expected)) return { by: { id: 'laravel', kind: 'service' } };
    const user = await readUser(token);
    if (user === undefined) return { refused: 'unauthenticated' };
    if (session !== undefined && session.owner !== user) return undefined;
    return { by: { id: user, kind: 'user' }, scope: { owner: user } };
  };
}
