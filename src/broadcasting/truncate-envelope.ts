// Envelopes over the byte budget.
// Y1. An envelope that is cut keeps its ids and the short fields of its data, names the fields that are missing, and says where the whole is.
import type { Json, JsonObject } from '../lib/index.ts';
import { isList, present, setOwn } from '../lib/index.ts';
import type { EventEnvelope, PayloadRef } from './envelope.ts';

/** Most bytes of everything in an envelope but its data. */
const headerBytes = 900;
/** Most bytes of a field that stays when its envelope is cut. */
const shortField = 200;

/** Most bytes that a value may take as JSON, found without writing it; stops counting at the limit. */
function estimateBytes(value: Json, limit: number): number {
  if (typeof value === 'string') return value.length * 6 + 2;
  if (typeof value !== 'object' || value === null) return 24;
  let bytes = 2;
  if (isList(value)) {
    for (let place = 0; place < value.length && bytes <= limit; place += 1) bytes += 1 + estimateBytes(value[place] ?? null, limit);
    return bytes;
  }
  // By keys, not entries: this is done for every envelope.
  const keys = Object.keys(value);
  for (let place = 0; place < keys.length && bytes <= limit; place += 1) {
    const key = keys[place] ?? '';
    bytes += key.length * 6 + 4 + estimateBytes(value[key] ?? null, limit);
  }
  return bytes;
}

const encoder = new TextEncoder();
const measure = (value: Json): number => encoder.encode(JSON.stringify(value)).length;

function keepShortFields(data: JsonObject, room: number): { readonly kept: JsonObject; readonly cut: readonly string[] } {
  const kept: Record<string, Json> = {};
  const cut: string[] = [];
  let left = room;
  for (const [key, value] of Object.entries(data)) {
    const bytes = measure({ [key]: value });
    if (bytes <= shortField && bytes <= left) {
      setOwn(kept, key, value);
      left -= bytes;
    } else if (cut.length < 20) cut.push(key.slice(0, 64));
  }
  return { kept, cut };
}

/** Cuts an envelope that is over the byte budget; returns any other as it is. */
export function truncateEnvelope(envelope: EventEnvelope, maxBytes: number): EventEnvelope {
  const room = maxBytes - headerBytes;
  const { data, session_id, seq, part } = envelope;
  if (estimateBytes(data, room) <= room) return envelope;
  const bytes = measure(data);
  // Holds: an envelope is JSON.
  if (measure(envelope as unknown as JsonObject) <= maxBytes) return envelope;
  const ref: PayloadRef = { session_id, ...(seq !== undefined && { seq }), part, path: '/data' };
  const { kept, cut } = keepShortFields(data, Math.max(0, room - 2_000));
  return { ...envelope, data: present({ ...kept, cut, ref, bytes }) };
}
