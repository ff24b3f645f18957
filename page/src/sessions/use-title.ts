// Titles of sessions: the first words that a person wrote. The list does not have them, so that each is fetched once.
import { useEffect, useSyncExternalStore } from 'react';
import type { ViewMessage } from 'stepline/ui';
import { createView, reduceAll } from 'stepline/ui';
import { getJson } from '../app/server.ts';
import { config } from '../config.ts';
import type { ListedSession } from './session-types.ts';

const titles = new Map<string, string>();
const asked = new Set<string>();
const listeners = new Set<() => void>();
let queue: Promise<void> = Promise.resolve();

function setTitle(sessionId: string, title: string): void {
  titles.set(sessionId, title);
  for (const listener of [...listeners]) listener();
}

/** Notes the title of a session whose messages are here anyway. */
export function noteTitle(sessionId: string, messages: readonly ViewMessage[]): void {
  if (titles.has(sessionId)) return;
  const text = messages.find(({ role }) => role === 'user')?.text.trim();
  if (text !== undefined && text !== '') setTitle(sessionId, text.slice(0, 120));
}

async function fetchTitle(sessionId: string): Promise<void> {
  if (titles.has(sessionId)) return;
  const body = await getJson(`${config.api}/sessions/${encodeURIComponent(sessionId)}/events?after=0&limit=4`);
  const { envelopes = [] } = body as { readonly envelopes?: Parameters<typeof reduceAll>[1] };
  noteTitle(sessionId, reduceAll(createView(sessionId), envelopes).messages);
}

/** Fetches titles one after the other: the conversation on screen comes first. */
function askTitle(sessionId: string): void {
  if (asked.has(sessionId)) return;
  asked.add(sessionId);
  queue = queue.then(() => fetchTitle(sessionId)).catch(() => void asked.delete(sessionId));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Returns the title of a session; undefined if nobody has written anything yet. */
export function useTitle(sessionId: string, session?: ListedSession): string | undefined {
  const hasEvents = (session?.last_seq ?? 0) > 0;
  useEffect(() => {
    if (hasEvents) askTitle(sessionId);
  }, [sessionId, hasEvents]);
  return useSyncExternalStore(subscribe, () => titles.get(sessionId));
}
