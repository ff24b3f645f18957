// Events of an open step as plain data of a limited size.
import type { Json, JsonObject } from '../../lib/index.ts';
import { isPlainObject } from '../../lib/index.ts';
import { computeApprovalDigest, readAskedCall } from './approval-digest.ts';
import type { OpenStepItem } from './session-runtime.ts';
import type { OpenEvent, OpenStepPlace } from './session-runtime.ts';
import type { RawEventItem } from './open-step.ts';
import { toPlace } from './open-step.ts';

/** The most characters that a field of an event has as JSON, until its step is recorded. */
const maxFieldLength = 4096;

/** The most characters that are left of a text inside a field that is too large. */
const maxInnerLength = 500;

/** Cuts a text without splitting a character. */
function truncateText(text: string, length: number): string {
  const cut = text.slice(0, length);
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** Shortens the texts inside a value. */
function shorten(value: Json): Json {
  if (typeof value === 'string') return truncateText(value, maxInnerLength);
  if (Array.isArray(value)) return value.map(shorten);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shorten(each)]));
}

function truncateField(value: Json): Json {
  if (JSON.stringify(value).length <= maxFieldLength) return value;
  if (typeof value === 'string') return truncateText(value, maxFieldLength);
  const short = shorten(value);
  return JSON.stringify(short).length <= maxFieldLength ? short : null;
}

/** Cuts the fields of an event that are too large; returns their names. */
function truncateFields(event: JsonObject): { readonly event: JsonObject; readonly cut: readonly string[] } {
  const fields = Object.entries(event).map(([key, value]) => [key, truncateField(value)] as const);
  const cut = fields.filter(([key, value]) => value !== event[key]).map(([key]) => key);
  return { event: Object.fromEntries(fields), cut };
}

/** Makes an event plain. One that asks for an approval gets the digest that approves exactly that. */
export async function toOpenEvent(sessionId: string, item: RawEventItem): Promise<Extract<OpenStepItem, { readonly type: 'event' }>> {
  const place: OpenStepPlace = toPlace(item);
  const asked = readAskedCall(item.event);
  const text = JSON.stringify({ ...item.event, id: undefined, seq: undefined });
  // Holds: an event is data, and JSON text is read back as JSON.
  const whole = JSON.parse(text) as JsonObject;
  const { event, cut } = text.length <= maxFieldLength ? { event: whole, cut: [] } : truncateFields(whole);
  const digest = asked === undefined ? {} : { digest: await computeApprovalDigest(sessionId, { ...place, ...asked }) };
  // Holds: every event has the fields of its header, which are short.
  const plain = { ...event, ...digest } as OpenEvent;
  return { type: 'event', ...place, index: item.index, event: plain, ...(cut.length > 0 && { cut }) };
}
