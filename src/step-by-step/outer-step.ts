// A step that has a run inside it.
// Owns:     what the two share: budget, end, effects and events.
// Does not: know why there is a run inside.
// I1. What is spent inside counts outside at once, and once.
// I2. What ends the outer run ends the inner one, for the same reason.
// I3. Limits outside bind the inner run as if its steps were the outer one's.
// I4. Once the outer step is over, nothing from inside is emitted or counted any more.
import type { ContinuationEvaluation } from '../continuation/index.ts';
import type { Effects } from '../effects/index.ts';
import type { BaseEvent, EventSink, ProblemReporter } from '../events/index.ts';
import type { KnownView, PriceSource, RequestRecorder } from '../inference/index.ts';
import type { Clock, IdSource } from '../lib/index.ts';
import type { Usage } from '../messages/index.ts';
import type { RunControl } from './run-control.ts';
import type { Cost } from './step.ts';
import type { StepModels } from './step-models.ts';

/** Tokens and money that were used up. */
export interface Spent {
  readonly usage: Usage;
  readonly cost?: Cost | undefined;
}

/** Facts about a step for a run inside it. */
export interface NestOptions {
  /** Spending of the step itself that its state does not show yet. */
  readonly own: Spent;
  /** Ids of what is created inside. */
  readonly ids?: IdSource;
  /** Path to the call that the run belongs to: ids of waits inside begin with it. */
  readonly path?: string;
  /** True if a limit watches the cost: a call without a price is then unknown, not free. @default false */
  readonly watchesCost?: boolean;
  /** Prices for a run inside that has none. */
  readonly price?: PriceSource | undefined;
  /** Conversation that the run starts with, if the state of the step can tell it. */
  readonly view?: KnownView | undefined;
}

/** Counts time as waiting. */
export interface WaitingTime {
  /** Counts until the returned function is called: on the wall clock only, and nowhere if it is a person's time. */
  beginWaiting(options?: { readonly forPerson?: boolean }): () => void;
}

/** The budget that a run inside a step shares with it. */
export interface OuterBudget {
  /** True if a limit outside watches the cost. */
  readonly watchesCost: boolean;
  readonly price?: PriceSource | undefined;
  spend(spent: Spent): void;
  /** Evaluates the limits outside for a step inside that has spent this much more; evaluations that forbid outside are among them. */
  evaluateLimits(more: Spent): readonly ContinuationEvaluation[];
}

/** The outer run's line of events: a run inside takes its numbers from there. */
export interface OuterEvents {
  /** Receivers of the outer run's events; none of them gets an event twice. */
  readonly sinks: ReadonlySet<EventSink>;
  /** Id of the session, or of the state that the outermost run started from. */
  readonly sessionId: string;
  readonly lastSeq: number;
  nextSeq(): number;
  dropSeq(): void;
  emit(event: BaseEvent): void;
  emitPiece(event: BaseEvent): void;
}

/** The ports that a step shares with a run inside it. Pass it on as the run's `inside`. */
export interface OuterStep {
  readonly agentId: string;
  readonly executionId: string;
  /** Name of the agent inside. @default the one that it is configured with */
  readonly name?: string;
  /** Name of the participant whose turn the outer step is, if several take turns. */
  readonly participant?: string | undefined;
  /** 1 for a run whose outer run is not inside another. */
  readonly depth: number;
  /** Begins the id of every wait inside, seen from the top. */
  readonly path: string;
  /** Ids of what is created inside; the same at every attempt. @default the inner run's own source */
  readonly ids?: IdSource;
  /** False once the outer step is over. */
  readonly isOpen: boolean;
  /** True if no hook may be called inside. */
  readonly skipsHooks?: boolean;
  readonly effects: Effects;
  /** Receives errors that nobody waits for. @default the inner run's own */
  readonly onProblem?: ProblemReporter | undefined;
  readonly control: Pick<RunControl, 'signal' | 'interruption' | 'stopRequest' | 'onInterrupt' | 'onEnding'>;
  readonly events: OuterEvents;
  readonly budget: OuterBudget;
  /** Models that failed lately: a run inside skips them too, and adds its own. */
  readonly models: StepModels;
  /** Records what models are sent inside. */
  readonly requests?: RequestRecorder | undefined;
  /** The outer run's clock: both runs share it. */
  readonly time: WaitingTime & { readonly clock: Clock };
}

/** Returns the step for a run inside it by an agent of this name. */
export function withInnerName(outer: OuterStep, name: string): OuterStep {
  return {
    ...outer,
    name,
    get isOpen() {
      return outer.isOpen;
    },
  };
}

/** Ends the inner run when the outer one ends, for the same reason. Returns a function that unlinks them. */
export function linkControl(control: RunControl, outer: OuterStep['control']): () => void {
  const leaveInterrupt = outer.onInterrupt(() => {
    control.interrupt(outer.interruption ?? 'signal', outer.signal.reason);
  });
  const leaveEnding = outer.onEnding(() => {
    if (outer.interruption === undefined && outer.stopRequest !== undefined) control.requestStop(outer.stopRequest.reason);
  });
  return () => {
    leaveInterrupt();
    leaveEnding();
  };
}
