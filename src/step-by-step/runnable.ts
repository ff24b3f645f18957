import type { BaseEvent } from '../events/index.ts';
import type { LoopEvent } from './loop-events.ts';
import type { RunOptions } from './run-scope.ts';
import type { RunState } from './run-state.ts';

/** A run that is under way. Iterate it for its events; leaving the loop detaches and stops nothing. */
export interface Run<State, Event extends BaseEvent = LoopEvent> extends AsyncIterable<Event> {
  /** The state that the run ends with. Settles without a reader; rejects only for misuse or a failing store. */
  readonly result: Promise<State>;
  /** Ends the run at the next boundary; the step under way is finished first. */
  requestStop(reason?: string): void;
}

/** What a run is given. Its context must be among it, unless anything will do. */
export type RunArgs<State, Context, Event extends BaseEvent = LoopEvent> = unknown extends Context
  ? readonly [options?: RunOptions<State, Context, Event>]
  : readonly [options: RunOptions<State, Context, Event> & { readonly context: Context }];

/** Anything that takes a state and carries it on: all orchestrators have this form, and sessions ask for no more. */
export interface Runnable<State extends RunState = RunState, Context = unknown, Event extends BaseEvent = LoopEvent> {
  readonly name: string;
  /** Whether a run would take a step. No side effects. */
  hasNextStep(state: State): boolean;
  /** Takes one step; a state with nothing to do comes back as it is. */
  nextStep(state: State, ...args: RunArgs<State, Context, Event>): Promise<State>;
  /** Takes steps until there is a reason to stop, or somebody to wait for. */
  run(state: State, ...args: RunArgs<State, Context, Event>): Promise<State>;
  /** The state after every step, the last one included. Lazy: a step is taken when the next state is asked for. */
  iterate(state: State, ...args: RunArgs<State, Context, Event>): AsyncGenerator<State, void, undefined>;
  /** Begins at once and tells what happens. */
  stream(state: State, ...args: RunArgs<State, Context, Event>): Run<State, Event>;
}
