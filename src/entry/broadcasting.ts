export type {
  AnyEvent,
  BroadcastOptions,
  CanBroadcastAgentEvents,
  ChunkSource,
  ConsoleLoggerOptions,
  Envelope,
  EnvelopeAdapterOptions,
  EnvelopeMapper,
  EnvelopeTransport,
  EventEnvelope,
  EventPlace,
  HeadEnvelope,
  PayloadRef,
  SessionHead,
} from '../broadcasting/index.ts';
export { AgentConsoleLogger, AgentEventEnvelopeAdapter, BroadcastPreset, createEnvelopeMapper } from '../broadcasting/index.ts';
