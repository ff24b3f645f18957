import type { ApprovalScope } from './approval-scope.ts';
import type { EffectClass } from '../effects/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { ModelOutput, ReconcileResult, ShownCall } from './tool.ts';
import type { ApprovalContext, ContextType, ReconcileContext, ToolContext } from './tool-context.ts';
import type { AfterParsing, ArgsOf, BeforeParsing } from './tool-input.ts';

type IsAny<Type> = 0 extends 1 & Type ? true : false;

type NoValue = ReturnType<() => void>;

// The value that an iterable returns counts if its type says anything.
type Last<Yielded, Final> = IsAny<Final> extends true ? Yielded : Yielded | (Final extends undefined | NoValue ? never : Final);

type Result<Value> = Value extends AsyncIterable<infer Yielded, infer Final> ? Last<Yielded, Final> : Value;

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;

/** Return value of a tool's `run`: its result or a promise of it, or an async iterable of progress whose last value is the result. */
export type ToolReturn<Value> = Value | AsyncIterable<Value> | PromiseLike<AsyncIterable<Value>> | PromiseLike<Value>;

/** Values that `run` may return, given the tool's output schema. */
export type AllowedReturn<Output> = [Output] extends [undefined] ? unknown : ToolReturn<DeepReadonly<BeforeParsing<Output>>>;

/** Value that `run` returns in the end, before an output schema parses it. An Error that it returns is a failure, not a value. */
export type FinalResult<Returned> = Exclude<Result<Awaited<NoInfer<Returned>>>, Error>;

/** Result of a call: parsed by the output schema, or else what `run` returns in the end. */
export type CallResult<Returned, Output> = [Output] extends [undefined] ? FinalResult<Returned> : AfterParsing<Output>;

/** Marks an option that other libraries know by another name; the compiler refuses it and shows the name to use. */
export interface UseInstead<Name extends string> {
  readonly useInstead: Name;
}

interface DescribedOptions<Input, Output, Shown> {
  /** Name that the model calls it by: letters, digits, "_" and "-", at most 64. */
  readonly name: string;
  /** Tells the model what the tool is for. */
  readonly description: string;
  /** Describes the arguments: a Standard Schema that has a JSON form, or a JSON Schema. */
  readonly input: Input;
  /** Describes the result; a call whose result does not fit fails. */
  readonly output?: Output;
  /** Passed on to the provider with the tool, by provider name: prompt caching, for instance. */
  readonly providerOptions?: JsonObject;
  /**
   * Number of characters of a result that the model reads; the record keeps all of it. What is longer is cut, with a note that says so.
   * Pictures and files do not count. Infinity for no limit. @default 50_000
   */
  readonly maxResultChars?: number;
  /** Form of the result that the model is shown. @default the result itself */
  readonly toModelOutput?: (result: Shown, call: ShownCall) => ModelOutput | PromiseLike<ModelOutput>;
  /** @deprecated Use `input`. */
  readonly parameters?: Input & UseInstead<'input'>;
  /** @deprecated Use `input`. */
  readonly inputSchema?: Input & UseInstead<'input'>;
  /** @deprecated Use `output`. */
  readonly outputSchema?: Output & UseInstead<'output'>;
}

/** Options of a tool that runs here. */
export interface FunctionToolOptions<Input, Returned, Context, Output = undefined> extends DescribedOptions<
  Input,
  Output,
  CallResult<Returned, Output>
> {
  /** Type of the context that the tool needs from its host: `defineContext<{ db: Db }>()`. */
  readonly context?: ContextType<Context>;
  /** Does the work. Return an async iterable to report progress on the way: its last value is the result. A returned Error counts as thrown. */
  readonly run: (args: ArgsOf<Input>, ctx: ToolContext<Context>) => Returned;
  /** Time that the work may take. @default no limit of its own */
  readonly timeoutMs?: number;
  /** Rule for a call that was interrupted. @default 'once' */
  readonly effect?: EffectClass;
  /** True, or the reason in words, if a person must agree first. @default false */
  readonly needsApproval?: boolean | ((args: ArgsOf<Input>, ctx: ApprovalContext<Context>) => boolean | string);
  /** Lets people approve later calls too, for the rest of a session: those with the same arguments, so many, for so long. @default each call needs its own */
  readonly approvalScope?: ApprovalScope;
  /** Finds out what happened to a call that was cut off. */
  readonly reconcile?: (
    idempotencyKey: string,
    ctx: ReconcileContext<Context>,
  ) => ReconcileResult<FinalResult<Returned>> | PromiseLike<ReconcileResult<FinalResult<Returned>>>;
  /** @deprecated Use `run`. */
  readonly execute?: ((args: ArgsOf<Input>, ctx: ToolContext<Context>) => unknown) & UseInstead<'run'>;
}

/** Options of a tool that somebody outside runs. */
export interface ClientToolOptions<Input, Output> extends DescribedOptions<Input, Output, AfterParsing<Output>> {
  /** @deprecated Use `defineTool` for a tool that runs here. */
  readonly run?: ((args: ArgsOf<Input>, ctx: ToolContext) => unknown) & UseInstead<'defineTool'>;
  /** @deprecated Use `defineTool` for a tool that runs here. */
  readonly execute?: ((args: ArgsOf<Input>, ctx: ToolContext) => unknown) & UseInstead<'defineTool'>;
}
