// A run in progress: its time, ids, effects, events, and who may end it.
// Owns:     everything that has to be released when the run ends.
// Does not: hold the state.
// A1. After `close` no timer and no listener of this run is left.
import type { StopRequest } from '../continuation/index.ts';
import type { Effects } from '../effects/index.ts';
import { createDirectEffects, createInnerEffects } from '../effects/index.ts';
import type { BaseEvent, ProblemReporter } from '../events/index.ts';
import { reportToConsole } from '../events/index.ts';
import type { RequestRecorder } from '../inference/index.ts';
import type { Clock, IdSource, Random } from '../lib/index.ts';
import { systemClock, systemIds, systemRandom } from '../lib/index.ts';
import type { OuterStep, WaitingTime } from './outer-step.ts';
import { linkControl } from './outer-step.ts';
import type { RunControl } from './run-control.ts';
import { RunEvents } from './run-events.ts';
import type { EngineOptions, Ports, RunOptions } from './run-options.ts';
import type { RunState } from './run-state.ts';

/** Stands for work that did not end when it was told to. */
export const abandoned: unique symbol = Symbol('abandoned');

/** Time that interrupted work has to hand in its result; less for a run inside another, so that the outer one gets it in time. */
const getGraceMs = (depth: number): number => 50 * 0.8 ** depth;

const noWaiting = (): void => undefined;

export class ActiveRun<State, Context> {
  readonly context: Context;
  readonly options: EngineOptions<State>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
  readonly onProblem: ProblemReporter;
  /** The reporter that came with the run; runs inside it use it too. */
  readonly givenOnProblem: ProblemReporter | undefined;
  readonly control: RunControl;
  readonly effects: Effects;
  readonly events: RunEvents;
  readonly requests: RequestRecorder | undefined;
  /** Time of the step that is open. */
  stepTime: WaitingTime | undefined;
  /** The step that this run is part of. */
  readonly outer: OuterStep | undefined;
  /** Calls back when the run ends. */
  readonly onClose: (() => void)[] = [];
  /** Ends the wait for the work in progress; of one that is over, without effect. */
  #abandon: ((value: typeof abandoned) => void) | undefined;
  #cancelGrace: (() => void) | undefined;
  #resumesStep: boolean;
  #stepAttempt: number;

  constructor(
    state: RunState,
    options: RunOptions<State, Context, BaseEvent>,
    { control, agentName, ...ports }: Ports & { readonly control: RunControl; readonly agentName?: string | undefined },
  ) {
    const { inside: outer, onEvent } = options;
    const { random = systemRandom, events: sink } = ports;
    this.givenOnProblem = options.onProblem ?? outer?.onProblem;
    const onProblem = this.givenOnProblem ?? ports.onProblem ?? reportToConsole;
    const clock = options.clock ?? outer?.time.clock ?? ports.clock ?? systemClock;
    // Holds because a host whose process needs a context has to give one; the typed orchestrators see to it.
    this.context = options.context as Context;
    this.options = options;
    this.#resumesStep = options.resumesStep === true;
    this.#stepAttempt = options.stepAttempt ?? 1;
    this.clock = clock;
    this.ids = outer?.ids ?? options.ids ?? ports.ids ?? systemIds;
    this.random = random;
    this.onProblem = onProblem;
    this.control = control;
    this.outer = outer;
    this.requests = options.requests ?? outer?.requests;
    const direct = outer === undefined ? createDirectEffects({ clock, control, onProblem }) : createInnerEffects(outer.effects, control);
    this.effects = options.effects?.(direct, { beginWaiting: (waiting) => this.stepTime?.beginWaiting(waiting) ?? noWaiting }) ?? direct;
    this.events = new RunEvents({
      lastSeq: state.data.lastSeq,
      sessionId: options.sessionId ?? state.id,
      agentName: outer?.name ?? agentName,
      clock,
      outer,
      sink,
      onEvent: onEvent,
      onProblem,
      isStored: options.commit !== undefined,
    });
    if (outer !== undefined) this.onClose.push(linkControl(control, outer.control));
    // One grace per interruption: after it no further step starts, unless the interruption is renewed.
    control.onInterrupt(() => {
      this.#cancelGrace = clock.schedule(getGraceMs(outer?.depth ?? 0), () => {
        this.#abandon?.(abandoned);
      });
    });
  }

  /** The request to stop, with what the host knows about it. */
  get stopRequest(): StopRequest | undefined {
    const { stopRequest } = this.control;
    return stopRequest === undefined ? undefined : { ...stopRequest, ...this.options.stoppedBy?.() };
  }

  /** Facts about a process that ended in the first step of this run; they are returned once. */
  takeResumed(): { readonly resumed: boolean; readonly attempt: number } {
    const facts = { resumed: this.#resumesStep, attempt: this.#stepAttempt };
    this.#resumesStep = false;
    this.#stepAttempt = 1;
    return facts;
  }

  /** Waits for work, one at a time; once the run is interrupted, only for a moment. */
  untilAbandoned<Value>(work: Promise<Value>): Promise<Value | typeof abandoned> {
    return new Promise((resolve, reject) => {
      this.#abandon = resolve;
      // Any thenable, not only a native promise: a producer returns its own kind.
      Promise.resolve(work).then(resolve, reject);
    });
  }

  /** Allows another step after a deadline interrupted the last one. */
  renew(): void {
    this.#cancelGrace?.();
    this.control.renew();
  }

  close(): void {
    this.#cancelGrace?.();
    for (const call of this.onClose) call();
    this.control.close();
  }
}
