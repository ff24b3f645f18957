// An answer as a response: server-sent events, as the AI SDK reads them.
// E1. Nothing is read ahead for a page that does not read.
// E2. An answer that is broken off ends its connection without an end: the page knows that it was cut, and can resume.
import type { ChunkGroup } from './follow-answer.ts';

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy that changes or buffers a stream holds its events back.
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  'x-vercel-ai-ui-message-stream': 'v1',
};

export interface StreamOptions {
  /** Receives what broke an answer off. */
  readonly onError: (error: unknown) => void;
  /** Ends the source; called when the reader leaves. */
  readonly leave: () => void;
}

// A comment keeps an idle connection open.
const write = ({ chunks }: ChunkGroup): string =>
  chunks.length === 0 ? ': idle\n\n' : chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

/** Returns a response that sends chunks as they come. */
export function toStreamResponse(groups: AsyncGenerator<ChunkGroup, boolean, undefined>, { onError, leave }: StreamOptions): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const next = await groups.next();
          if (next.done !== true) {
            controller.enqueue(encoder.encode(write(next.value)));
            return;
          }
          leave();
          if (!next.value) {
            controller.error(new Error('The answer was broken off. Resume it.'));
            return;
          }
          controller.enqueue(encoder.encode('data: [DONE]\n\n'));
          controller.close();
        } catch (error) {
          onError(error);
          leave();
          controller.error(error);
        }
      },
      cancel: () => {
        leave();
        // A source that waits to be read would never find out.
        void groups.return(false).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: 200, headers });
}
