// Approvals of what was shown whole.
// N2. A call whose arguments were not shown whole is approved only by somebody who fetched all of it.
import type { JsonObject } from '../../lib/index.ts';
import { isRecord, jsonEquals } from '../../lib/index.ts';
import type { Actor, SessionWait } from '../../sessions/index.ts';
import { HiddenArgumentsError } from './errors/hidden-arguments-error.ts';
import type { Signer } from './signer.ts';
import type { WaitViewOptions } from './wait-view.ts';
import { toShownArgs } from './wait-view.ts';

const purpose = 'stepline seen wait 1';

/** A wait that was shown to somebody. */
export interface SeenWait {
  readonly wait: SessionWait;
  readonly by: Actor;
}

/** Names the wait that a person saw. */
const toSight = ({ wait: { sessionId, id, digest }, by }: SeenWait): JsonObject => ({
  sessionId,
  waitId: id,
  digest,
  by: { id: by.id, kind: by.kind },
});

/** Returns a proof that somebody was shown all of a wait. */
export const signSight = (signer: Signer, seen: SeenWait): Promise<string> => signer.sign(purpose, toSight(seen));

/** Throws if something of a call was hidden from the person who approves it, and `proof` does not say that it was shown. */
export async function assertSeen(
  { signer, view }: { readonly signer: Signer; readonly view: WaitViewOptions },
  seen: SeenWait,
  proof: string | undefined,
): Promise<void> {
  const { wait } = seen;
  const { hidden_fields: hidden } = 'args' in wait ? toShownArgs(wait.args, view) : { hidden_fields: [] };
  if (hidden.length === 0) return;
  const sight = proof === undefined ? undefined : await signer.read(purpose, proof);
  if (!isRecord(sight) || !jsonEquals(sight, toSight(seen))) throw new HiddenArgumentsError(wait.id, hidden);
}
