// Waits of a session whose time has come.
import type { ActionRequest, Actor, ExpiryOptions, LiveSession } from '../index.ts';

/** An action that nobody has to ask for. */
export interface DueAction {
  readonly request: ActionRequest;
  readonly by: Actor;
}

const expiry: Actor = { id: 'expiry', kind: 'system' };
const outage: Actor = { id: 'outage', kind: 'system' };

/** Finds approvals that have expired, and providers that are to be tried again. */
export async function findDueActions(
  session: LiveSession,
  approvals: ExpiryOptions | undefined,
  now: number,
): Promise<readonly DueAction[]> {
  const { waitingFor } = await session.view();
  return waitingFor.flatMap((wait): readonly DueAction[] => {
    const { id: waitId, digest, expiresAt } = wait;
    if (wait.type === 'provider') return wait.nextTryAt <= now ? [{ request: { type: 'resume' }, by: outage }] : [];
    if (expiresAt === undefined || expiresAt > now) return [];
    const reason = `nobody answered in time (until ${new Date(expiresAt).toISOString()})`;
    return [
      {
        request: approvals?.whenExpired === 'approve' ? { type: 'approve', waitId, digest } : { type: 'reject', waitId, digest, reason },
        by: expiry,
      },
    ];
  });
}
