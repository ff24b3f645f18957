// Envelopes as events of the protocol, small enough for one request.
// F1. Text is split, and the pieces say where they belong. Everything else is cut to a reference.
// F2. Nothing over the limit is ever returned.
import type { JsonObject } from '../../lib/index.ts';
import { isList, isRecord, present } from '../../lib/index.ts';
import type { Envelope, EventEnvelope } from '../index.ts';
import { truncateEnvelope } from '../index.ts';

/** An event as it stands in a batch. */
export interface PusherEvent {
  readonly text: string;
  readonly bytes: number;
}

const encoder = new TextEncoder();
/** Longest name of an event. */
const longestName = 200;
/** Smallest budget of an envelope that is cut. */
const leastBytes = 1_000;

function toEvent(channel: string, envelope: Envelope): PusherEvent {
  const text = JSON.stringify({ channel, name: envelope.event.slice(0, longestName), data: JSON.stringify(envelope) });
  return { text, bytes: encoder.encode(text).length };
}

type TextKind = 'text' | 'reasoning';

function findText({ event, data }: EventEnvelope): { readonly kind: TextKind; readonly text: string } | undefined {
  if (event !== 'agent.stream.chunk') return undefined;
  const kind: TextKind = typeof data['reasoning'] === 'string' ? 'reasoning' : 'text';
  const text = data[kind];
  return typeof text === 'string' && text.length > 1 ? { kind, text } : undefined;
}

const isPair = (text: string, at: number): boolean => /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));

/** Splits a chunk in two. Positions count the characters that the model wrote: if some are hidden, `length` says how many it stands for. */
function splitChunk(chunk: EventEnvelope, { kind, text }: { readonly kind: TextKind; readonly text: string }): readonly EventEnvelope[] {
  const { offset, length } = chunk.data;
  const half = text.length >> 1;
  const at = isPair(text, half) ? half + 1 : half;
  const from = typeof offset === 'number' ? offset : 0;
  const whole = typeof length === 'number' ? length : text.length;
  const middle = Math.min(at, whole);
  const toPiece = (shown: string, start: number, end: number): EventEnvelope => {
    const { length: _, ...data } = chunk.data;
    return {
      ...chunk,
      data: present({ ...data, [kind]: shown, offset: from + start, length: end - start === shown.length ? undefined : end - start }),
    };
  };
  return [toPiece(text.slice(0, at), 0, middle), toPiece(text.slice(at), middle, whole)];
}

/** Cuts an envelope. One that was cut before keeps what it said about the whole. */
function truncate(envelope: EventEnvelope, maxBytes: number): EventEnvelope {
  const shorter = truncateEnvelope(envelope, maxBytes);
  const { ref, bytes, cut } = envelope.data;
  if (shorter === envelope || !isRecord(ref) || bytes === undefined) return shorter;
  const { cut: _cut, bytes: _bytes, ref: _ref, ...kept }: JsonObject = shorter.data;
  const isOwn = (name: unknown): boolean => name !== 'cut' && name !== 'bytes' && name !== 'ref';
  const names = [cut, _cut].flatMap((list) => (isList(list) ? list.filter(isOwn) : []));
  return { ...shorter, data: present({ ...kept, cut: names.slice(0, 20), ref, bytes }) };
}

/** Returns the events of an envelope, each within the limit; none if it cannot be made small enough. */
export function fitEnvelope(channel: string, envelope: Envelope, maxBytes: number): readonly PusherEvent[] {
  const whole = toEvent(channel, envelope);
  if (whole.bytes <= maxBytes) return [whole];
  if (envelope.event === 'agent.head' || !('execution_id' in envelope)) return [];
  const found = findText(envelope);
  if (found !== undefined) {
    const pieces = splitChunk(envelope, found).map((piece) => fitEnvelope(channel, piece, maxBytes));
    return pieces.some((each) => each.length === 0) ? [] : pieces.flat();
  }
  // Quotes inside a text are written with a backslash: an envelope takes more room in a request than by itself.
  for (let budget = Math.max(leastBytes, maxBytes - 500); ; budget = Math.max(leastBytes, budget >> 1)) {
    const event = toEvent(channel, truncate(envelope, budget));
    if (event.bytes <= maxBytes) return [event];
    if (budget === leastBytes) return [];
  }
}
