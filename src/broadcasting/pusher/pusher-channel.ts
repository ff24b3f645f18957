// The channel of a session, over a client of the Pusher protocol.
// Owns:     one subscription, and what it says about the connection.
// Does not: connect, or decide what is done while it is down.
// P1. Only what the server has published counts. Another page on the channel could show somebody arguments that nobody asked about.
import { describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { ChannelListener, Envelope, EnvelopeChannel } from '../index.ts';
import { isUsableName, toChannelName } from './channel-name.ts';

/** A part of a channel of pusher-js. */
export interface PusherChannelLike {
  readonly subscribed: boolean;
  bind_global(callback: (event: string, data: unknown) => void): unknown;
  unbind_global(callback: (event: string, data: unknown) => void): unknown;
}

/** A part of a client of pusher-js. */
export interface PusherLike {
  readonly connection: {
    readonly state: string;
    bind(event: string, callback: () => void): unknown;
    unbind(event: string, callback: () => void): unknown;
  };
  channel(name: string): PusherChannelLike | undefined;
  subscribe(name: string): PusherChannelLike;
  unsubscribe(name: string): void;
}

/** A part of a client of laravel-echo. */
export interface EchoLike {
  readonly connector: { readonly pusher: PusherLike };
}

/** True for events of other pages: the protocol lets them send no others. */
const isOfPage = (event: string): boolean => event.startsWith('client-');

const isOwnEnvelope = (sessionId: string, data: unknown): data is Envelope =>
  isRecord(data) && typeof data['event'] === 'string' && isRecord(data['data']) && data['session_id'] === sessionId;

function listen(pusher: PusherLike, sessionId: string, listener: ChannelListener): () => void {
  const name = toChannelName(sessionId);
  // The page may use the channel for something else as well.
  const isShared = pusher.channel(name) !== undefined;
  const channel = pusher.subscribe(name);
  const onEvent = (event: string, data: unknown): void => {
    if (event === 'pusher:subscription_succeeded') listener.onUp();
    else if (event === 'pusher:subscription_error') listener.onDown();
    else if (!isOfPage(event) && isOwnEnvelope(sessionId, data)) listener.onEnvelope(data);
  };
  const onState = (): void => {
    if (pusher.connection.state !== 'connected') listener.onDown();
  };
  channel.bind_global(onEvent);
  pusher.connection.bind('state_change', onState);
  if (channel.subscribed) listener.onUp();
  return () => {
    channel.unbind_global(onEvent);
    pusher.connection.unbind('state_change', onState);
    if (!isShared) pusher.unsubscribe(name);
  };
}

/** Makes a client of pusher-js, or of laravel-echo, a channel for `createAgentView` and `useAgent`. */
export function pusherChannel(client: PusherLike | EchoLike): EnvelopeChannel {
  const pusher = 'connector' in client ? client.connector.pusher : client;
  if (typeof pusher.subscribe !== 'function')
    throw new InvalidArgumentError(`pusherChannel() needs a client of pusher-js or laravel-echo, not ${describeValue(client)}.`);
  return {
    subscribe: (sessionId, listener) => {
      if (!isUsableName(toChannelName(sessionId))) {
        listener.onDown();
        return () => undefined;
      }
      return listen(pusher, sessionId, listener);
    },
  };
}
