import type { StateLines } from './codec/lines.ts';
import type { BaseEvent, EventOfType, Unsubscribe } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { Message, MessageContent, Messages } from '../messages/index.ts';
import type { ArgsProblem } from '../tools/index.ts';
import type { LoopEvent } from './loop-events.ts';
import type { RunResult } from './run-result.ts';
import type { RunOptions } from './run-options.ts';
import type { NewStateOptions, RunState } from './run-state.ts';

/** A run in progress. Iterate it for its events; leaving the loop detaches and stops nothing. */
export interface Run<
  State extends RunState = RunState,
  Output = unknown,
  Event extends BaseEvent = BaseEvent,
> extends AsyncIterable<Event> {
  /** Settles without a reader; rejects only for misuse or a failing store. */
  readonly result: Promise<RunResult<State, Output>>;
  /** Ends the run at the next boundary; the step in progress is finished first. */
  requestStop(reason?: string): void;
}

/** Arguments of a run after its input. The options may be left out unless a context is needed. */
export type RunArgs<State, Context, Event extends BaseEvent = LoopEvent> = unknown extends Context
  ? readonly [options?: RunOptions<State, Context, Event>]
  : readonly [options: RunOptions<State, Context, Event> & { readonly context: Context }];

/** A kind of state: creates empty ones, recognizes, stores and loads them. */
export interface StateType<State extends RunState = RunState> {
  /** Name of the kind in stored data. */
  readonly kind: string;
  empty(options?: NewStateOptions): State;
  is(value: unknown): value is State;
  encode(state: State): unknown;
  decode(stored: unknown): State;
  stringify(state: State): string;
  parse(text: string): State;
  /** Writes a state as JSON text in lines, so that a long one need not be read whole. Without it, `stringify` is used. */
  stringifyLines?(state: State): string;
  /** Reads a state that was written in lines. */
  decodeLines?(stored: StateLines): State;
  /** Returns the change since an earlier state of the same conversation. */
  diff(before: State, after: State, messages?: readonly JsonObject[]): JsonObject;
  /** Applies a change; `messages` are those that the log stores elsewhere. */
  patch(before: State, change: unknown, messages?: readonly JsonObject[]): State;
  /** Returns the conversation as one of its participants reads it, if several take turns. */
  viewMessages?(state: State, participant: string): Messages;
}

/** The loop over one kind of step, with its drivers. */
export interface StepByStep<State extends RunState = RunState, Output = unknown, Context = unknown, Event extends BaseEvent = BaseEvent> {
  /** Kind of orchestrator in events: `agent`, `tool-use`, `chat`, … */
  readonly name: string;
  /** True if a run would take a step. Has no side effects. */
  hasNextStep(state: State): boolean;
  /** Takes one step; the wall clock starts again with each. Returns the same state if there is nothing to do. */
  nextStep(state: State, ...args: RunArgs<State, Context, Event>): Promise<State>;
  /** Takes steps until there is a reason to stop or to wait. */
  run(state: State, ...args: RunArgs<State, Context, Event>): Promise<State>;
  /** Yields the state after every step, the last one included. Lazy: takes a step when the next state is asked for. */
  iterate(state: State, ...args: RunArgs<State, Context, Event>): AsyncGenerator<State, void, undefined>;
  /** Starts a run at once. */
  start(input: State, ...args: RunArgs<State, Context, Event>): Run<State, Output, Event>;
  /** Returns the result of a run that ended with this state. The output is parsed again from what is stored. */
  toResult(state: State): Promise<RunResult<State, Output>>;
}

/**
 * Anything that runs: an agent, a chat, a collaboration, ToolUse. Stateless and reusable: one may run any number of states side by
 * side. Without type arguments it is the type for hosts that hold several of any kind; they have to know which contexts are needed.
 */
export interface Orchestrator<
  State extends RunState = RunState,
  Output = unknown,
  Context = unknown,
  Event extends BaseEvent = BaseEvent,
> extends StepByStep<State, Output, Context, Event> {
  /** Name of this orchestrator in stored records. */
  readonly id: string;
  readonly version: string | undefined;
  /** Equal for two orchestrators with the same configuration. Stored with each execution. */
  readonly fingerprint: string;
  /** True if a run needs a context. */
  readonly needsContext: boolean;
  readonly states: StateType<State>;
  /** Starts a run at once, with a user message or with a state. */
  start(input: MessageContent | Message | State, ...args: RunArgs<State, Context, Event>): Run<State, Output, Event>;
  /** Reads a stored state. */
  restore(stored: unknown): State;
  /**
   * Returns why one of its tools cannot run with these arguments: they are not valid, or there is no such tool. `agent` is the path of
   * the nested run that made the call. An object says that it can, but that the tool's schema changes them.
   */
  checkArgs(toolName: string, args: unknown, agent?: string): Promise<ArgsProblem | undefined>;
  /** Listens to one type of event in all runs. */
  onEvent<Type extends Event['type']>(type: Type, listener: (event: EventOfType<Event, Type>) => unknown): Unsubscribe;
  /** Listens to all events of all runs. */
  wiretap(listener: (event: Event) => unknown): Unsubscribe;
}

type OptionsOf<Given> = Given extends { run(state: never, options: infer Options): unknown } ? NonNullable<Options> : never;
// Distributes over a union: several orchestrators together need the contexts of all of them.
type TakesContext<Given> = Given extends unknown
  ? OptionsOf<Given> extends { readonly context?: infer Context }
    ? (context: Exclude<Context, undefined>) => void
    : never
  : never;

/** The context that an orchestrator needs; of a union, the contexts of all of them. */
export type InferContext<Given> = [TakesContext<Given>] extends [(context: infer Context) => void] ? Context : unknown;

/** The events of an orchestrator. */
export type InferEvent<Given> = Given extends { wiretap(listener: (event: infer Event) => unknown): unknown } ? Event : never;

/** The state of an orchestrator. */
export type InferState<Given extends Orchestrator> = ReturnType<Given['states']['empty']>;

/** The output of an orchestrator's completed results. */
export type InferOutput<Given> = Given extends { toResult(state: never): Promise<infer Result> }
  ? Extract<Result, { readonly status: 'completed' }> extends { readonly output: infer Output }
    ? Output
    : never
  : never;
