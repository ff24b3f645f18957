// The state and open effects that the rows of one execution add up to.
// Owns:     the state after the last commit, the effects of the open step, and the number of attempts at it.
// Does not: run or record anything: the same rows give the same result in every attempt.
import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError } from '../lib/index.ts';
import type { RunState, StateType } from '../step-by-step/index.ts';
import type { CommitRow, EndRow, JournalRow } from './journal-row.ts';
import type { EffectRow } from './journal.ts';

export class FoldedRows<State extends RunState> {
  readonly #states: StateType<State>;
  #state: State | undefined;
  #effects: EffectRow[] = [];
  /** Start of the wall clock. */
  startedAt: number | undefined;
  /** Number of steps that were recorded or parked. */
  stepCount = 0;
  /** Number of attempts that have started since the last commit. */
  #marks = 0;
  #marksSinceSleep: number | undefined;
  /** The row that closes the list. */
  end: EndRow | undefined;

  constructor(states: StateType<State>) {
    this.#states = states;
  }

  /** Undefined until the execution has started. */
  get state(): State | undefined {
    return this.#state;
  }
  /** Effects of the open step. */
  get effects(): readonly EffectRow[] {
    return this.#effects;
  }
  /** True if the engine has slept since the last commit. */
  get hasSlept(): boolean {
    return this.#marksSinceSleep !== undefined;
  }
  /** Number of the attempt at the open step. */
  get stepAttempt(): number {
    return this.#marks + 1;
  }
  /** True if an earlier attempt ended in the open step. The first attempt after a sleep may just be how the engine wakes up. */
  get isResumed(): boolean {
    return this.#marks > 0 && !(this.#marksSinceSleep === 1 && this.#marks === 1 && this.#effects.length === 0);
  }

  /** Adds a row. `known` is the state after the commit, if the caller has it. */
  add(row: JournalRow, known?: State): void {
    if ('attempt' in row) this.#addMark();
    else if ('start' in row) this.#begin(this.#states.decode(row.start), row.at);
    else if ('effect' in row) this.#effects.push(row.effect);
    else if ('commit' in row) this.#commit(row, known);
    else if ('sleepMs' in row) this.#addSleep(row.sleepMs);
    else this.end = row;
  }

  /** Returns the change from the current state to this one. */
  diff(state: State): JsonObject {
    return this.#states.diff(this.#getState(), state);
  }

  #begin(state: State, at: number): void {
    this.#state = state;
    this.startedAt = at;
    this.#marks = 0;
  }

  #addMark(): void {
    this.#marks += 1;
    if (this.#marksSinceSleep !== undefined) this.#marksSinceSleep += 1;
  }

  #commit({ commit, open }: CommitRow, known: State | undefined): void {
    this.#state = known ?? this.#states.patch(this.#getState(), commit);
    if (open === true) return;
    this.#effects = [];
    this.stepCount += 1;
    this.#marks = 0;
    this.#marksSinceSleep = undefined;
  }

  #addSleep(sleepMs: number): void {
    const state = this.#getState();
    const { execution } = state;
    this.#state = state.evolve({ execution: { ...execution, waitedMs: execution.waitedMs + sleepMs } });
    this.#marksSinceSleep = 0;
  }

  #getState(): State {
    if (this.#state === undefined) throw new DamagedDataError('the journal', 'expected a start row before all others');
    return this.#state;
  }
}
