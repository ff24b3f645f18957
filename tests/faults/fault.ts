// A fault, staged on purpose, and the truth about it.
// Owns:     the form of a row of the table.
// Does not: say how an explanation or an event line words the truth: facts are names, numbers and the words of a cause.

/** A fact that a text has to state: these words, or a text that this expression matches. */
export type Fact = string | RegExp;

/** The truth about a fault. */
export interface Truth {
  readonly status: 'completed' | 'stopped' | 'waiting' | 'failed';
  /** Name of the rule that decided; left out if something is waited for in the middle of a step, which no rule decides. */
  readonly rule?: string;
  /** The cause and its numbers. One event line has to state all of it, together with the rule. */
  readonly reason: readonly Fact[];
  /** Number of the step that it happened in. */
  readonly step?: number;
  /** Other facts that a reader needs: who did it, what failed on the way. */
  readonly also?: readonly Fact[];
  /** Facts that only an explanation has to state. */
  readonly explained?: readonly Fact[];
  /** Facts that only the event lines have to state: they belong to the history, not to the end. */
  readonly logged?: readonly Fact[];
  /** Things that would be untrue. */
  readonly untrue?: readonly Fact[];
}

/** Texts of a staged fault. */
export interface Staged {
  readonly explanation: string;
  /** `String(event)` of each emitted event, in order. */
  readonly lines: readonly string[];
  /** Lines that `logEvents` prints: those without the details. */
  readonly log: readonly string[];
  /** `formatStoredEvent(event)` of each stored event, in order; only sessions store events. */
  readonly stored?: readonly string[];
}

/** One row of the table. */
export interface Fault {
  readonly name: string;
  readonly stage: () => Promise<Staged>;
  readonly truth: Truth;
}
