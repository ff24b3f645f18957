// A hook: a function of the host's at one or more points of a step.
// Owns:     its name, its order, what it may change.
// Does not: run itself: the chain does.
import type { ContinuationCriterion, Findings } from '../continuation/index.ts';
import type { Callback, Soon } from '../lib/index.ts';
import { isRecord } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { ContextType } from '../tools/index.ts';
import type { ChangesAt, HookChange, Returned } from './hook-change.ts';
import { changesAt } from './hook-change.ts';
import type { FactsAt, SeenFactsAt } from './hook-facts.ts';
import type { HookPoint } from './hook-point.ts';

/** What a point tells a hook that declares these changes. */
type Facts<Point extends HookPoint, Changes extends readonly HookChange[], State extends RunState, Context> = [
  Extract<Changes[number], keyof ChangesAt[Point]>,
] extends [never]
  ? SeenFactsAt<State, Context>[Point]
  : FactsAt<State, Context>[Point];

type Handler<Point extends HookPoint, Changes extends readonly HookChange[], State extends RunState, Context> = (
  facts: Facts<Point, Changes, State, Context>,
) => Soon<Returned<Point, Changes>>;

/** How a hook is declared: a handler for each of its points. */
export interface HookOptions<Changes extends readonly HookChange[], State extends RunState = RunState, Context = unknown> {
  /** Stable: it is the source of its votes, and how events and errors refer to it. */
  readonly name: string;
  /** Lower ones come first; equal ones in the order in which they were given. @default 0 */
  readonly order?: number;
  /** All that it may change. One that can change nothing of a step sees it after it was recorded. @default nothing */
  readonly changes?: Changes;
  /** How long one call of it may take; `Infinity` leaves that to the run's own limits. @default 30_000 */
  readonly timeoutMs?: number;
  /** Says what the hook needs of its host: `contextOf<{ db: Db }>()`. */
  readonly context?: ContextType<Context>;
  readonly executionStart?: Handler<'execution_start', Changes, State, Context>;
  readonly beforeStep?: Handler<'before_step', Changes, State, Context>;
  readonly beforeInference?: Handler<'before_inference', Changes, State, Context>;
  readonly afterInference?: Handler<'after_inference', Changes, State, Context>;
  readonly beforeTool?: Handler<'before_tool', Changes, State, Context>;
  readonly afterTool?: Handler<'after_tool', Changes, State, Context>;
  readonly afterStep?: Handler<'after_step', Changes, State, Context>;
  readonly onError?: Handler<'on_error', Changes, State, Context>;
  readonly executionEnd?: Handler<'execution_end', Changes, State, Context>;
}

declare const takes: unique symbol;

/** A hook, checked. It never changes. */
export interface Hook<in State extends RunState = RunState, in Context = never> {
  readonly name: string;
  readonly order: number;
  readonly points: readonly HookPoint[];
  readonly changes: readonly HookChange[];
  readonly timeoutMs: number;
  /** True where it says what it needs of its host. */
  readonly needsContext: boolean;
  /** For a guard over time: how long the state may still run. The loop makes a deadline of it. */
  readonly remainingMs?: (state: RunState, findings?: Findings) => number | undefined;
  /** For a guard: the rule that joins the criteria. */
  readonly guard?: ContinuationCriterion<never>;
  /** Makes the chain that calls it. It comes with the hook, so that whoever has no hooks has no chain either. */
  readonly chain: Callback<[options: object], unknown>;
  readonly handlers: Readonly<Partial<Record<HookPoint, Callback<[facts: object], unknown>>>>;
  /** Carries the types and nothing else. */
  readonly [takes]?: (state: State, context: Context) => void;
}

/** Whether something can be changed at a point at all. */
export const canChange = (point: HookPoint, change: string): boolean => (changesAt[point] as readonly string[]).includes(change);

/** True where a hook can change nothing at a point: it sees steps after they were recorded. */
export const isObserver = ({ changes }: Hook, point: HookPoint): boolean => !changes.some((change) => canChange(point, change));

/** True for what defineHook makes. */
export const isHook = (given: unknown): given is Hook =>
  isRecord(given) && typeof given['name'] === 'string' && Array.isArray(given['points']) && isRecord(given['handlers']);
