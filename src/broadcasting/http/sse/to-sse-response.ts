// Responses of server-sent events.
// E1. The id of an event is its number, on its last part: whoever reconnects gets an event whole or not at all. One who has to start again
//     gets another id at once.
// E2. Nothing is read ahead for a reader that does not read.
// E3. A reader that leaves is not an error.
import type { Envelope } from '../../index.ts';
import type { EnvelopeGroup } from './event-stream.ts';

export interface SseOptions {
  /** Time after which a browser reconnects. @default it is not said */
  readonly retryMs?: number;
  /** Receives what ended a stream early. */
  readonly onError: (error: unknown) => void;
  /** Ends the source; called when the reader leaves. */
  readonly leave: () => void;
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy that changes or buffers a stream holds its events back.
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

function getId(envelope: Envelope): number | undefined {
  if ('seq' in envelope) return envelope.seq;
  return envelope.event === 'agent.head' && envelope.data['restart'] === true ? Number(envelope.data['seq']) : undefined;
}

/** Writes the envelopes of one event. */
export function writeGroup(group: EnvelopeGroup): string {
  const write = (envelope: Envelope, index: number): string => {
    const seq = index === group.length - 1 ? getId(envelope) : undefined;
    return `${seq === undefined ? '' : `id: ${seq}\n`}data: ${JSON.stringify(envelope)}\n\n`;
  };
  return group.map(write).join('');
}

/** Returns a response that sends events as they come. `write` turns each into text. */
export function toSseResponse<Item>(
  items: AsyncIterator<Item, void, undefined>,
  write: (item: Item) => string,
  options: SseOptions,
): Response {
  const encoder = new TextEncoder();
  const { retryMs } = options;
  let hasLeft = false;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        if (retryMs !== undefined) controller.enqueue(encoder.encode(`retry: ${retryMs}\n\n`));
      },
      pull: async (controller) => {
        try {
          const next = await items.next();
          // Nothing can be written any more.
          if (hasLeft) return;
          if (next.done === true) {
            options.leave();
            controller.close();
            return;
          }
          controller.enqueue(encoder.encode(write(next.value)));
        } catch (error) {
          if (hasLeft) return;
          options.onError(error);
          options.leave();
          // The reader reconnects, and gets a response that says what is wrong.
          controller.close();
        }
      },
      cancel: () => {
        hasLeft = true;
        options.leave();
        // A source that waits to be read would never find out.
        void items.return?.().catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: 200, headers });
}
