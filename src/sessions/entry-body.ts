// The body of an entry of the log.
// B1. An entry holds an action, a change of the state, or both.
import type { JsonObject } from '../lib/index.ts';
import { omitUndefined, readObject } from '../lib/index.ts';
import type { Action, RecordedAction } from './action.ts';
import type { LogEntry, SessionStore } from './session-store.ts';

export interface EntryBody {
  readonly action?: Action;
  /** True if the action came while a run was under way: it waits until an entry applies it. */
  readonly isQueued?: boolean;
  /** The entries whose actions are applied here. */
  readonly applied?: readonly number[];
  /** The execution that the action, or the actions, went to. */
  readonly execution?: number;
  /** The entries whose actions could not be used, and why. */
  readonly refused?: readonly { readonly entry: number; readonly why: string; readonly code?: string }[];
  /** The change that the entry makes to the state. */
  readonly change?: JsonObject;
  /** The whole state as text, in an entry that is a snapshot. */
  readonly state?: string;
}

export const writeBody = (body: EntryBody): string => JSON.stringify(body);

/** Reads a body. That an action is whole is for its writer to know: the store has checked that nothing was changed. */
export function readBody(text: string): EntryBody {
  return readObject(JSON.parse(text), 'entry').raw;
}

/** All entries from one on, page by page. */
export async function readEntriesFrom(store: SessionStore, sessionId: string, first: number): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const page = await store.entries(sessionId, { from: first + all.length });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** Reads the actions of a session, in their order; those that were refused say why. */
export function readActions(entries: readonly LogEntry[]): readonly RecordedAction[] {
  const bodies = entries.map(({ n, body, requestId }) => ({ n, requestId, ...readBody(body) }));
  const reasons = new Map(bodies.flatMap(({ refused = [] }) => refused.map(({ entry, why }) => [entry, why] as const)));
  return bodies.flatMap(({ n: entry, action, requestId }) => {
    return action === undefined ? [] : [{ ...action, ...omitUndefined({ entry, requestId, refused: reasons.get(entry) }) }];
  });
}
