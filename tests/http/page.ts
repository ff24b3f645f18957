// What a page does: it starts a session, reads its events, and comes back when the stream ends.
import { setTimeout as pause } from 'node:timers/promises';
import type { Pair } from './pair.ts';
import type { View } from './view-reader.ts';
import { isRest, readInto } from './view-reader.ts';
import { toWords } from './writer.ts';

/** The whole answer. */
export const getSaid = (count: number): string => `Let me see. ${toWords(count).join('')}`;

/** Starts a session that writes. Returns the address of its events. */
export async function startWriting(pair: Pair, order: string): Promise<{ readonly id: string; readonly events: string }> {
  const { session_id: id } = await pair.post('/sessions');
  await pair.post(`/sessions/${id}/messages`, { text: order });
  return { id, events: `${pair.url}/sessions/${id}/events` };
}

/** Reads until the session is at rest, however often the stream ends, as a browser does. */
export async function readToRest(view: View, events: string): Promise<View> {
  for (;;) {
    try {
      if (await readInto(view, events, { isDone: isRest })) return view;
    } catch {
      // The server is gone for a moment.
    }
    await pause(50);
  }
}

/** Leaves after some time. */
export async function readFor(view: View, events: string, ms: number): Promise<boolean> {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), ms);
  try {
    return await readInto(view, events, { signal: leaving.signal, isDone: isRest });
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
