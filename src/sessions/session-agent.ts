import type { Effects } from '../effects/index.ts';
import type { BaseEvent } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { Commit, NewStateOptions, RunState } from '../step-by-step/index.ts';

/** How the conversations of an agent begin, and how they are stored. */
export interface SessionStates {
  readonly kind: string;
  empty(options?: NewStateOptions): RunState;
  stringify(state: RunState): string;
  parse(text: string): RunState;
  diff(before: RunState, after: RunState, messages?: readonly JsonObject[]): JsonObject;
  patch(before: RunState, change: unknown, messages?: readonly JsonObject[]): RunState;
}

/** What the runtime gives to a run. Its functions get and give states and events of the agent's own kind only. */
export interface SessionRunOptions {
  readonly context?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: never) => unknown) | undefined;
  readonly executionId?: string | undefined;
  readonly commit?: (commit: Commit<never>) => void | Promise<void>;
  readonly effects?: (direct: Effects) => Effects;
  readonly between?: ((state: never) => unknown) | undefined;
}

/** What can carry a session on. Everything that createAgent and AgentBuilder make is one. */
export interface SessionAgent {
  readonly id: string;
  readonly version: string | undefined;
  readonly fingerprint: string;
  readonly states: SessionStates;
  run(state: RunState, options?: SessionRunOptions): Promise<RunState>;
  /**
   * What is wrong with the arguments for one of its tools; undefined where they fit, or where the tool is not its own. `agent` is who
   * asks, where that is a run inside.
   */
  checkArgs?(toolName: string, args: unknown, agent?: string): Promise<string | undefined>;
}

/** Which release of an agent carries a session on. */
export interface AgentIdentity {
  readonly id: string;
  readonly version?: string;
  readonly fingerprint: string;
}

export const identityOf = ({ id, version, fingerprint }: SessionAgent): AgentIdentity => ({
  id,
  ...(version !== undefined && { version }),
  fingerprint,
});

// What an agent is given with a run. Whatever it may be left out of, it is an object.
type OptionsOf<Given> = Given extends { run(state: never, options: infer Options): unknown } ? NonNullable<Options> : never;
// Asked of each agent apart: together they need what each of them needs.
type TakingContext<Given> = Given extends unknown
  ? OptionsOf<Given> extends { readonly context?: infer Context }
    ? (context: Exclude<Context, undefined>) => void
    : never
  : never;

/** What the agents of a runtime need as context, all of them together. */
export type ContextOf<Given extends SessionAgent> = [TakingContext<Given>] extends [(context: infer Context) => void] ? Context : unknown;

/** The events that the agents of a runtime tell. */
export type EventOf<Given extends SessionAgent> = Given extends unknown
  ? OptionsOf<Given> extends { readonly onEvent?: ((event: infer Event) => unknown) | undefined }
    ? [Event] extends [never]
      ? BaseEvent
      : Event
    : BaseEvent
  : never;

/** The states that the agents of a runtime carry on. */
export type StateOf<Given extends SessionAgent> = ReturnType<Given['states']['empty']>;
