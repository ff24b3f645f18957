import { checkKeys } from '../../lib/index.ts';
import type { BroadcastOptions, CanBroadcastAgentEvents } from '../index.ts';
import { AgentEventEnvelopeAdapter, BroadcastPreset } from '../index.ts';
import { toChannelName } from './channel-name.ts';
import type { PusherStats, PusherTransport, PusherTransportOptions } from './pusher-transport.ts';
import { createPusherTransport, transportOptionNames } from './pusher-transport.ts';

/** Options of createPusherBroadcaster(). */
export interface PusherBroadcasterOptions extends PusherTransportOptions {
  /**
   * Contents of envelopes: the same as `broadcast` of the session handler, from which pages fetch what is missing. @default what that sends by default
   */
  readonly envelopes?: BroadcastOptions;
}

/** Mirrors the events of agents and sessions to a server of the Pusher protocol, each session on its private channel. */
export interface PusherBroadcaster extends CanBroadcastAgentEvents, Pick<PusherTransport, 'flush' | 'close'> {
  /** Sends an event. Pass it on as it is: `createSessionRuntime({ onEvent: reverb.broadcast })`, or `agent.wiretap(reverb.broadcast)`. */
  readonly broadcast: AgentEventEnvelopeAdapter['broadcast'];
  readonly broadcastBatch: AgentEventEnvelopeAdapter['broadcastBatch'];
  readonly stats: PusherStats;
}

/** Budget of an envelope: quotes inside it take two bytes in a request. */
const maxBytes = 6_000;

/** Creates a broadcaster that mirrors every event it is given to Laravel Reverb, soketi or Pusher. */
export function createPusherBroadcaster(options: PusherBroadcasterOptions): PusherBroadcaster {
  checkKeys('createPusherBroadcaster()', options, [...transportOptionNames, 'envelopes']);
  const { envelopes, ...transportOptions } = options;
  const { clock, onProblem } = options;
  const transport = createPusherTransport(transportOptions);
  const adapter = new AgentEventEnvelopeAdapter(transport, {
    maxBytes,
    includeContinuationTrace: envelopes?.preset !== BroadcastPreset.Minimal,
    ...envelopes,
    channel: toChannelName,
    ...(clock !== undefined && { clock }),
    ...(onProblem !== undefined && { onProblem }),
  });
  return {
    broadcast: adapter.broadcast,
    broadcastBatch: adapter.broadcastBatch,
    get stats() {
      return transport.stats;
    },
    flush: (timeoutMs) => transport.flush(timeoutMs),
    close: (timeoutMs) => {
      adapter.close();
      return transport.close(timeoutMs);
    },
  };
}
