// Tokens that open a session's events, for readers that cannot send headers.
// T1. A token counts for one session and one audience, for five minutes at most, and as often as it is used until then.
// T2. It opens events and what was cut from them, nothing else.
import type { Clock } from '../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isRecord, systemClock } from '../../lib/index.ts';
import type { Actor } from '../../sessions/index.ts';
import { InvalidTokenError } from './errors/invalid-token-error.ts';
import type { Signer } from './signer.ts';
import { createSigner } from './signer.ts';

/** Longest life of a token. */
export const maxTokenMs = 300_000;

const purpose = 'stepline channel token 1';

/** The holder of a token, and the session that it opens. */
export interface ChannelGrant {
  readonly sessionId: string;
  readonly by: Actor;
}

/** A token, and the time at which it expires. */
export interface ChannelToken {
  readonly token: string;
  readonly expiresAt: number;
}

export interface ChannelTokenOptions {
  /** Key of the signature: a random string of 32 bytes or more, the same in every process that reads the tokens. */
  readonly secret: string;
  /** Service that the tokens are for: those of another one are refused. @default 'stepline/http' */
  readonly audience?: string;
  /** Life of a token, five minutes at most. @default 300_000 */
  readonly lifeMs?: number;
  readonly clock?: Clock;
}

/** Issues and reads channel tokens. */
export interface ChannelTokens {
  issue(grant: ChannelGrant): Promise<ChannelToken>;
  /** Returns the holder of a token for this session. Rejects with `invalid-token`. */
  read(token: string, sessionId: string): Promise<Actor>;
}

type SignedOptions = Omit<ChannelTokenOptions, 'secret'> & { readonly signer: Signer };

/** Creates tokens over a signer. */
export function createSignedTokens({
  signer,
  audience = 'stepline/http',
  lifeMs = maxTokenMs,
  clock = systemClock,
}: SignedOptions): ChannelTokens {
  if (!(lifeMs > 0 && lifeMs <= maxTokenMs))
    throw new InvalidArgumentError(`A token lives ${maxTokenMs} ms at most, not ${describeValue(lifeMs)}. Readers ask for a new one.`);
  if (typeof audience !== 'string' || audience === '')
    throw new InvalidArgumentError(`The audience must be the name of a service, not ${describeValue(audience)}.`);
  return {
    issue: async ({ sessionId, by }) => {
      const expiresAt = clock.now() + lifeMs;
      return { token: await signer.sign(purpose, { sessionId, audience, by: { id: by.id, kind: by.kind }, expiresAt }), expiresAt };
    },
    read: async (token, sessionId) => {
      const found = await signer.read(purpose, token);
      if (!isRecord(found)) throw new InvalidTokenError('was not issued here');
      if (found['sessionId'] !== sessionId) throw new InvalidTokenError('belongs to another session');
      if (found['audience'] !== audience) throw new InvalidTokenError('belongs to another service');
      const now = clock.now();
      const { expiresAt } = found;
      // One that claims to live longer was issued under other rules.
      if (typeof expiresAt !== 'number' || expiresAt <= now || expiresAt > now + maxTokenMs) throw new InvalidTokenError('has expired');
      // Holds: `issue` wrote it, and the signature is right.
      return found['by'] as Actor;
    },
  };
}

/** Creates tokens that open the events of one session, for pages and services that this process authorizes itself. */
export function createChannelTokens(options: ChannelTokenOptions): ChannelTokens {
  checkKeys('createChannelTokens()', options, ['secret', 'audience', 'lifeMs', 'clock']);
  const { secret, ...rest } = options;
  if (typeof secret !== 'string') throw new InvalidArgumentError(`createChannelTokens() needs a secret, not ${describeValue(secret)}.`);
  return createSignedTokens({ ...rest, signer: createSigner(secret) });
}
