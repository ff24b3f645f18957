export type { EnvelopeAdapterOptions } from './agent-event-envelope-adapter.ts';
export { AgentEventEnvelopeAdapter } from './agent-event-envelope-adapter.ts';
export type { BroadcastOptions } from './broadcast-options.ts';
export { BroadcastPreset } from './broadcast-options.ts';
export type { Envelope, EventEnvelope, HeadEnvelope, PayloadRef } from './envelope.ts';
export type { AnyEvent, ChunkSource, EnvelopeMapper, EventPlace, SessionHead } from './envelope-mapper.ts';
export { createEnvelopeMapper } from './envelope-mapper.ts';
export type { CanBroadcastAgentEvents, EnvelopeTransport } from './transport.ts';
