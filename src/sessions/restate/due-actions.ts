// Waits of a session that are due.
import type { ActionRequest, Actor, ExpiryOptions, LiveSession } from '../index.ts';

/** An action that the runtime takes by itself. */
export interface DueAction {
  readonly request: ActionRequest;
  readonly by: Actor;
}

const expiry: Actor = { id: 'expiry', kind: 'system' };
const outage: Actor = { id: 'outage', kind: 'system' };

/** Finds approvals that have expired, and providers that are due for a retry. */
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
