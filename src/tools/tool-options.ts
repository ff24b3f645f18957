import type { EffectClass } from '../effects/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { ModelOutput, Reconciled, ShownCall } from './tool.ts';
import type { ApprovalContext, ContextType, ReconcileContext, ToolContext } from './tool-context.ts';
import type { AfterParsing, ArgsOf, BeforeParsing } from './tool-input.ts';

type IsAny<Type> = 0 extends 1 & Type ? true : false;

type NoValue = ReturnType<() => void>;

// What an iterable ends with counts where it is said to be something.
type Last<Yielded, Final> = IsAny<Final> extends true ? Yielded : Yielded | (Final extends undefined | NoValue ? never : Final);

type Result<Value> = Value extends AsyncIterable<infer Yielded, infer Final> ? Last<Yielded, Final> : Value;

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;

/** What a tool's `run` may hand back: its result, now or later, or its progress one by one with the result last. */
export type ToolReturn<Value> = Value | PromiseLike<Value> | AsyncIterable<Value> | PromiseLike<AsyncIterable<Value>>;

interface SharedOptions<Input> {
  /** What the model calls it by: letters, digits, "_" and "-", at most 64. */
  readonly name: string;
  /** Tells the model what the tool is for. */
  readonly description: string;
  /** Describes the arguments: a Standard Schema that has a JSON form, or a JSON Schema. */
  readonly input: Input;
  /** Passed on to the provider with the tool, by provider name: prompt caching, for instance. */
  readonly providerOptions?: JsonObject;
}

/** Says what the result is. */
export interface OutputOption<Output> {
  /** Describes the result; one that does not fit fails the call. */
  readonly output: Output;
}

/** Says what the model sees of the result. */
export interface ShownOption<Final> {
  /** What the model is shown of the result. @default the result itself */
  readonly toModelOutput?: (result: Final, call: ShownCall) => ModelOutput | PromiseLike<ModelOutput>;
}

/** How a tool that runs here is declared. */
export interface FunctionToolOptions<Input, Returned, Raw, Context> extends SharedOptions<Input> {
  /** Says what the tool needs of its host: `contextOf<{ db: Db }>()`. */
  readonly context?: ContextType<Context>;
  /** Does the work. Give an async iterable to tell progress on the way: its last value is the result. */
  readonly run: (args: ArgsOf<Input>, ctx: ToolContext<Context>) => Returned;
  /** How long the work may take. @default no limit of its own */
  readonly timeoutMs?: number;
  /** What becomes of a call that was cut off. @default 'once' */
  readonly effect?: EffectClass;
  /** Whether a person must agree first. @default false */
  readonly needsApproval?: boolean | ((args: ArgsOf<Input>, ctx: ApprovalContext<Context>) => boolean);
  /** Finds out what became of a call that was cut off. */
  readonly reconcile?: (idempotencyKey: string, ctx: ReconcileContext<Context>) => Reconciled<Raw> | PromiseLike<Reconciled<Raw>>;
}

/** How a tool is declared that somebody outside carries out. */
export interface ClientToolOptions<Input, Output>
  extends SharedOptions<Input>, Partial<OutputOption<Output>>, ShownOption<AfterParsing<Output>> {
  readonly run?: undefined;
  readonly timeoutMs?: undefined;
  readonly effect?: undefined;
  readonly needsApproval?: undefined;
  readonly reconcile?: undefined;
  readonly context?: undefined;
}

/** What `run` hands back in the end. */
export type FinalResult<Returned> = Result<Awaited<NoInfer<Returned>>>;
/** What `run` must hand back so that its output schema can parse it. */
export type RawResult<Output> = DeepReadonly<BeforeParsing<Output>>;
