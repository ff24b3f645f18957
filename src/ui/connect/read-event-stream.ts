// Reads server-sent events from the body of a response.
import type { Envelope } from '../../broadcasting/index.ts';
import { isRecord, parseJsonText } from '../../lib/index.ts';

/** Longest text of one event that is kept. A server that sends more is not ours. */
const longestEvent = 4_000_000;

function parseEvent(lines: readonly string[]): Envelope | undefined {
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(line.startsWith('data: ') ? 6 : 5));
  if (data.length === 0) return undefined;
  const value = parseJsonText(data.join('\n'));
  // Holds: a server of this package sends envelopes, and a view reads their fields with care.
  return isRecord(value) && typeof value['event'] === 'string' && isRecord(value['data']) ? (value as unknown as Envelope) : undefined;
}

/** Reads the envelopes of a stream, as many at a time as have arrived. An empty list is a sign of life. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly Envelope[], void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the end may be half of a line break.
      const isCut = rest.endsWith('\r');
      const events = (isCut ? rest.slice(0, -1) : rest).replace(/\r\n?/g, '\n').split('\n\n');
      rest = `${events.pop() ?? ''}${isCut ? '\r' : ''}`;
      if (rest.length > longestEvent) return;
      yield events.flatMap((event) => parseEvent(event.split('\n')) ?? []);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
