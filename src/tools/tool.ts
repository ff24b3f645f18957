import type { ApprovalScope } from './approval-scope.ts';
import type { EffectClass } from '../effects/index.ts';
import type { Callback, Json, JsonObject } from '../lib/index.ts';
import type { ContentPart, ProviderTool } from '../messages/index.ts';
import type { ApprovalContext, ReconcileContext, ToolContext } from './tool-context.ts';
import type { InputSchema, ValueSchema } from './value-schema.ts';

/** Reason why a tool cannot run with arguments; an object if it can, but not as they were sent: its schema changes them. */
export type ArgsProblem = string | { readonly change: string };

/** Result as the model reads it: text, data, or parts such as images. */
export type ModelOutput = string | Json | readonly ContentPart[];

/** Result of checking an interrupted call. Undefined if it is still unknown. */
export type ReconcileResult<Result> = { readonly happened: true; readonly result: Result } | { readonly happened: false } | undefined;

/** The call whose result is shown. */
export interface ShownCall {
  readonly toolCallId: string;
  readonly args: Json;
}

/** A tool that its provider knows by an id of its own, although it runs here. */
export interface OfferedAs {
  readonly id: `${string}.${string}`;
  readonly args: JsonObject;
}

declare const result: unique symbol;

/** Fields of every tool that a host declares. */
export interface DescribedTool<Result = unknown> {
  /** Name that the model calls it by. */
  readonly name: string;
  readonly description: string;
  /** Parses the arguments; its JSON form is sent to the model. */
  readonly input: InputSchema;
  /** Parses the result. */
  readonly output?: ValueSchema;
  /** Passed on to the provider with the tool, by provider name: prompt caching, for instance. */
  readonly providerOptions?: JsonObject;
  /** Set if the provider defines the tool and the host runs it. */
  readonly offeredAs?: OfferedAs;
  /** Identifies the version of a tool that somebody else defines and may change: kept with each wait for it. */
  readonly fingerprint?: string;
  /** Number of characters of a result that the model reads; the record keeps all of it. @default 50_000 */
  readonly maxResultChars?: number;
  /** A method, so that a tool with a typed result fits. */
  toModelOutput?(result: unknown, call: ShownCall): ModelOutput | PromiseLike<ModelOutput>;
  /** Carries the type of the result and nothing else. */
  readonly [result]?: Result;
}

/** A tool that runs here. */
export interface FunctionTool<Args = never, Result = unknown, Context = never> extends DescribedTool<Result> {
  readonly type: 'function';
  readonly run: (args: Args, ctx: ToolContext<Context>) => unknown;
  /** Set if the tool declares the context that it needs. */
  readonly needsContext?: boolean;
  readonly effect: EffectClass;
  readonly timeoutMs?: number;
  /** Text is the reason for asking. */
  readonly needsApproval: boolean | ((args: Args, ctx: ApprovalContext<Context>) => boolean | string | PromiseLike<boolean | string>);
  /** Range of an approval for the rest of a session; absent if each call needs its own. */
  readonly approvalScope?: ApprovalScope;
  readonly reconcile?: (
    idempotencyKey: string,
    ctx: ReconcileContext<Context>,
  ) => ReconcileResult<unknown> | PromiseLike<ReconcileResult<unknown>>;
}

/** A tool that runs outside; a call of it waits for the answer. */
export interface ClientTool extends DescribedTool {
  readonly type: 'client';
}

/** A tool whose work is a run of its own, which may wait for people and be resumed. The orchestrator runs it. */
export interface NestedTool<Args = never, Result = unknown, Host = never> extends DescribedTool<Result> {
  readonly type: 'nested';
  readonly run: (args: Args, host: Host) => Promise<unknown>;
  /** Starts or resumes the run of a call. It comes with the tool, so that bundles without such tools need no code for them. */
  readonly start: Callback<[work: object, call: object, at: object], Promise<unknown>>;
  /** Returns the problem with arguments for a tool of a run inside, by the path of names that leads to that run. */
  readonly checkInner?: ((toolName: string, args: unknown, agent: string) => Promise<ArgsProblem | undefined>) | undefined;
}

/** Anything that a model may call. */
export type Tool = FunctionTool | ClientTool | NestedTool | ProviderTool;
