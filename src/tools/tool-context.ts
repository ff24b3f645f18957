/** Services and facts for a tool while it runs. */
export interface ToolContext<Context = unknown> {
  /** The host's own objects (a database, a tenant). Passed with each run, never stored. */
  readonly context: Context;
  /** Aborts when the run is interrupted or the tool's time is up. */
  readonly signal: AbortSignal;
  readonly toolCallId: string;
  /** The same for every attempt at this call; pass it to services that recognize repeated requests by a key. */
  readonly idempotencyKey: string;
  /** State of the run. Read only. */
  readonly state: unknown;
  /** Reports progress. Progress reported after the end is dropped. */
  readonly report: (progress: unknown) => void;
}

/** Facts about a call before it runs. */
export type ApprovalContext<Context = unknown> = Pick<ToolContext<Context>, 'context' | 'toolCallId' | 'state'>;

/** Facts about a call with an unknown result. */
export type ReconcileContext<Context = unknown> = Pick<ToolContext<Context>, 'context' | 'signal' | 'toolCallId' | 'state'>;

declare const contextType: unique symbol;

/** Carries the type of the context and nothing else. */
export interface ContextType<Context> {
  readonly [contextType]?: Context;
}

/** Declares the context that a tool needs: `context: defineContext<{ db: Db }>()` types `ctx.context`. */
export function defineContext<Context>(): ContextType<Context> {
  return {};
}
