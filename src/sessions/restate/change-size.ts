import { countBytes } from '../../lib/index.ts';
import type { LogEntry } from '../index.ts';
import type { TurnChange } from './protocol.ts';

/** Longest text that is counted by encoding it, which is much faster than a loop. */
const maxEncoded = 16 * 1024;

const encoder = /* @__PURE__ */ new TextEncoder();
const encoded = /* @__PURE__ */ new Uint8Array(3 * maxEncoded);

const measureText = (text = ''): number => (text.length <= maxEncoded ? encoder.encodeInto(text, encoded).written : countBytes(text));

/** Estimates the size of entries in bytes; nothing but their texts can be large. */
export const measureEntries = (entries: readonly Partial<Pick<LogEntry, 'body' | 'events'>>[]): number =>
  entries.reduce((sum, { body, events }) => sum + measureText(body) + measureText(events), 0);

/** Estimates the size of a change in bytes. */
export function measureChange(change: TurnChange): number {
  if (change.type === 'answer') return measureText(change.reply);
  if (change.type === 'delete') return 0;
  const effects = change.type === 'write' ? (change.effects ?? []) : [];
  return measureText(change.header?.details) + measureEntries(change.entries ?? []) + measureEntries(effects);
}

/** Cuts a list into parts of at most this size, in their order. What is larger is a part of its own. */
export function cutBySize<Item>(items: readonly Item[], maxSize: number, measure: (item: Item) => number): readonly (readonly Item[])[] {
  const parts: Item[][] = [];
  let size = Infinity;
  for (const item of items) {
    const added = measure(item);
    if (size + added > maxSize) [size] = [0, parts.push([])];
    parts.at(-1)?.push(item);
    size += added;
  }
  return parts;
}
