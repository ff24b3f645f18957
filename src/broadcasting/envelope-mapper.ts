// Events as envelopes.
// Owns:     which envelopes an event has under a preset, and what is in them.
// Does not: keep anything between two events, know a transport, or send.
// M1. The same event with the same place gives the same envelopes, whether it was just emitted or read from a store.
// M2. Whether an event has envelopes follows from the event and the preset alone, so that any reader can find the one before.
// M3. No envelope has a stack, or a text that was not redacted.
import type { BaseEvent } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { StoredEvent } from '../sessions/index.ts';
import type { BroadcastOptions, BroadcastSettings } from './broadcast-options.ts';
import { parseBroadcastOptions } from './broadcast-options.ts';
import { truncateEnvelope } from './truncate-envelope.ts';
import type { EnvelopePart, EventEnvelope, HeadEnvelope } from './envelope.ts';
import { toSnakeCounts } from './map/counts.ts';
import type { EventFields } from './map/event-view.ts';
import { EventView } from './map/event-view.ts';
import type { TextChunk } from './map/stream-parts.ts';
import { toChunks, toVoid } from './map/stream-parts.ts';
import type { PartPlace } from './map/part-mapper.ts';
import { toParts } from './map/to-parts.ts';

/** An event of any origin: just emitted, or read from a store. */
export type AnyEvent = BaseEvent | StoredEvent;

/** Facts about an event that it does not have itself. */
export interface EventPlace extends PartPlace {
  /** @default the session id of the event; its agent's id if it has none */
  readonly sessionId?: string | undefined;
  /** Number of the last earlier event that has envelopes under this preset; 0 if there is none. @default it is not said */
  readonly prevSeq?: number | undefined;
  /** Place among the events of the attempt. */
  readonly index?: number | undefined;
  /** True if the event is not stored yet. @default false */
  readonly isProvisional?: boolean | undefined;
}

/** A piece of text, and the run that writes it. */
export interface ChunkSource extends TextChunk {
  readonly sessionId: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly orchestrator: string;
  readonly participant?: string | undefined;
  readonly parentAgentId?: string | null | undefined;
  /** Time in milliseconds since the epoch. */
  readonly at: number;
  /** True if the text belongs to a step that is not stored yet. @default false */
  readonly isProvisional?: boolean | undefined;
}

/** An attempt that is void, or the text of one of its answers. */
export type VoidSource = Omit<ChunkSource, 'kind' | 'text' | 'offset'>;

/** The newest number of a session. */
export interface SessionHead {
  readonly sessionId: string;
  readonly seq: number;
  readonly at: number;
  readonly agentId?: string | undefined;
  /** Totals of the session, for a reader that begins in the middle. */
  readonly totals?: SessionTotals | undefined;
  /** True if the reader has to drop what it has. */
  readonly isRestart?: boolean | undefined;
}

/** Totals of a session up to an event. */
export interface SessionTotals {
  /** Number of the last event that is counted. */
  readonly seq: number;
  readonly status: string;
  /** Tokens of all recorded steps; absent if there is none. */
  readonly usage?: object | undefined;
  /** The last execution; absent if none has started. */
  readonly execution?:
    { readonly id: string; readonly startedAt: number; readonly stepCount: number; readonly durationMs: number } | undefined;
}

/** Turns events into envelopes. Pure: it keeps nothing. */
export interface EnvelopeMapper {
  /** Returns the envelopes of an event, in order; none if the preset leaves it out. */
  toEnvelopes(event: AnyEvent, place?: EventPlace): readonly EventEnvelope[];
  /** Returns the chunks of a piece of text; none if the preset leaves them out. */
  toChunks(source: ChunkSource): readonly EventEnvelope[];
  /** Takes back what no stored event takes back yet: the text of an answer, or, without one, all that was sent up to the attempt. */
  toVoid(source: VoidSource): EventEnvelope;
  toHead(head: SessionHead): HeadEnvelope;
  /** True if the event has envelopes under this preset that count for `prev_seq`: pieces do not. */
  hasSeq(event: AnyEvent): boolean;
}

/** Types of events that are never stored: their number is that of the event before them. */
const pieces = new Set(['TextDelta', 'ReasoningDelta', 'ToolCallProgress']);

/** True for an event that is never stored. */
export const isPiece = ({ type }: { readonly type: string }): boolean => pieces.has(type);

const toTime = (at: number): string => new Date(Math.abs(at) <= 8.64e15 ? at : 0).toISOString();

/** Everything of an envelope but what its part says. */
type EnvelopeHeader = Omit<EventEnvelope, 'event' | 'part' | 'data'>;

function toHeader(view: EventView, place: EventPlace, timestamp: string): EnvelopeHeader {
  const parent = view.optionalName('parentAgentId');
  const participant = view.optionalName('participant');
  const agentId = view.name('agentId');
  const header: { -readonly [Key in keyof EnvelopeHeader]: EnvelopeHeader[Key] } = {
    timestamp,
    agent_id: agentId,
    session_id: place.sessionId ?? view.optionalName('sessionId') ?? agentId,
    execution_id: view.name('executionId'),
    orchestrator: view.optionalName('orchestrator') ?? 'session',
  };
  if (parent !== undefined) header.parent_agent_id = parent;
  if (participant !== undefined) header.participant = participant;
  if (place.isProvisional === true) header.provisional = true;
  else if (!pieces.has(view.name('type'))) {
    header.seq = view.number('seq');
    if (place.prevSeq !== undefined) header.prev_seq = place.prevSeq;
  }
  if (place.attempt !== undefined && (place.isProvisional === true || place.index !== undefined)) header.attempt = place.attempt;
  if (place.index !== undefined) header.index = place.index;
  return header;
}

function finish(header: EnvelopeHeader, parts: readonly EnvelopePart[], maxBytes: number): readonly EventEnvelope[] {
  const count = parts.length > 1 ? { parts: parts.length } : {};
  return parts.map(({ event, data }, place) => truncateEnvelope({ event, ...header, part: place + 1, ...count, data }, maxBytes));
}

function toTotalsData({ seq, status, usage, execution }: SessionTotals): JsonObject {
  const last = execution && {
    execution_id: execution.id,
    started_at: toTime(execution.startedAt),
    step_count: execution.stepCount,
    duration_ms: Math.round(execution.durationMs),
  };
  return { seq, status, ...(usage !== undefined && { usage: toSnakeCounts(usage) }), ...last };
}

class Mapper implements EnvelopeMapper {
  readonly #settings: BroadcastSettings;
  /** The last time that was written: events of a step often have the same. */
  #time = { at: 0, text: toTime(0) };

  constructor(settings: BroadcastSettings) {
    this.#settings = settings;
  }

  toEnvelopes(event: AnyEvent, place: EventPlace = {}): readonly EventEnvelope[] {
    const view = this.#view(event);
    const parts = toParts(view, place);
    return parts.length === 0 ? [] : finish(toHeader(view, place, this.#toTime(view.number('at'))), parts, this.#settings.maxBytes);
  }

  toChunks(source: ChunkSource): readonly EventEnvelope[] {
    const parts = toChunks(source, { settings: this.#settings });
    return parts.length === 0 ? [] : finish(this.#pieceHeader(source), parts, this.#settings.maxBytes);
  }

  toVoid(source: VoidSource): EventEnvelope {
    const { event, data } = toVoid({ scope: source.answer === undefined ? 'attempt' : 'text', ...source });
    return { event, ...this.#pieceHeader(source), part: 1, data };
  }

  toHead({ sessionId, seq, at, agentId, totals, isRestart = false }: SessionHead): HeadEnvelope {
    const agent = agentId === undefined ? {} : { agent_id: agentId };
    const restart = isRestart ? { restart: true as const } : {};
    const data = { seq, ...(totals !== undefined && { totals: toTotalsData(totals) }), ...restart };
    return { event: 'agent.head', timestamp: toTime(at), session_id: sessionId, ...agent, part: 1, data };
  }

  hasSeq(event: AnyEvent): boolean {
    return !isPiece(event) && toParts(this.#view(event), {}).length > 0;
  }

  #pieceHeader(source: VoidSource): EnvelopeHeader {
    const { sessionId, agentId, parentAgentId, executionId, orchestrator, participant, at, attempt, isProvisional } = source;
    const view = this.#view({ type: 'TextDelta', at, agentId, parentAgentId, executionId, orchestrator, participant });
    return toHeader(view, { sessionId, attempt, isProvisional }, this.#toTime(at));
  }

  #toTime(at: number): string {
    if (this.#time.at !== at) this.#time = { at, text: toTime(at) };
    return this.#time.text;
  }

  #view(event: object): EventView {
    // Holds: any object may be read as fields that are unknown.
    return new EventView(event as EventFields, this.#settings);
  }
}

/** Creates a mapper from events to envelopes. */
export function createEnvelopeMapper(options: BroadcastOptions = {}): EnvelopeMapper {
  return new Mapper(parseBroadcastOptions('createEnvelopeMapper()', options));
}
