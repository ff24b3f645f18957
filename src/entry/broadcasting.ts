export type {
  AnyEvent,
  BroadcastOptions,
  ChunkSource,
  Envelope,
  EnvelopeMapper,
  EventEnvelope,
  EventPlace,
  HeadEnvelope,
  PayloadRef,
  SessionHead,
} from '../broadcasting/index.ts';
export { BroadcastPreset, createEnvelopeMapper } from '../broadcasting/index.ts';
