import type { ContinuationDecision, StopReason } from '../continuation/index.ts';
import type { ModelSettings } from '../inference/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import type { Message, MessageStore } from '../messages/index.ts';
import type { HookPoint } from './hook-point.ts';

/** A hook's vote to continue or stop the run. It joins the judgement with the hook as its source. */
export interface Vote {
  readonly decision: ContinuationDecision;
  readonly reason: string;
  /** @default 'guard', for a vote that forbids */
  readonly stopReason?: StopReason;
  /** The numbers behind it. */
  readonly context?: JsonObject;
}

interface Kept {
  /** Merged into the state's metadata, and stored. */
  readonly metadata: JsonObject;
  readonly votes: Vote | readonly Vote[];
}

/** Possible changes at each point, with their types. */
export interface ChangesAt {
  readonly execution_start: Kept;
  readonly before_step: Kept & {
    /** The whole conversation with its sections; stored. Used to summarize old messages. */
    readonly conversation: MessageStore;
    /** Names of the tools that can be called in this step. */
    readonly tools: readonly string[];
  };
  readonly before_inference: Kept & {
    /** Messages for this model call; the conversation stays as it is. */
    readonly messages: readonly Message[];
    readonly settings: ModelSettings;
    readonly tools: readonly string[];
  };
  readonly after_inference: Kept;
  readonly before_tool: Kept & {
    readonly args: Json;
    /** Result of the call, which then does not run. */
    readonly result: unknown;
    /** Reason why the call does not run; the model reads it as the failed result of this call, and the run continues. */
    readonly block: string;
  };
  readonly after_tool: Kept & {
    readonly result: unknown;
    /** Reason why the result is withheld from the model. */
    readonly block: string;
  };
  readonly after_step: Kept & {
    /** Replaces the text of the step's last message, or all its messages. Calls and results must stay. */
    readonly output: string | readonly Message[];
  };
  readonly on_error: Kept;
  readonly execution_end: object;
}

/** Everything that a hook can declare to change. */
export type HookChange = 'messages' | 'settings' | 'tools' | 'args' | 'result' | 'block' | 'output' | 'conversation' | 'metadata' | 'votes';

const kept: readonly HookChange[] = ['metadata', 'votes'];

/** Possible changes at each point. */
export const changesAt: Readonly<Record<HookPoint, readonly HookChange[]>> = {
  execution_start: kept,
  before_step: ['conversation', 'tools', ...kept],
  before_inference: ['messages', 'settings', 'tools', ...kept],
  after_inference: kept,
  before_tool: ['args', 'result', 'block', ...kept],
  after_tool: ['result', 'block', ...kept],
  after_step: ['output', ...kept],
  on_error: kept,
  execution_end: [],
};

export const hookChanges: readonly HookChange[] = [...new Set(Object.values(changesAt).flat())];

type Possible<Point extends HookPoint, Changes extends readonly HookChange[]> = Extract<Changes[number], keyof ChangesAt[Point]>;

/** Return type of a hook with these declared changes at a point: nothing, if it can change nothing there. */
export type Returned<Point extends HookPoint, Changes extends readonly HookChange[]> =
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a hook that returns nothing is the usual one
  void | undefined | ([Possible<Point, Changes>] extends [never] ? never : Partial<Pick<ChangesAt[Point], Possible<Point, Changes>>>);
