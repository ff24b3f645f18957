// The route that lets a page listen to the channel of a session on another server.
// V1. Whoever may follow the events of a session over HTTP may listen to its channel, and nobody else.
import { describeValue, InvalidArgumentError } from '../../../lib/index.ts';
import type { JsonObject } from '../../../lib/index.ts';
import { NotFoundError } from '../errors/not-found-error.ts';
import { readBody, readForm } from '../read-body.ts';

/** Says which sessions channels belong to, and signs that a page may listen. */
export interface ChannelSigner {
  /** Returns the session of a channel; undefined if it is not the channel of one. */
  findSession(channel: string): string | undefined;
  /** Returns the answer for a page that may listen. */
  sign(request: { readonly socketId: string; readonly channel: string }): Promise<JsonObject>;
}

/** Path of the route. */
export const channelPath = '/channels/auth';

/** A page that asks to listen to the channel of a session. */
export interface ChannelQuestion {
  readonly socketId: string;
  readonly channel: string;
  readonly sessionId: string;
}

const maxBytes = 4_000;

/** Reads who asks for which channel, from JSON or from a form: clients of the Pusher protocol send forms. */
export async function readChannelQuestion(request: Request, signer: ChannelSigner): Promise<ChannelQuestion> {
  const isForm = (request.headers.get('content-type') ?? '').startsWith('application/x-www-form-urlencoded');
  const { socket_id: socketId, channel_name: channel } = isForm ? await readForm(request, maxBytes) : await readBody(request, maxBytes);
  // The parts of what is signed are joined with colons.
  if (typeof socketId !== 'string' || !/^\d+\.\d+$/.test(socketId))
    throw new InvalidArgumentError(`socket_id must be two numbers with a dot between them, not ${describeValue(socketId)}.`);
  const sessionId = typeof channel === 'string' ? signer.findSession(channel) : undefined;
  if (typeof channel !== 'string' || sessionId === undefined) throw new NotFoundError('channel of that name');
  return { socketId, channel, sessionId };
}
