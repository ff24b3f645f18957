// A step that has a run inside it.
// Owns:     what the two share: budget, end, effects and the line of events.
// Does not: know why there is a run inside.
// I1. What is spent inside counts outside at once, and once.
// I2. What ends the outer run ends the inner one, for the same reason.
// I3. Limits outside bind the inner run as if its steps were the outer one's.
// I4. Once the outer step is over, nothing from inside is told or counted any more.
import type { Effects } from '../effects/index.ts';
import type { ContinuationEvaluation } from '../continuation/index.ts';
import type { BaseEvent, EventSink } from '../events/index.ts';
import type { PriceOf } from '../inference/index.ts';
import type { IdSource } from '../lib/index.ts';
import type { Usage } from '../messages/index.ts';
import type { RunControl } from './run-control.ts';
import type { Cost } from './step.ts';

/** What was used up. */
export interface Spent {
  readonly usage: Usage;
  readonly cost?: Cost | undefined;
}

/** What a step says about itself to a run inside it. */
export interface NestOptions {
  /** What the step itself has spent that its state does not show yet. */
  readonly own: Spent;
  /** Names what is made inside. */
  readonly ids?: IdSource;
  /** Leads back to the call that the run stands in: what is waited for inside has this before its id. */
  readonly path?: string;
  /** True where somebody asks what things cost: what has no price inside is then unknown, not free. @default false */
  readonly watchesCost?: boolean;
  /** What usage costs, for a run inside that does not know it. */
  readonly price?: PriceOf | undefined;
}

/** What a step offers to a run inside it. Pass it on as the run's `inside`. */
export interface OuterStep {
  /** Who the outer run is about. */
  readonly agentId: string;
  readonly executionId: string;
  /** How deep the run inside is: 1 for one whose outer run is inside of none. */
  readonly depth: number;
  /** True where somebody outside asks what things cost. */
  readonly watchesCost: boolean;
  /** What usage costs, for whoever does not know it. */
  readonly price?: PriceOf | undefined;
  /** Stands before the id of what is waited for inside, seen from the top. */
  readonly path: string;
  /** Whose turn the outer step is, where several take turns. */
  readonly participant?: string | undefined;
  /** Who hears what is told outside; nobody hears it twice. */
  readonly sinks: ReadonlySet<EventSink>;
  /** Names what is made inside; the same names at every attempt. @default the inner run's own source */
  readonly ids?: IdSource;
  /** False once the outer step is over. */
  readonly isOpen: boolean;
  readonly effects: Effects;
  readonly control: Pick<RunControl, 'signal' | 'interruption' | 'stopRequest' | 'onInterrupt' | 'onEnding'>;
  readonly lastSeq: number;
  /** The next number in the outer run's line of events. */
  nextSeq(): number;
  /** Gives the last number back, for which there is no event after all. */
  dropSeq(): void;
  tell(event: BaseEvent): void;
  tellPiece(event: BaseEvent): void;
  spend(spent: Spent): void;
  /** From now until the returned call, time counts as waiting outside, too. */
  beginWaiting(options?: { readonly forPerson?: boolean }): () => void;
  /** What the limits outside, and votes that were cast there, say of a step inside that has spent this much more. */
  limitVotes(more: Spent): readonly ContinuationEvaluation[];
}

/** Lets the inner run end when the outer one does, for the same reason. Returns what lets go of it. */
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
