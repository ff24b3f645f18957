// What an event says to programs outside: a table by its type, and a general form for all others.
import { setOwn } from '../../lib/index.ts';
import type { Json } from '../../lib/index.ts';
import type { EnvelopePart } from '../envelope.ts';
import type { EventView } from './event-view.ts';
import type { PartMapper, PartPlace } from './part-mapper.ts';
import { peopleMappers } from './people-parts.ts';
import { runMappers } from './run-parts.ts';
import { streamMappers } from './stream-parts.ts';
import { toolMappers } from './tool-parts.ts';

const mappers = new Map([runMappers, toolMappers, streamMappers, peopleMappers].flatMap((table) => Object.entries<PartMapper>(table)));

/** Fields that the envelope itself has. */
const headerNames = new Set([
  ...['type', 'id', 'seq', 'at', 'agentId', 'agentName', 'parentAgentId', 'executionId', 'sessionId'],
  ...['orchestrator', 'participant'],
]);

/** Names that mean something else, if an event of the host has the same type. */
const ownNames = new Set(['status', 'message', 'retry', 'model_fallback', 'continuation', 'error', 'head']);

const toSnakeCase = (type: string): string =>
  type
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .replace(/^_|_$/g, '')
    .toLowerCase();

/** Names an event that has no name of its own: `agent.` and its type. */
export function toEnvelopeName(type: string): string {
  const name = toSnakeCase(type) || 'unnamed';
  return `agent.${ownNames.has(name) ? `custom_${name}` : name}`;
}

/** Turns any event into an envelope with all of its fields, redacted. */
function toGeneral(view: EventView): readonly EnvelopePart[] {
  const fields: Record<string, Json> = {};
  for (const key of Object.keys(view.fields)) {
    const value = headerNames.has(key) ? undefined : view.plain(key);
    if (value !== undefined) setOwn(fields, key, value);
  }
  // Redacted with their names: under some, any text is a secret.
  const redacted = view.settings.redactor.value(fields);
  const data: Record<string, Json> = {};
  for (const [key, value] of Object.entries(redacted ?? {})) setOwn(data, toSnakeCase(key) || key, value);
  return [{ event: toEnvelopeName(view.name('type')), data }];
}

/** Returns the parts of an event's envelopes; none if the preset leaves it out. */
export function toParts(view: EventView, place: PartPlace): readonly EnvelopePart[] {
  const mapper = mappers.get(view.name('type'));
  return mapper?.(view, place) ?? (view.settings.includesAll ? toGeneral(view) : []);
}
