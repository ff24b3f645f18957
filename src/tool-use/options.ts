import type { ContinuationCriterion } from '../continuation/index.ts';
import type { ErrorPolicy } from '../errors/index.ts';
import type { EventBus, EventSink } from '../events/index.ts';
import type { Model, ModelSettings, ModelTimeouts, PriceOf } from '../inference/index.ts';
import type { Capability, Hook } from '../hooks/index.ts';
import type { Limits, Ports, RunState } from '../step-by-step/index.ts';
import type { AfterParsing, ContextNeeded, ContextType, ToolInput, Tools } from '../tools/index.ts';
import type { Driver } from './driver.ts';
import type { ToolUseEvent } from './tool-use-events.ts';
import type { ToolEvent } from './typed-events.ts';

/** What instructions may be made from. */
export interface InstructionFacts<Context, State> {
  readonly context: Context;
  readonly state: State;
}

/** What the model is told to be, in words, or made anew for each step. */
export type Instructions<Context, State> = string | ((facts: InstructionFacts<Context, State>) => string);

/** The budgets of one execution, and the guard against a model that goes round in circles. */
export interface ToolUseLimits extends Limits {
  /** Ends the run when the same tool was called with the same arguments in that many steps in a row. @default not watched */
  readonly repeatedToolCalls?: number;
}

/** What a conversation with tools is made from. */
export interface ToolUseOptions<
  State extends RunState,
  Context = unknown,
  Given extends Tools = Tools,
  Output extends ToolInput = ToolInput,
  Capabilities extends readonly Capability<Tools, State>[] = readonly Capability<Tools, State>[],
> {
  readonly model: Model;
  /** Asked in turn where the model is busy, slow or broken. */
  readonly fallback?: readonly Model[];
  readonly settings?: ModelSettings;
  /** How long a model may keep us waiting. */
  readonly timeouts?: ModelTimeouts;
  /** Says what the host gives with each run: `contextOf<{ db: Db }>()`. Never stored. */
  readonly context?: ContextType<Context>;
  readonly tools?: Given;
  readonly instructions?: Instructions<Context & ContextNeeded<Given>, State>;
  /** The form of the final answer; one that does not fit is a validation failure, which the policy may retry. */
  readonly output?: Output;
  readonly limits?: ToolUseLimits;
  /** What happens after a failure. */
  readonly errors?: ErrorPolicy;
  /** Finish reasons that end the run. @default [] */
  readonly finishReasons?: readonly string[];
  /** Rules of your own; they stand behind the built-in ones. */
  readonly criteria?: readonly ContinuationCriterion<State>[];
  /** Functions of your own at the points of a step; make them with defineHook(). */
  readonly hooks?: readonly Hook<State, NoInfer<Context & ContextNeeded<Given>>>[];
  /** Bundles of tools, hooks, rules and words; each can be put in once. */
  readonly capabilities?: Capabilities;
  /** How a step is got out of the model. @default toolCallingDriver() */
  readonly driver?: Driver;
  /** What usage costs; without it, costs are unknown. */
  readonly price?: PriceOf;
  /** What becomes of a call whose end nobody saw: the model is told, or a person is asked. @default 'tell' */
  readonly onUnknown?: 'tell' | 'ask';
  /** How many calls of a step run at once. @default 8 */
  readonly toolConcurrency?: number;
  /** False asks for each answer in one piece. @default true */
  readonly streaming?: boolean;
  /** Where its events go; one bus may serve several. @default a bus of its own */
  readonly events?: EventBus<ToolEvent<Given>> | EventBus<ToolEvent> | EventBus<ToolUseEvent>;
  /** Where time, ids and chance come from, and who hears of problems. */
  readonly ports?: Omit<Ports, 'events'>;
}

/** The parsed type of an output schema; undefined if none was given. */
export type ParsedOutput<Output> = [ToolInput] extends [Output] ? undefined : AfterParsing<Output>;

/** Options of any conversation with tools, without the types of its context, tools and events. */
export interface AnyToolUseOptions<State extends RunState> extends Omit<
  ToolUseOptions<State, never>,
  'context' | 'capabilities' | 'events'
> {
  readonly context?: ContextType<unknown>;
  readonly capabilities?: readonly Capability[];
  readonly events?: EventSink<never>;
}
