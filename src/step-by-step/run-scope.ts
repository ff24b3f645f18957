// One run's surroundings: time, ids, effects, events, and who may end it.
// Owns:     the numbering of events while the run lasts, and everything that must be let go when it ends.
// Does not: hold the state.
// N1. Numbered events count up without a gap from the state's last one.
// N2. After `close` no timer and no listener of this run is left.
import type { Effects } from '../effects/index.ts';
import { createDirectEffects, createInnerEffects } from '../effects/index.ts';
import type { BaseEvent, EventHeader, EventSink, ProblemReporter } from '../events/index.ts';
import { reportSafely, reportToConsole, tellListener } from '../events/index.ts';
import type { Callback, Clock, IdSource, Random } from '../lib/index.ts';
import { systemClock, systemIds, systemRandom } from '../lib/index.ts';
import type { LoopEvent } from './loop-events.ts';
import type { OuterStep } from './outer-step.ts';
import { linkControl } from './outer-step.ts';
import type { RunControl } from './run-control.ts';
import { createRunControl } from './run-control.ts';
import type { RunState } from './run-state.ts';
import type { StepResult } from './step-result.ts';

/** Where an orchestrator gets time, ids and chance, and where its events go. All have working defaults. */
export interface Ports {
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly random?: Random;
  /** Hears the events of every run. */
  readonly events?: EventSink;
  /** Hears what listeners threw and what came too late. @default console.error */
  readonly onProblem?: ProblemReporter;
}

/** What a run has to store, as one append. */
export interface Commit<State> {
  readonly state: State;
  /** The step that was recorded, where one was. */
  readonly result?: StepResult | undefined;
  /** All numbered events since the commit before. */
  readonly events: readonly BaseEvent[];
}

/** What one run is given. `Event` is the union that listeners get; an orchestrator with events of its own widens it. */
export interface RunOptions<State = RunState, Context = unknown, Event extends BaseEvent = LoopEvent> {
  readonly context?: Context | undefined;
  /** Cuts the run off: work in flight is abandoned, the step is recorded with what it had. */
  readonly signal?: AbortSignal | undefined;
  /** Hears this run's events only. */
  readonly onEvent?: Callback<[event: Event], unknown> | undefined;
  /** Stores each step before the next begins. A rejection ends the run and rejects it. */
  readonly commit?: Callback<[commit: Commit<State>], void | Promise<void>>;
  /** Puts an engine between the run and its effects. */
  readonly effects?: (direct: Effects) => Effects;
  /** The step that this run is part of: it shares that step's budget, end, effects and events. */
  readonly inside?: OuterStep | undefined;
  /** Names an execution that begins with this run; whoever journals effects gives the same name at every attempt. */
  readonly executionId?: string | undefined;
  /** Asked before each step, the first included. */
  readonly between?: Callback<[state: State], Between<State> | Promise<Between<State>>> | undefined;
}

/** What is done between two steps: nothing, going on with another state (a message that came meanwhile), or leaving it there. */
export type Between<State> = undefined | { readonly state: State } | { readonly leave: true };

/** Who an event is about. */
export interface EventSubject {
  readonly agentId: string;
  readonly parentAgentId: string | undefined;
  readonly executionId: string;
  readonly stepNumber: number;
  /** Whose turn it is, where several take turns. */
  readonly participant?: string | undefined;
}

const noSinks: ReadonlySet<EventSink> = new Set();

/** Work that did not end when it was told to. */
export const abandoned: unique symbol = Symbol('abandoned');

/** How long interrupted work may take to hand in what it has; less for a run inside another, so that the outer one hears of it in time. */
const graceMs = (depth: number): number => 50 * 0.8 ** depth;

export interface RunScope<State, Context> {
  readonly context: Context;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
  readonly control: RunControl;
  readonly effects: Effects;
  /** The step that this run is part of. */
  readonly inside: OuterStep | undefined;
  /** Who hears this run's events, and those of the runs around it. */
  readonly sinks: ReadonlySet<EventSink>;
  readonly lastSeq: number;
  /** Takes a number for an event of a run inside. */
  nextSeq(): number;
  dropSeq(): void;
  /** The header of the next numbered event; good until the next one is asked for. */
  header(subject: EventSubject, at?: number): EventHeader;
  /** The header of a piece of something larger: it carries the last number and is never stored. */
  pieceHeader(subject: EventSubject): EventHeader;
  /** Tells a numbered event now, and keeps it for the next commit. */
  tell(event: BaseEvent): void;
  /** Makes a numbered event and tells it. A number that no event got is used again. */
  tellNew(subject: EventSubject, make: (header: EventHeader) => BaseEvent): void;
  /** Tells a piece. */
  tellPiece(event: BaseEvent): void;
  /** Stores a state with the events since the last commit, then tells the new ones: nothing is told that was not kept. */
  commit(state: State, events: readonly BaseEvent[], result?: StepResult): State | Promise<State>;
  /** Reports what went wrong without harm to the run. */
  report(error: unknown, where: string): void;
  /** Waits for work; once the run is interrupted, for a moment only. */
  untilAbandoned<Value>(work: Promise<Value>): Promise<Value | typeof abandoned>;
  /** Lets another step begin after a deadline cut the last one off. */
  renew(): void;
  readonly executionId: string | undefined;
  /** Undefined where nobody wants to be asked between steps. */
  readonly between: ((state: State) => Between<State> | Promise<Between<State>>) | undefined;
  /** Keeps something to let go of when the run ends. */
  onClose(call: () => void): void;
  close(): void;
}

// A sink of the host's own may throw; that is no concern of the run.
function emitSafely(sink: EventSink, event: BaseEvent, onProblem: ProblemReporter): void {
  try {
    sink.emit(event);
  } catch (error) {
    reportSafely(onProblem, error, `the sink of ${event.type}`);
  }
}

export function createRunScope<State extends RunState, Context, Event extends BaseEvent>(
  given: State,
  options: RunOptions<State, Context, Event>,
  ports: Ports & { readonly control?: RunControl },
): RunScope<State, Context> {
  const { clock = systemClock, random = systemRandom, events: sink, onProblem = reportToConsole } = ports;
  const ids = options.inside?.ids ?? ports.ids ?? systemIds;
  const control = ports.control ?? createRunControl(options.signal);
  const { inside } = options;
  const direct = inside === undefined ? createDirectEffects({ clock, control, onProblem }) : createInnerEffects(inside.effects, control);
  const closing: (() => void)[] = inside === undefined ? [] : [linkControl(control, inside.control)];
  let uncommitted: BaseEvent[] = [];
  let seq = inside?.lastSeq ?? given.data.lastSeq;
  // A run inside another takes its numbers from that one's line.
  const nextSeq = (): number => (seq = inside?.isOpen === true ? inside.nextSeq() : seq + 1);
  const dropSeq = (): void => {
    if (inside?.isOpen === true) inside.dropSeq();
    seq -= 1;
  };
  let pieces = 0;

  // One grace per interruption: after it no further step begins, unless the interruption is renewed.
  let cancelGrace: (() => void) | undefined;
  const waiting = new Set<(value: typeof abandoned) => void>();
  control.onInterrupt(() => {
    cancelGrace = clock.schedule(graceMs(inside?.depth ?? 0), () => {
      for (const resolve of waiting) resolve(abandoned);
    });
  });
  const untilAbandoned = <Value>(work: Promise<Value>): Promise<Value | typeof abandoned> =>
    new Promise((resolve, reject) => {
      waiting.add(resolve);
      work.then(
        (value) => {
          waiting.delete(resolve);
          resolve(value);
        },
        (error: unknown) => {
          waiting.delete(resolve);
          reject(error);
        },
      );
    });

  const header: { -readonly [Key in keyof EventHeader]: EventHeader[Key] } = {
    id: '',
    seq: 0,
    at: 0,
    agentId: '',
    executionId: '',
    stepNumber: 0,
    participant: undefined,
  };
  const headerOf = (subject: EventSubject, id: string, at: number): EventHeader => {
    // One header serves all events of the run: an event copies what it needs of it, and there are many.
    header.id = id;
    header.seq = seq;
    header.at = at;
    header.agentId = subject.agentId;
    header.executionId = subject.executionId;
    header.stepNumber = subject.stepNumber;
    // What is told inside a turn is told in the name of whose turn it is.
    header.participant = subject.participant ?? inside?.participant;
    if (subject.parentAgentId !== undefined) header.parentAgentId = subject.parentAgentId;
    return header;
  };

  // An agent that is its own sub-agent, or shares a bus with one, is told once.
  const isHeardOutside = sink !== undefined && inside?.sinks.has(sink) === true;
  const sinks: ReadonlySet<EventSink> = sink === undefined ? (inside?.sinks ?? noSinks) : new Set([...(inside?.sinks ?? []), sink]);
  const tellHere = (event: BaseEvent): void => {
    if (sink !== undefined && !(isHeardOutside && inside.isOpen)) emitSafely(sink, event, onProblem);
    // Holds because an orchestrator's union names all that its own rooms tell.
    if (options.onEvent !== undefined) tellListener(options.onEvent, event as Event, onProblem);
  };
  const tellPiece = (event: BaseEvent): void => {
    tellHere(event);
    if (inside?.isOpen === true) inside.tellPiece(event);
  };
  const tellNumbered = (event: BaseEvent): void => {
    tellHere(event);
    if (inside?.isOpen === true) inside.tell(event);
  };
  const tellAll = (events: readonly BaseEvent[]): void => {
    for (const event of events) tellNumbered(event);
  };

  const scope: RunScope<State, Context> = {
    // Holds because a host whose process wants a context has to give one; see the typed doors above.
    context: options.context as Context,
    clock,
    ids,
    random,
    control,
    effects: options.effects?.(direct) ?? direct,
    inside,
    sinks,
    get lastSeq() {
      return seq;
    },
    nextSeq,
    dropSeq,
    header: (subject, at = clock.now()) => {
      nextSeq();
      pieces = 0;
      return headerOf(subject, `${subject.executionId}/${seq}`, at);
    },
    pieceHeader: (subject) => {
      if (inside?.isOpen === true) seq = inside.lastSeq;
      pieces += 1;
      return { ...headerOf(subject, `${subject.executionId}/${seq}.${pieces}`, clock.now()) };
    },
    tell: (event) => {
      if (options.commit !== undefined) uncommitted.push(event);
      tellNumbered(event);
    },
    tellNew: (subject, make) => {
      let event: BaseEvent;
      // A copy: what others do with it is not known.
      const copy = { ...scope.header(subject) };
      try {
        event = make(copy);
      } catch (error) {
        dropSeq();
        throw error;
      }
      scope.tell(event);
    },
    tellPiece,
    commit: (state, events, result) => {
      const stored = options.commit?.({ state, result, events: [...uncommitted, ...events] });
      uncommitted = [];
      // Any thenable, not only a native promise: stores hand out their own kinds.
      if (stored !== undefined) {
        return Promise.resolve(stored).then(() => {
          tellAll(events);
          return state;
        });
      }
      tellAll(events);
      return state;
    },
    report: (error, where) => {
      reportSafely(onProblem, error, where);
    },
    untilAbandoned,
    executionId: options.executionId,
    between: options.between,
    onClose: (call) => {
      closing.push(call);
    },
    renew: () => {
      cancelGrace?.();
      control.renew();
    },
    close: () => {
      cancelGrace?.();
      for (const call of closing) call();
      control.close();
    },
  };
  return scope;
}
