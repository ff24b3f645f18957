// What was sent of one session, or of one run without a session.
// Owns:     `prev_seq`, attempts, offsets, and the events of the open step that are not confirmed yet.
// Does not: map events, or send.
// G1. An event of a run without a store is sent once, with its number.
// G2. An event of a session's open step is sent at once as provisional; when the step is stored it is sent again, with its number, before
//     the events of the record. Pieces are never stored, and are sent once.
// G3. If a number is given to a second event, the step is run again after the store failed: what was not confirmed from that number on is
//     void and never confirmed, and the attempt is a later one.
// G4. What is not sent because nobody listens leaves `prev_seq` unknown for the next envelope; nothing else depends on it.
// G5. What a participant of a session writes is text of the session's turn, as readers of its open step get it.
import type { BaseEvent } from '../events/index.ts';
import { readField } from '../lib/index.ts';
import type { EventPlace } from './envelope-mapper.ts';
import { isPiece } from './envelope-mapper.ts';
import type { TextEvent } from './step-texts.ts';
import { StepTexts } from './step-texts.ts';

/** An attempt of this process whose events will never be stored. */
export interface VoidAttempt {
  /** Last event of the attempt. */
  readonly lastEvent: BaseEvent;
  readonly attempt: number;
}

/** An event that is to be sent, and its place. */
export interface PlacedEvent {
  readonly event: BaseEvent;
  readonly place: EventPlace;
  /** Set if the event shows that an earlier attempt is void. */
  readonly voids?: VoidAttempt | undefined;
}

/** Place of the text of an event. */
type TextPlace = Pick<EventPlace, 'attempt' | 'answer' | 'offset'>;

/** Events that are emitted once the record they belong to is stored, if the outermost run emits them. */
const recordTypes = new Set([
  ...['ContinuationEvaluated', 'AgentStateUpdated', 'AgentStepCompleted', 'TokenUsageReported', 'RetryScheduled'],
  ...['AgentFailed', 'AgentFinished', 'UserMessageReceived', 'WaitResolved', 'LimitsGranted', 'CrashLoopDetected'],
  'ApprovalRevoked',
]);

/** Records after which the open step is not run again. */
const closingTypes = new Set(['AgentStepCompleted', 'AgentFinished']);

const isDelta = (event: BaseEvent): event is TextEvent => event.type === 'TextDelta' || event.type === 'ReasoningDelta';

const isOutermost = ({ parentAgentId }: BaseEvent): boolean => parentAgentId === null;

const readAttempt = (event: BaseEvent): number => {
  const attempt = readField(event, 'attempt');
  return typeof attempt === 'number' ? attempt : 1;
};

/** Returns an event of a participant as one of the turn that it speaks in; any other event as it is. */
function toTurnEvent(event: BaseEvent, turn: BaseEvent | undefined): BaseEvent {
  if (turn === undefined || event.parentAgentId !== turn.agentId || readField(event, 'participant') === undefined) return event;
  const { agentId, parentAgentId, executionId, stepNumber } = turn;
  const orchestrator = readField(turn, 'orchestrator');
  // Holds: it has all the fields of the event, and a mapper reads nothing else.
  return { ...event, agentId, parentAgentId, executionId, stepNumber, orchestrator } as unknown as BaseEvent;
}

export class SentSession {
  readonly #texts = new StepTexts();
  /** Events that are not confirmed yet, by number. */
  #pending = new Map<number, PlacedEvent>();
  /** Attempt at the open step of the outermost run. */
  #attempt = 1;
  /** Lowest attempt that was not given to other events of the open step. */
  #firstAttempt = 1;
  #index = 0;
  /** Start of the open step of the outermost run. */
  #turn: BaseEvent | undefined;

  /** True if events were sent that are not confirmed yet. */
  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** Takes an event of a run without a store. */
  take(event: BaseEvent): PlacedEvent {
    return { event, place: this.#readTextPlace(event) };
  }

  /** Takes an event of a session. Returns what is to be sent, in order. */
  takeFromSession(event: BaseEvent): readonly PlacedEvent[] {
    const { type } = event;
    const { answer, offset } = this.#readTextPlace(event, toTurnEvent(event, this.#turn));
    if (isPiece(event)) {
      const piece = isDelta(event) ? toTurnEvent(event, this.#turn) : event;
      return [{ event: piece, place: { attempt: this.#attempt, answer, offset, isProvisional: true } }];
    }
    const voids = this.#pending.has(event.seq) ? this.#dropFrom(event.seq) : undefined;
    const isRecord = recordTypes.has(type) && isOutermost(event);
    // A cancel of a session that waits is stored already; one of a run is stored with its end.
    if (isRecord || (type === 'CancelRequested' && !this.hasPending)) return [...this.#confirm(type), { event, place: { answer }, voids }];
    if (type === 'AgentStepStarted' && isOutermost(event)) {
      this.#attempt = Math.max(this.#firstAttempt, readAttempt(event));
      this.#turn = event;
    }
    this.#index += 1;
    const place = { attempt: this.#attempt, index: this.#index, answer };
    this.#pending.set(event.seq, { event, place });
    return [{ event, place: { ...place, isProvisional: true }, voids }];
  }

  #confirm(type: string): Iterable<PlacedEvent> {
    const confirmed = this.#pending.values();
    this.#pending = new Map();
    if (closingTypes.has(type)) this.#firstAttempt = 1;
    this.#attempt = this.#firstAttempt;
    this.#index = 0;
    return confirmed;
  }

  /** Drops the events from a number on, and starts the next attempt. */
  #dropFrom(seq: number): VoidAttempt | undefined {
    const attempt = this.#attempt;
    const dropped = [...this.#pending.values()].flatMap(({ event }) => (event.seq >= seq ? [event] : []));
    for (const event of dropped) this.#pending.delete(event.seq);
    this.#firstAttempt = attempt + 1;
    this.#attempt = this.#firstAttempt;
    this.#index = 0;
    const lastEvent = dropped.findLast(isOutermost) ?? dropped.at(-1);
    return lastEvent === undefined ? undefined : { lastEvent, attempt };
  }

  /** Counts the text of an event, which may belong to a turn; returns the place of its text. */
  #readTextPlace(event: BaseEvent, owner: BaseEvent = event): TextPlace {
    if (isDelta(owner)) {
      const text = readField(event, 'text');
      return this.#texts.take(owner, typeof text === 'string' ? text : '', `${event.executionId}/${event.stepNumber}`);
    }
    switch (event.type) {
      case 'AgentStepStarted':
        this.#texts.start(event, readAttempt(event));
        return {};
      case 'ModelFallback':
        return this.#texts.fail(owner);
      case 'AgentStepCompleted':
        return this.#texts.end(event);
      default:
        return {};
    }
  }
}
