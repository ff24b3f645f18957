// The events of a session as a stream of envelopes.
// Owns:     the order of stored and provisional envelopes in one stream, and what is sent when nothing happens.
// Does not: know HTTP, or how an envelope is written.
// S1. Stored events are sent once each, in order, beginning after the one that the reader has.
// S2. The text and events of the open step come after everything that was stored before it began, and not after its record.
// S3. A reader that begins in the middle gets a head first, with the totals of what it does not get.
// S4. A reader that comes late gets what the open step has so far. One that was too slow goes on with what there is by then.
import type { Clock } from '../../../lib/index.ts';
import type { OpenStepItem, Session, SessionRuntime, StoredEvent } from '../../../sessions/index.ts';
import type { Envelope, EnvelopeMapper, SessionTotals } from '../../index.ts';
import { EndedSteps, OpenPlace } from './open-place.ts';
import type { ChunkIds } from './open-place.ts';
import { OpenStepFeed } from './open-step-feed.ts';

/** Envelopes of one event, in order; or of one piece of text. */
export type EnvelopeGroup = readonly Envelope[];

export interface EventStreamOptions {
  readonly runtime: Pick<SessionRuntime, 'events' | 'openStep'>;
  readonly session: Pick<Session, 'id' | 'executions' | 'state'>;
  readonly mapper: EnvelopeMapper;
  /** Number of the last event that the reader has. */
  readonly after: number;
  /** Set if the reader begins in the middle: what it has come to so far. */
  readonly totals?: SessionTotals | undefined;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly maxBufferBytes: number;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

type Woken = { readonly type: 'stored'; readonly next: IteratorResult<StoredEvent, unknown> } | { readonly type: 'more' };

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #ended = new EndedSteps();
  #seq: number;
  #previous: number;
  #open: OpenPlace | undefined;
  #wake: () => void = () => undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    [this.#seq, this.#previous] = [options.after, options.after];
  }

  /** Reads envelopes until the signal aborts, or the runtime is drained. */
  async *read(): AsyncGenerator<EnvelopeGroup, void, undefined> {
    const { runtime, session, signal, maxBufferBytes: maxBytes } = this.#options;
    if (this.#options.totals !== undefined) yield [this.#toHead(this.#options.totals)];
    yield* this.#catchUp();
    const feed = new OpenStepFeed({ runtime, sessionId: session.id, maxBytes, signal, onMore: () => this.#wake() });
    const stored = runtime.events(session.id, { fromSeq: this.#seq, follow: true, signal })[Symbol.asyncIterator]();
    const readStored = (): Promise<Woken> => stored.next().then((next) => ({ type: 'stored', next }));
    const beat = { isDue: false, cancel: (): void => undefined };
    const arm = (): void => {
      beat.cancel = this.#options.clock.schedule(
        this.#options.heartbeatMs,
        () => {
          beat.isDue = true;
          this.#wake();
        },
        true,
      );
    };
    try {
      arm();
      for (let pending = readStored(); ;) {
        const item = feed.take();
        if (item !== undefined) {
          yield* this.#takeOpen(item);
          continue;
        }
        if (beat.isDue) {
          beat.isDue = false;
          arm();
          yield [this.#toHead()];
        }
        if (signal.aborted) return;
        const more = new Promise<Woken>((resolve) => (this.#wake = () => resolve({ type: 'more' })));
        const woken = await Promise.race([pending, more]);
        if (woken.type === 'more') continue;
        if (woken.next.done === true) return;
        yield* this.#takeStored(woken.next.value);
        pending = readStored();
      }
    } finally {
      beat.cancel();
      await stored.return?.();
    }
  }

  /** Sends what was stored meanwhile. */
  async *#catchUp(): AsyncGenerator<EnvelopeGroup, void, undefined> {
    const { runtime, session } = this.#options;
    for await (const event of runtime.events(session.id, { fromSeq: this.#seq })) yield* this.#takeStored(event);
  }

  *#takeStored(event: StoredEvent): Generator<EnvelopeGroup, void, undefined> {
    if (event.seq <= this.#seq) return;
    this.#seq = event.seq;
    const place = { sessionId: this.#options.session.id, prevSeq: this.#previous, ...this.#open?.confirm(event) };
    const envelopes = this.#options.mapper.toEnvelopes(event, place);
    if (envelopes.length > 0) this.#previous = event.seq;
    if (this.#ended.note(event) && this.#open !== undefined) this.#open.isOver = true;
    if (envelopes.length > 0) yield envelopes;
    // At rest: a reader that has lost the last envelope would not notice otherwise.
    if (event.type === 'AgentFinished' && (event['parentAgentId'] ?? null) === null) yield [this.#toHead()];
  }

  async *#takeOpen(item: OpenStepItem): AsyncGenerator<EnvelopeGroup, void, undefined> {
    if (this.#open?.isSame(item) !== true) {
      // Everything before this attempt is stored.
      if (this.#open?.place.afterEntry !== item.afterEntry) yield* this.#catchUp();
      this.#open = new OpenPlace(item, this.#ended.has(item));
    }
    const open = this.#open;
    if (item.type === 'recorded') {
      if (!open.isOver) yield* this.#catchUp();
      this.#open = undefined;
      return;
    }
    const envelopes = open.isOver ? [] : this.#toOpenEnvelopes(open, item);
    if (envelopes.length > 0) yield envelopes;
  }

  #toOpenEnvelopes(open: OpenPlace, item: OpenStepItem): EnvelopeGroup {
    const { mapper, session, clock } = this.#options;
    const { attempt, step } = item;
    if (item.type === 'event') {
      open.note(item);
      // Holds: a provisional envelope has no number, and nothing else of a stored event is missing.
      const event = { ...item.event, id: '', seq: 0 } as StoredEvent;
      return mapper.toEnvelopes(event, { sessionId: session.id, attempt, index: item.index, isProvisional: true });
    }
    const ids = { sessionId: session.id, ...open.getIds(this.#getIds(item.execution)), at: clock.now(), step, attempt };
    if (item.type === 'text') {
      const { kind, text, answer, offset, participant } = item;
      return mapper.toChunks({ ...ids, kind, text, answer, offset, participant, isProvisional: true });
    }
    return item.type === 'void' ? [mapper.toVoid({ ...ids, answer: item.answer, isProvisional: true })] : [];
  }

  #getIds(execution: number): ChunkIds {
    const { session } = this.#options;
    return { agentId: session.state.agentId, executionId: `${session.id}/${execution}`, orchestrator: 'agent' };
  }

  #toHead(totals?: SessionTotals): Envelope {
    const { mapper, session, clock } = this.#options;
    return mapper.toHead({ sessionId: session.id, seq: this.#previous, at: clock.now(), agentId: session.state.agentId, totals });
  }
}
