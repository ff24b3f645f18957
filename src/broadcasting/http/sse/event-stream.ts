// The events of a session as a stream of envelopes.
// Owns:     the envelopes of a stream, their numbers, and what is sent when nothing happens.
// Does not: know HTTP, or how an envelope is written. The order of what is sent is that of `SessionStream`.
// G1. A reader that begins in the middle gets a head first, with the totals of what it does not get.
// G2. A reader that has more than the session gets a head first that tells it to start again.
import type { Session, StoredEvent } from '../../../sessions/index.ts';
import type { Envelope, EnvelopeMapper, SessionTotals } from '../../index.ts';
import type { ChunkIds, Confirmation, OpenPlace } from './open-place.ts';
import type { LiveItem, SessionStreamItem, SessionStreamOptions } from './session-stream.ts';
import { SessionStream } from './session-stream.ts';

/** Envelopes of one event, in order; or of one piece of text. */
export type EnvelopeGroup = readonly Envelope[];

export interface EventStreamOptions extends Omit<SessionStreamOptions, 'sessionId'> {
  readonly session: Pick<Session, 'id' | 'executions' | 'state'>;
  readonly mapper: EnvelopeMapper;
  /** Set if the reader begins in the middle: what it has come to so far. */
  readonly totals?: SessionTotals | undefined;
  /** True if the reader has events that the session does not have. */
  readonly isRestart?: boolean;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  #previous: number;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#previous = options.after;
  }

  /** Reads envelopes until the signal aborts, or the runtime is drained. */
  async *read(): AsyncGenerator<EnvelopeGroup, void, undefined> {
    const { session, mapper: _, totals, isRestart = false, ...rest } = this.#options;
    if (totals !== undefined || isRestart) yield [this.#toHead({ totals, isRestart })];
    for await (const item of new SessionStream({ ...rest, sessionId: session.id }).read()) yield* this.#toGroups(item);
  }

  *#toGroups(item: SessionStreamItem): Generator<EnvelopeGroup, void, undefined> {
    if (item.type === 'stored') yield* this.#takeStored(item.event, item.confirmed);
    else if (item.type === 'open') {
      const envelopes = this.#toOpenEnvelopes(item.place, item.item);
      if (envelopes.length > 0) yield envelopes;
    } else if (item.type === 'idle') yield [this.#toHead()];
  }

  *#takeStored(event: StoredEvent, confirmed: Confirmation): Generator<EnvelopeGroup, void, undefined> {
    const place = { sessionId: this.#options.session.id, prevSeq: this.#previous, ...confirmed };
    const envelopes = this.#options.mapper.toEnvelopes(event, place);
    if (envelopes.length > 0) this.#previous = event.seq;
    if (envelopes.length > 0) yield envelopes;
    // At rest: a reader that has lost the last envelope would not notice otherwise.
    if (event.type === 'AgentFinished' && event.parentAgentId === null) yield [this.#toHead()];
  }

  #toOpenEnvelopes(open: OpenPlace, item: LiveItem): EnvelopeGroup {
    const { mapper, session, clock } = this.#options;
    const { attempt, step } = item;
    if (item.type === 'event') {
      // Holds: a provisional envelope has no number, and nothing else of a stored event is missing.
      const event = { ...item.event, id: '', seq: 0 } as StoredEvent;
      return mapper.toEnvelopes(event, { sessionId: session.id, attempt, index: item.index, isProvisional: true });
    }
    const ids = { sessionId: session.id, ...open.getIds(this.#getIds(item.execution)), at: clock.now(), step, attempt };
    if (item.type === 'text') {
      const { kind, text, answer, offset, participant } = item;
      return mapper.toChunks({ ...ids, kind, text, answer, offset, participant, isProvisional: true });
    }
    return [mapper.toVoid({ ...ids, answer: item.answer, isProvisional: true })];
  }

  #getIds(execution: number): ChunkIds {
    const { session } = this.#options;
    return { agentId: session.state.agentId, executionId: `${session.id}/${execution}`, orchestrator: 'agent' };
  }

  #toHead(first: Pick<EventStreamOptions, 'totals' | 'isRestart'> = {}): Envelope {
    const { mapper, session, clock } = this.#options;
    return mapper.toHead({ sessionId: session.id, seq: this.#previous, at: clock.now(), agentId: session.state.agentId, ...first });
  }
}
