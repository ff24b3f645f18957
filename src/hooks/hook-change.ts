import type { ContinuationDecision, StopReason } from '../continuation/index.ts';
import type { ModelSettings } from '../inference/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import type { Message, MessageStore } from '../messages/index.ts';
import type { HookPoint } from './hook-point.ts';

/** An answer to whether the run goes on. It joins the one judgement with the hook as its source. */
export interface Vote {
  readonly decision: ContinuationDecision;
  readonly reason: string;
  /** @default 'guard', for a vote that forbids */
  readonly stopReason?: StopReason;
  /** The numbers behind it. */
  readonly context?: JsonObject;
}

interface Kept {
  /** Laid over the state's metadata, and kept. */
  readonly metadata: JsonObject;
  readonly votes: Vote | readonly Vote[];
}

/** What can be changed at each point, and in which form. */
export interface ChangesAt {
  readonly execution_start: Kept;
  readonly before_step: Kept & {
    /** The whole conversation with its sections, kept: for folding old messages away. */
    readonly conversation: MessageStore;
    /** The names of the tools that can be called in this step. */
    readonly tools: readonly string[];
  };
  readonly before_inference: Kept & {
    /** What the model reads this time; the conversation stays as it is. */
    readonly messages: readonly Message[];
    readonly settings: ModelSettings;
    readonly tools: readonly string[];
  };
  readonly after_inference: Kept;
  readonly before_tool: Kept & {
    readonly args: Json;
    /** Answers the call without making it. */
    readonly result: unknown;
    /** Why the call is not made; the model reads it as the failed result of this call, and the run goes on. */
    readonly block: string;
  };
  readonly after_tool: Kept & {
    readonly result: unknown;
    /** Why the result is withheld from the model. */
    readonly block: string;
  };
  readonly after_step: Kept & {
    /** Other words for the step's last message, or all its messages. Calls and results must stay. */
    readonly output: string | readonly Message[];
  };
  readonly on_error: Kept;
  readonly execution_end: object;
}

/** Everything that a hook can declare to change. */
export type HookChange = 'messages' | 'settings' | 'tools' | 'args' | 'result' | 'block' | 'output' | 'conversation' | 'metadata' | 'votes';

const kept: readonly HookChange[] = ['metadata', 'votes'];

/** What can be changed at each point. */
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

/** What a hook with these declared changes may return at a point: nothing, where it can change nothing there. */
export type Returned<Point extends HookPoint, Changes extends readonly HookChange[]> =
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a hook that returns nothing is the usual one
  void | undefined | ([Possible<Point, Changes>] extends [never] ? never : Partial<Pick<ChangesAt[Point], Possible<Point, Changes>>>);
