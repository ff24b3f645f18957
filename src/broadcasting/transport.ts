import type { BaseEvent } from '../events/index.ts';
import type { Envelope } from './envelope.ts';

/** Receives events of agents for programs outside. */
export interface CanBroadcastAgentEvents {
  broadcast(event: BaseEvent): void;
  broadcastBatch(events: readonly BaseEvent[]): void;
}

/** Carries envelopes to those who listen: a message broker, a socket, a server's own list of readers. */
export interface EnvelopeTransport {
  /** Sends envelopes of one channel, in their order. A promise is not awaited; if it rejects, that is reported. */
  send(channel: string, envelopes: readonly Envelope[]): unknown;
  /**
   * Returns false if nobody listens to a channel: then no envelope is built for it. If it throws, that is reported and the envelopes are
   * sent. @default somebody listens to every channel
   */
  isListening?(channel: string): boolean;
}

/** Receives what happens on the channel of a session. */
export interface ChannelListener {
  /** The channel delivers from now on. Called each time it is back. */
  onUp(): void;
  /** It is out of reach, or was refused. */
  onDown(): void;
  onEnvelope(envelope: Envelope): void;
}

/** Way to listen to envelopes that a transport has sent: the client of a message broker, for example. */
export interface EnvelopeChannel {
  /** Listens to a session; returns its unsubscribe. */
  subscribe(sessionId: string, listener: ChannelListener): () => void;
}
