export type {
  AnyEvent,
  BroadcastOptions,
  CanBroadcastAgentEvents,
  ChannelListener,
  ChunkSource,
  ConsoleLoggerOptions,
  Envelope,
  EnvelopeAdapterOptions,
  EnvelopeChannel,
  EnvelopeMapper,
  EnvelopeTransport,
  EventEnvelope,
  EventPlace,
  HeadEnvelope,
  PayloadRef,
  SessionHead,
} from '../broadcasting/index.ts';
export { AgentConsoleLogger, AgentEventEnvelopeAdapter, BroadcastPreset, createEnvelopeMapper } from '../broadcasting/index.ts';
