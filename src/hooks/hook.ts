// A hook: functions of the host, called at one or more points of a step.
// Owns:     its name, its order, what it may change.
// Does not: run itself: the chain does.
import type { ContinuationCriterion, ContinuationEvaluation, Findings } from '../continuation/index.ts';
import type { Callback, Soon } from '../lib/index.ts';
import { isRecord } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { ContextType } from '../tools/index.ts';
import type { ChangesAt, HookChange, Returned } from './hook-change.ts';
import { changesAt } from './hook-change.ts';
import type { FactsAt, SeenFactsAt } from './hook-facts.ts';
import type { HookPoint } from './hook-point.ts';

/** Facts at a point, for a hook that declares these changes. */
type Facts<Point extends HookPoint, Changes extends readonly HookChange[], State extends RunState, Context> = [
  Extract<Changes[number], keyof ChangesAt[Point]>,
] extends [never]
  ? SeenFactsAt<State, Context>[Point]
  : FactsAt<State, Context>[Point];

type Handler<Point extends HookPoint, Changes extends readonly HookChange[], State extends RunState, Context> = (
  facts: Facts<Point, Changes, State, Context>,
) => Soon<Returned<Point, Changes>>;

/** Options of a hook: a handler for each of its points. */
export interface HookOptions<Changes extends readonly HookChange[], State extends RunState = RunState, Context = unknown> {
  /** Stable: votes, events and errors refer to the hook by this name. */
  readonly name: string;
  /** Lower ones come first; equal ones in the order in which they were given. @default 0 */
  readonly order?: number;
  /** Everything that it may change. A hook that cannot change a step sees it after it was recorded. @default nothing */
  readonly changes?: Changes;
  /** Time limit of one call; `Infinity` leaves it to the limits of the run. @default 30_000 */
  readonly timeoutMs?: number;
  /** Declares the context that the hook needs: `defineContext<{ db: Db }>()`. */
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

/** A validated hook. Immutable. */
export interface Hook<in State extends RunState = RunState, in Context = never> {
  readonly name: string;
  readonly order: number;
  readonly points: readonly HookPoint[];
  readonly changes: readonly HookChange[];
  readonly timeoutMs: number;
  /** True if it declares the context that it needs. */
  readonly needsContext: boolean;
  /** For a time guard: time that the state may still run. The loop turns it into a deadline. */
  readonly remainingMs?: (state: RunState, findings?: Findings) => number | undefined;
  /** For time guards: the guard's evaluation under the name of the hook. */
  readonly evaluateTime?: (state: RunState, findings?: Findings) => ContinuationEvaluation | undefined;
  /** For a guard: the rule that joins the criteria. */
  readonly guard?: ContinuationCriterion<never>;
  /** Creates the chain that calls it. It comes with the hook, so that bundles without hooks need no chain code. */
  readonly chain: Callback<[options: object], unknown>;
  readonly handlers: Readonly<Partial<Record<HookPoint, Callback<[facts: object], unknown>>>>;
  /** Creates the same hook, with the same handlers, under another name. */
  readonly withName: Callback<[name: string], unknown>;
  /** Carries the types and nothing else. */
  readonly [takes]?: (state: State, context: Context) => void;
}

/** True if a field can be changed at a point. */
export const canChange = (point: HookPoint, change: string): boolean => (changesAt[point] as readonly string[]).includes(change);

/** True if a hook can change nothing at a point: it sees steps after they were recorded. */
export const isObserver = ({ changes }: Hook, point: HookPoint): boolean => !changes.some((change) => canChange(point, change));

/** True for hooks made by defineHook. */
export const isHook = (given: unknown): given is Hook =>
  isRecord(given) && typeof given['name'] === 'string' && Array.isArray(given['points']) && isRecord(given['handlers']);
