// The side of Stepline: pages act for their users, and Laravel may read who owns a session.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { SessionHandlerOptions } from 'stepline/http';

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Reads the user of a page from the token that your Laravel has given it. */
export type ReadUser = (token: string) => Promise<string | undefined>;

/** Creates the login of createSessionHandler(). The token of the service opens the facts of sessions, and nothing else. */
export function createLogin(serviceToken: string, readUser: ReadUser): Pick<SessionHandlerOptions, 'authenticate' | 'authorize'> {
  const expected = hash(serviceToken);
  return {
    authenticate: async (request) => {
      const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
      if (timingSafeEqual(hash(token), expected)) return { id: 'laravel', kind: 'service' };
      const user = await readUser(token);
      return user === undefined ? undefined : { id: user, kind: 'user' };
    },
    authorize: ({ by, action, session }) => {
      if (by.kind === 'service') return action === 'facts';
      if (session !== undefined && session.owner !== by.id) return false;
      return { scope: { owner: by.id } };
    },
  };
}
