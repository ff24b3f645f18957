/** What a tool may use while it runs. */
export interface ToolContext<Context = unknown> {
  /** The host's own things (a database, a tenant). Given per run, never stored. */
  readonly context: Context;
  /** Aborts when the run is interrupted or the tool's time is up. */
  readonly signal: AbortSignal;
  readonly toolCallId: string;
  /** The same for every attempt at this very call; hand it to services that can tell a repeated request by it. */
  readonly idempotencyKey: string;
  /** The state of the run, to read. */
  readonly state: unknown;
  /** Tells how far the work has come. What is told after its end is dropped. */
  readonly report: (progress: unknown) => void;
}

/** What is known of a call before it runs. */
export type ApprovalContext<Context = unknown> = Pick<ToolContext<Context>, 'context' | 'toolCallId' | 'state'>;

/** What is known of a call whose end nobody saw. */
export type ReconcileContext<Context = unknown> = Pick<ToolContext<Context>, 'context' | 'signal' | 'toolCallId' | 'state'>;

declare const contextType: unique symbol;

/** Carries the type of the context and nothing else. */
export interface ContextType<Context> {
  readonly [contextType]?: Context;
}

/** Says what a tool needs of its host: `context: contextOf<{ db: Db }>()` types `ctx.context`. */
export function contextOf<Context>(): ContextType<Context> {
  return {};
}
