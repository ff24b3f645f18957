// What stands in an entry of the log.
// B1. An entry holds what somebody did, what it made of the state, or both.
import type { JsonObject } from '../lib/index.ts';
import { readObject } from '../lib/index.ts';
import type { Action, RecordedAction } from './action.ts';
import type { LogEntry, SessionStore } from './session-store.ts';

export interface EntryBody {
  readonly action?: Action;
  /** True where the action came while a run was under way: it waits until an entry takes it in. */
  readonly isQueued?: boolean;
  /** The entries whose actions are taken in here. */
  readonly taken?: readonly number[];
  /** The execution that took the action in, or the actions. */
  readonly execution?: number;
  /** The entries whose actions could not be used, and why. */
  readonly dropped?: readonly { readonly entry: number; readonly why: string; readonly code?: string }[];
  /** What has become of the state. */
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
export async function entriesFrom(store: SessionStore, sessionId: string, first: number): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const page = await store.entries(sessionId, { from: first + all.length });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** What was done to a session, in its order, with what became of what could not be used. */
export function readActions(entries: readonly LogEntry[]): readonly RecordedAction[] {
  const bodies = entries.map(({ n, body, requestId }) => ({ n, requestId, ...readBody(body) }));
  const refused = new Map(bodies.flatMap(({ dropped = [] }) => dropped.map(({ entry, why }) => [entry, why] as const)));
  return bodies.flatMap(({ n: entry, action, requestId }) => {
    if (action === undefined) return [];
    const why = refused.get(entry);
    return [{ ...action, entry, ...(requestId !== undefined && { requestId }), ...(why !== undefined && { refused: why }) }];
  });
}
