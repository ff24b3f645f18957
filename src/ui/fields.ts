// Reads fields of envelopes, whose senders may be older or newer than this reader.
import type { EventEnvelope } from '../broadcasting/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { isList, isRecord } from '../lib/index.ts';
import type { ViewAuthor } from './message.ts';

export function getText(data: JsonObject, key: string): string | undefined {
  const value = data[key];
  return typeof value === 'string' ? value : undefined;
}

export function getNumber(data: JsonObject, key: string): number | undefined {
  const value = data[key];
  return typeof value === 'number' ? value : undefined;
}

export function getObject(data: JsonObject, key: string): JsonObject | undefined {
  const value = data[key];
  return isRecord(value) ? value : undefined;
}

export function getObjects(data: JsonObject, key: string): readonly JsonObject[] {
  const value = data[key];
  // Holds: a record inside JSON is a JSON object.
  return isList(value) ? value.filter((item: Json): item is JsonObject => isRecord(item)) : [];
}

export function getTexts(data: JsonObject, key: string): readonly string[] {
  const value = data[key];
  return isList(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function getAuthor(data: JsonObject): ViewAuthor | undefined {
  const by = getObject(data, 'by');
  const [id, kind] = [by && getText(by, 'id'), by && getText(by, 'kind')];
  return id === undefined || kind === undefined ? undefined : { id, kind };
}

export const getStep = ({ data }: EventEnvelope): number | undefined => getNumber(data, 'step_number');

/** True for an agent that no other agent started. */
export const isRoot = ({ parent_agent_id }: EventEnvelope): boolean => parent_agent_id === undefined;

/** True if the data was over the byte budget of its sender. */
export const isCut = ({ data }: EventEnvelope): boolean => isRecord(data['ref']) && typeof data['bytes'] === 'number';
