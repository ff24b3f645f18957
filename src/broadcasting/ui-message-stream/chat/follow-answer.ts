// An answer of a session as chunks: what there is of it, then the rest as it comes.
// Owns:     when an answer is complete.
// Does not: know HTTP, or what a page has of it already.
// F1. The stored part comes first and whole, whoever reads and whenever.
// F2. It ends when the run has ended, or waits for somebody, or the next message has come. A run that waits for a provider goes on by
//     itself, so its answer does too.
// F3. What a worker refuses after it was accepted is the end of the answer: whoever asked reads why.
// F4. A reader that leaves changes nothing. A runtime that closes breaks the answer off: `Interrupted`, not an end.
import type { Redactor } from '../../../lib/index.ts';
import type { Message } from '../../../messages/index.ts';
import type { Session, StoredEvent } from '../../../sessions/index.ts';
import type { SessionStreamItem } from '../../http/index.ts';
import { describeError, isServerError, SessionStream } from '../../http/index.ts';
import { AnswerMapper } from '../answer-mapper.ts';
import type { AnswerChunk } from '../answer-types.ts';
import { isRoot } from '../event-fields.ts';
import type { AnswerPlace } from './answer-places.ts';
import type { ChatServices } from './chat-options.ts';
import { explainAnswer } from './explain-answer.ts';

/**
 * Chunks of something that has just happened; empty if nothing has for a while. The first two groups are the start of the message, and
 * everything that was stored before the reader came.
 */
export interface ChunkGroup {
  readonly isPast: boolean;
  readonly chunks: readonly AnswerChunk[];
}

export interface FollowOptions {
  readonly sessionId: string;
  readonly place: AnswerPlace;
  /** Settles when the action that this reader has taken is done, or refused. Nothing that happened before ends the answer. */
  readonly rest?: Promise<unknown>;
  /** Aborts if the reader leaves. */
  readonly signal: AbortSignal;
}

/** True if a session does nothing by itself. */
const isAtRest = ({ status, mailbox, waitingFor, lastSeq }: Session, seq: number): boolean =>
  status !== 'in_progress' &&
  mailbox.length === 0 &&
  lastSeq <= seq &&
  !(waitingFor.length > 0 && waitingFor.every(({ type }) => type === 'provider'));

/** Returns what a page reads of an action that was refused; nothing if the server could not do it: that breaks the answer off. */
export const toRefusal = (redactor: Redactor, error: unknown): readonly AnswerChunk[] =>
  isServerError(error) ? [] : [{ type: 'error', errorText: describeError(redactor, error).message }];

/** Returns a function that finds the messages of a conversation. */
export function createMessageFinder({ state }: Session): (messageId: string) => Message | undefined {
  let byId: ReadonlyMap<string, Message> | undefined;
  return (messageId) => {
    byId ??= new Map([...state.messages].map((message) => [message.id, message] as const));
    return byId.get(messageId);
  };
}

export class AnswerFollower {
  readonly #services: ChatServices;
  readonly #options: FollowOptions;
  readonly #mapper: AnswerMapper;
  #find: (messageId: string) => Message | undefined = () => undefined;
  /** True if the open step was read: nothing of it has to be looked up. */
  #isWatched = false;
  #seq: number;
  #end: StoredEvent | undefined;
  /** Stored events from before the reader came. */
  #past: StoredEvent[] | undefined = [];
  #isDone = false;

  constructor(services: ChatServices, options: FollowOptions) {
    this.#services = services;
    this.#options = options;
    this.#mapper = new AnswerMapper({ redactor: services.redactor, findMessage: (messageId) => this.#find(messageId) });
    this.#seq = options.place.message.seq;
  }

  /** Reads the answer to its end. Returns false if it was broken off. */
  async *read(): AsyncGenerator<ChunkGroup, boolean, undefined> {
    const { rest, sessionId, place, signal } = this.#options;
    yield { isPast: true, chunks: this.#mapper.start(place.id, { sessionId }) };
    let refusal: readonly AnswerChunk[] = [];
    if (rest !== undefined) {
      const settled = new AbortController();
      const note = (error: unknown): void => void (refusal = toRefusal(this.#services.redactor, error));
      void rest.catch(note).then(() => settled.abort());
      yield* this.#readUntil(AbortSignal.any([signal, settled.signal]), false);
    }
    if (!this.#isDone && !signal.aborted) yield* this.#readUntil(signal, true);
    // Last, so that the page has the answer as it is.
    if (this.#isDone && refusal.length > 0) yield { isPast: false, chunks: refusal };
    return this.#isDone;
  }

  async *#readUntil(signal: AbortSignal, mayRest: boolean): AsyncGenerator<ChunkGroup, void, undefined> {
    const { runtime, clock, heartbeatMs, maxBufferBytes } = this.#services;
    const { sessionId } = this.#options;
    const stream = new SessionStream({ runtime, sessionId, after: this.#seq, clock, heartbeatMs, maxBufferBytes, signal });
    for await (const item of stream.read()) {
      const isPast = this.#past !== undefined;
      if (item.type === 'open') this.#isWatched = true;
      const isStep =
        item.type === 'stored' && !isPast && (item.event.type === 'AgentStepCompleted' || item.event.type === 'AgentStateUpdated');
      // A step that ended before anybody could read it: what the model thought is in its messages only.
      if (item.type === 'current' || (isStep && !this.#isWatched)) this.#find = createMessageFinder(await runtime.get(sessionId));
      if (isStep) this.#isWatched = false;
      const chunks = this.#take(item);
      if (chunks.length > 0 || item.type === 'idle' || isPast !== (this.#past !== undefined)) yield { isPast, chunks };
      if (this.#isDone) return;
      const isPause = item.type === 'current' || (item.type === 'stored' && item.event === this.#end && this.#past === undefined);
      if (mayRest && isPause && (yield* this.#finishAtRest(isPast))) return;
    }
  }

  /** Ends the answer if the session does nothing more by itself. Returns true if it has ended. */
  async *#finishAtRest(isPast: boolean): AsyncGenerator<ChunkGroup, boolean, undefined> {
    const { runtime, redactor } = this.#services;
    const { sessionId } = this.#options;
    const session = await runtime.get(sessionId);
    if (!isAtRest(session, this.#seq)) return false;
    this.#isDone = true;
    const outcome = this.#end && explainAnswer(session, this.#end, redactor);
    const isLive = !isPast || this.#options.rest !== undefined;
    yield { isPast, chunks: this.#mapper.finish(outcome, { isLive, sessionId }) };
    return true;
  }

  #take(item: SessionStreamItem): readonly AnswerChunk[] {
    switch (item.type) {
      case 'stored':
        return this.#takeStored(item.event);
      case 'current': {
        const past = this.#past ?? [];
        this.#past = undefined;
        return this.#mapper.takeStored(past);
      }
      case 'open':
        if (item.item.type === 'text') return this.#mapper.takeText(item.item.kind, item.item.text);
        return item.item.type === 'event' ? this.#mapper.takeEvent(item.item.event) : this.#mapper.voidAttempt();
      case 'idle':
        return [];
    }
  }

  #takeStored(event: StoredEvent): readonly AnswerChunk[] {
    this.#seq = event.seq;
    if (event.type === 'UserMessageReceived') return this.#supersede();
    if (isRoot(event) && event.type === 'AgentFinished') this.#end = event;
    else if (isRoot(event) && event.type === 'AgentExecutionStarted') this.#end = undefined;
    if (this.#past === undefined) return this.#mapper.takeStored([event]);
    this.#past.push(event);
    return [];
  }

  /** Ends the answer: the next message has an answer of its own. */
  #supersede(): readonly AnswerChunk[] {
    const past = this.#past ?? [];
    this.#past = undefined;
    this.#isDone = true;
    return [...this.#mapper.takeStored(past), ...this.#mapper.finish(undefined)];
  }
}
