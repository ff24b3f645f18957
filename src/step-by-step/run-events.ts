// The events of one run.
// Owns:     their numbers and headers, who receives them, and those that wait for the next commit.
// Does not: decide when something is committed.
// N1. Numbered events count up without a gap from the state's last one.
// N2. A run inside another takes its numbers from that run, and each of its events is received once there too.
import type { BaseEvent, EventHeader, EventSink, ProblemReporter } from '../events/index.ts';
import { reportSafely, notifyListener } from '../events/index.ts';
import type { Callback, Clock } from '../lib/index.ts';
import type { OuterEvents, OuterStep } from './outer-step.ts';

/** The step that an event is about. */
export interface EventSubject {
  readonly agentId: string;
  readonly parentAgentId: string | undefined;
  readonly executionId: string;
  readonly stepNumber: number;
  /** Name of the participant whose turn it is, if several take turns. */
  readonly participant?: string | undefined;
}

interface RunEventsOptions {
  readonly lastSeq: number;
  /** Id of the session, if this run is not inside another. */
  readonly sessionId: string;
  /** Name of the agent that runs. */
  readonly agentName: string | undefined;
  readonly clock: Clock;
  readonly outer: OuterStep | undefined;
  readonly sink: EventSink | undefined;
  readonly onEvent: Callback<[event: BaseEvent], unknown> | undefined;
  readonly onProblem: ProblemReporter;
  /** True if events have to be kept for commits. */
  readonly isStored: boolean;
}

export class RunEvents implements OuterEvents {
  readonly sessionId: string;
  readonly #options: RunEventsOptions;
  readonly #isHeardOutside: boolean;
  #sinks: ReadonlySet<EventSink> | undefined;
  #seq: number;
  #pieces = 0;
  #prefixed = '';
  #prefix = '/';
  #uncommitted: BaseEvent[] = [];

  constructor(options: RunEventsOptions) {
    const { outer, sink, lastSeq } = options;
    this.#options = options;
    this.sessionId = outer?.events.sessionId ?? options.sessionId;
    // An agent that is its own sub-agent, or shares a bus with one, emits once.
    this.#isHeardOutside = sink !== undefined && outer?.events.sinks.has(sink) === true;
    this.#seq = outer?.events.lastSeq ?? lastSeq;
  }

  /** Receivers of this run's events and of the runs around it. Only runs inside this one ask. */
  get sinks(): ReadonlySet<EventSink> {
    const { outer, sink } = this.#options;
    const outerSinks = outer?.events.sinks ?? [];
    this.#sinks ??= new Set(sink === undefined ? outerSinks : [...outerSinks, sink]);
    return this.#sinks;
  }

  get lastSeq(): number {
    return this.#seq;
  }

  /** Takes the next number. */
  nextSeq(): number {
    this.#seq = this.#openOuter?.events.nextSeq() ?? this.#seq + 1;
    return this.#seq;
  }

  /** Goes on from a later number, such as that of a state that was read again. */
  advanceTo(seq: number): void {
    this.#seq = Math.max(this.#seq, seq);
  }

  /** Gives the last number back if there is no event for it after all. */
  dropSeq(): void {
    this.#openOuter?.events.dropSeq();
    this.#seq -= 1;
  }

  /** Returns the header of the next numbered event. */
  nextHeader(subject: EventSubject, at: number = this.#options.clock.now()): EventHeader {
    this.nextSeq();
    this.#pieces = 0;
    return this.#createHeader(subject, `${this.#getPrefix(subject)}${this.#seq}`, at);
  }

  /** Emits a numbered event and keeps it for the next commit. */
  emit(event: BaseEvent): void {
    if (this.#options.isStored) this.#uncommitted.push(event);
    this.#send(event);
    this.#openOuter?.events.emit(event);
  }

  /** Creates a numbered event and emits it. If it cannot be created, its number is used again. */
  create(subject: EventSubject, make: (header: EventHeader) => BaseEvent): void {
    const header = this.nextHeader(subject);
    let event: BaseEvent;
    try {
      event = make(header);
    } catch (error) {
      this.dropSeq();
      throw error;
    }
    this.emit(event);
  }

  /** Creates and emits a piece of something larger. It has the last number and is never stored. */
  createPiece(subject: EventSubject, make: (header: EventHeader) => BaseEvent): void {
    this.#seq = this.#openOuter?.events.lastSeq ?? this.#seq;
    this.#pieces += 1;
    const id = `${this.#getPrefix(subject)}${this.#seq}.${this.#pieces}`;
    this.emitPiece(make(this.#createHeader(subject, id, this.#options.clock.now())));
  }

  emitPiece(event: BaseEvent): void {
    this.#send(event);
    this.#openOuter?.events.emitPiece(event);
  }

  /** Events since the last commit. */
  get uncommitted(): readonly BaseEvent[] {
    return this.#uncommitted;
  }

  /** Returns the events since the last commit, and starts the list again. */
  takeUncommitted(): readonly BaseEvent[] {
    const events = this.#uncommitted;
    if (events.length > 0) this.#uncommitted = [];
    return events;
  }

  /** Emits events that were committed just now. */
  emitCommitted(events: readonly BaseEvent[]): void {
    for (const event of events) {
      this.#send(event);
      this.#openOuter?.events.emit(event);
    }
  }

  get #openOuter(): OuterStep | undefined {
    const { outer } = this.#options;
    return outer?.isOpen === true ? outer : undefined;
  }

  #send(event: BaseEvent): void {
    const { sink, onEvent, onProblem } = this.#options;
    if (sink !== undefined && !(this.#isHeardOutside && this.#openOuter !== undefined)) {
      try {
        sink.emit(event);
      } catch (error) {
        // A sink of the host's own may throw; the run continues.
        reportSafely(onProblem, error, `the sink of ${event.type}`);
      }
    }
    if (onEvent !== undefined) notifyListener(onEvent, event, onProblem);
  }

  /** The beginning of the ids of an execution's events: one string for all of them, because there are many. */
  #getPrefix({ executionId }: EventSubject): string {
    if (this.#prefixed !== executionId) {
      this.#prefixed = executionId;
      this.#prefix = `${executionId}/`;
    }
    return this.#prefix;
  }

  #createHeader(subject: EventSubject, id: string, at: number): EventHeader {
    const { agentId, parentAgentId, executionId, stepNumber } = subject;
    const { agentName, outer } = this.#options;
    // Events inside a turn name the participant whose turn it is.
    const participant = subject.participant ?? outer?.participant;
    return { id, seq: this.#seq, at, agentId, parentAgentId, executionId, stepNumber, participant, agentName, sessionId: this.sessionId };
  }
}
