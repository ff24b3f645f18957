// A run, or events that were read from a session, as a stream of UI message chunks.
import type { UIMessageChunk } from 'ai';
import { BaseEvent } from '../../events/index.ts';
import type { Redactor } from '../../lib/index.ts';
import { checkKeys, readField } from '../../lib/index.ts';
import type { AnyEvent } from '../index.ts';
import { AnswerMapper } from './answer-mapper.ts';
import type { AnswerChunk, AnswerData, AnswerMetadata } from './answer-types.ts';
import type { EventFields } from './event-fields.ts';
import { isRoot } from './event-fields.ts';
import { toOutcome } from './outcome.ts';
import { explainEnd } from './explain-end.ts';

/** A run in progress, or events in their order. */
export type UIMessageSource = (AsyncIterable<AnyEvent> | Iterable<AnyEvent>) & {
  /** Result of a run, which explains it. */
  readonly result?: Promise<{ explain(): string }>;
};

export interface UIMessageStreamOptions {
  /** Id of the assistant's message. @default chosen by the page */
  readonly messageId?: string;
  /** Removes secrets from everything that is sent. @default a redactor that knows the obvious ones */
  readonly redactor?: Redactor;
}

/** Reads the events of an answer up to its end. */
async function* readChunks(source: UIMessageSource, { messageId, redactor }: UIMessageStreamOptions): AsyncGenerator<AnswerChunk, void> {
  const mapper = new AnswerMapper(redactor === undefined ? {} : { redactor });
  yield* mapper.start(messageId);
  let end: EventFields | undefined;
  let isLive = false;
  for await (const event of source) {
    // Holds: any object may be read as fields that are unknown.
    const fields = event as unknown as EventFields;
    // The next message has an answer of its own.
    if (fields['type'] === 'UserMessageReceived' && end !== undefined) break;
    // A run may come from another copy of this package.
    isLive = source.result !== undefined || event instanceof BaseEvent;
    yield* isLive ? mapper.takeEvent(fields) : mapper.takeStored([fields]);
    if (fields['type'] === 'AgentFinished' && isRoot(fields)) end = fields;
  }
  if (end === undefined) {
    yield* mapper.finish(undefined);
    return;
  }
  const result = await source.result;
  yield* mapper.finish(toOutcome(end, result?.explain() ?? explainEnd(end, redactor)), { isLive });
}

/**
 * Returns a run, or events that a session has stored, as a stream of UI message chunks: one assistant message. Cancelling the stream stops
 * nothing.
 */
export function toUIMessageStream(
  source: UIMessageSource,
  options: UIMessageStreamOptions = {},
): ReadableStream<UIMessageChunk<AnswerMetadata, AnswerData>> {
  checkKeys('toUIMessageStream()', options, ['messageId', 'redactor']);
  const chunks = readChunks(source, options);
  return new ReadableStream<AnswerChunk>(
    {
      pull: async (controller) => {
        try {
          const next = await chunks.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          // A run rejects only for misuse or a failing store.
          controller.enqueue({ type: 'error', errorText: String(readField(error, 'message')) });
          controller.close();
        }
      },
      cancel: async () => {
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}
