import type { ProblemReporter } from '../events/index.ts';
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Clock, Json, Soon } from '../lib/index.ts';
import { InvalidArgumentError, systemClock } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { EffectRunner } from './effect-runner.ts';
import { mapLimited } from './map-limited.ts';
import type { NestedCall, PreparedCall } from './prepare-call.ts';
import { prepareSoon } from './prepare-call.ts';
import { runCall } from './run-call.ts';
import type { RunCallOptions } from './run-call-options.ts';
import type { ToolExecution } from './tool-execution.ts';
import { failedExecution } from './tool-execution.ts';
import type { ToolSet } from './tool-set.ts';

/** What the calls of one step run with. */
export interface RunCallsOptions<Context = unknown> {
  readonly run: EffectRunner;
  /** The step's number; the work of a call has the key `tool/<step>/<index>`. */
  readonly step: number;
  /** The same for every attempt at the same call. */
  readonly idempotencyKey: (call: ToolCall, index: number) => string;
  readonly context: Context;
  readonly state?: unknown;
  /** How many run at once. @default 8 */
  readonly limit?: number;
  /** Ends checks that hang; the work itself is ended by the runner. */
  readonly signal?: AbortSignal;
  /** The place of a call in its step, where only some of a step's calls are given. @default its place in the list */
  readonly indexOf?: (call: ToolCall, position: number) => number;
  /** Whether a person has agreed to this call already. @default no */
  readonly isApproved?: (call: ToolCall, index: number) => boolean;
  /** Looks at a call before it is prepared: lets it through, changed or not, or settles it. @default lets it through */
  readonly before?:
    ((call: ToolCall, index: number) => Soon<{ readonly type: 'call'; readonly call: ToolCall } | PreparedCall>) | undefined;
  /** Looks at what a call came to that was made. @default leaves it */
  readonly after?: ((execution: ToolExecution, call: ToolCall, index: number) => Soon<ToolExecution>) | undefined;
  /** Carries out a call whose work is a run of its own. @default it fails */
  readonly runNested?: (nested: NestedCall, index: number) => Promise<NestedOutcome>;
  /** Hears of a call that waits for somebody, as soon as that is known. */
  readonly onWaiting?: (outcome: CallOutcome) => void;
  readonly onStart?: (call: ToolCall, index: number) => void;
  readonly onProgress?: (call: ToolCall, progress: Json) => void;
  readonly onEnd?: (execution: ToolExecution, index: number) => void;
  /** Hears of a listener or a `toModelOutput` that threw; it changes nothing else. @default console.error */
  readonly onProblem?: ProblemReporter;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** What became of a call: it ended, or it waits for somebody, or the provider sees to it. */
export type CallOutcome = { readonly type: 'ended'; readonly call: ToolCall; readonly execution: ToolExecution } | Waiting;

type Waiting = Extract<PreparedCall, { readonly type: 'needs-approval' | 'client-tool' | 'provider' }> | NestedWaiting;

/** A run inside a call that waits for somebody. What it waits for, and what it needs to go on, is its own matter. */
export interface NestedWaiting {
  readonly type: 'nested-waiting';
  readonly call: ToolCall;
  readonly waits: readonly unknown[];
  readonly memo: Json;
}

/** What became of a call whose work is a run of its own. */
export type NestedOutcome = NestedWaiting | { readonly type: 'ended'; readonly call: ToolCall; readonly execution: ToolExecution };

function tell(listener: () => void, onProblem: ProblemReporter | undefined, where: string): void {
  try {
    listener();
  } catch (error) {
    reportSafely(onProblem ?? reportToConsole, error, where);
  }
}

type Ending = Exclude<PreparedCall, Waiting | NestedCall>;

function callOptions<Context>(call: ToolCall, index: number, options: RunCallsOptions<Context>): RunCallOptions<Context> {
  const { onProblem, clock } = options;
  return {
    run: (key, work, about) => options.run(key, work, about),
    context: options.context,
    state: options.state,
    key: `tool/${options.step}/${index}`,
    idempotencyKey: options.idempotencyKey(call, index),
    onProgress: (progress) => tell(() => options.onProgress?.(call, progress), onProblem, 'onProgress'),
    ...(clock !== undefined && { clock }),
    ...(onProblem !== undefined && { onProblem }),
  };
}

function start<Context>(prepared: Ending, index: number, options: RunCallsOptions<Context>): ToolExecution | Promise<ToolExecution> {
  const { call } = prepared;
  tell(() => options.onStart?.(call, index), options.onProblem, 'onStart');
  return prepared.type === 'ready' ? runCall(prepared, callOptions(call, index, options)) : prepared.execution;
}

function end<Context>(execution: ToolExecution, index: number, options: RunCallsOptions<Context>): ToolExecution {
  tell(() => options.onEnd?.(execution, index), options.onProblem, 'onEnd');
  return execution;
}

/** What a call came to, as whoever looks at it afterwards leaves it; one that never came to run is nobody's matter. */
function looked(
  prepared: PreparedCall,
  execution: ToolExecution,
  { options, index }: { readonly options: Pick<RunCallsOptions, 'after'>; readonly index: number },
): Soon<ToolExecution> {
  const wasMade = prepared.type !== 'ended' && (execution.status === 'succeeded' || execution.status === 'failed');
  return (wasMade ? options.after?.(execution, prepared.call, index) : undefined) ?? execution;
}

async function carryOn<Context>(prepared: PreparedCall, index: number, options: RunCallsOptions<Context>): Promise<CallOutcome> {
  if (prepared.type === 'ready' || prepared.type === 'ended') {
    const made = await start(prepared, index, options);
    const seen = options.after === undefined ? made : looked(prepared, made, { options, index });
    const execution = seen instanceof Promise ? await seen : seen;
    return { type: 'ended', call: prepared.call, execution: end(execution, index, options) };
  }
  if (prepared.type === 'nested') return carryOnNested(prepared, index, options);
  tell(() => options.onWaiting?.(prepared), options.onProblem, 'onWaiting');
  return prepared;
}

async function carryOnNested<Context>(nested: NestedCall, index: number, options: RunCallsOptions<Context>): Promise<CallOutcome> {
  const { call } = nested;
  tell(() => options.onStart?.(call, index), options.onProblem, 'onStart');
  const outcome = await (options.runNested?.(nested, index) ?? noRuns(call, options.clock ?? systemClock));
  if (outcome.type !== 'ended') {
    tell(() => options.onWaiting?.(outcome), options.onProblem, 'onWaiting');
    return outcome;
  }
  const execution = await looked(nested, outcome.execution, { options, index });
  return { type: 'ended', call, execution: end(execution, index, options) };
}

function noRuns(call: ToolCall, clock: Clock): NestedOutcome {
  const failure = {
    type: 'tool',
    code: 'nested-run',
    message: `"${call.name}" is a run of its own, which cannot be carried out here.`,
    retryable: false,
  } as const;
  return { type: 'ended', call, execution: failedExecution(call, failure, { startedAt: clock.now() }) };
}

/** Prepares a call and carries it on. */
function carryOut<Context>(
  { set, options }: { readonly set: ToolSet<Context>; readonly options: RunCallsOptions<Context> },
  given: ToolCall,
  index: number,
): Promise<CallOutcome> {
  const { context, state, signal, clock = systemClock } = options;
  const approved = options.isApproved?.(given, index) === true;
  const about = { context, state, approved, clock };
  const soon = prepareSoon(set, given, signal === undefined ? about : { ...about, signal });
  return soon instanceof Promise ? soon.then((prepared) => carryOn(prepared, index, options)) : carryOn(soon, index, options);
}

/** Lets whoever looks at calls before they are made have a word. */
function letThrough<Context>(
  { set, options }: { readonly set: ToolSet<Context>; readonly options: RunCallsOptions<Context> },
  given: ToolCall,
  index: number,
): Promise<CallOutcome> {
  const goOn = (seen: { readonly type: 'call'; readonly call: ToolCall } | PreparedCall): Promise<CallOutcome> =>
    seen.type === 'call' ? carryOut({ set, options }, seen.call, index) : carryOn(seen, index, options);
  const looked = options.before?.(given, index) ?? { type: 'call', call: given };
  return looked instanceof Promise ? looked.then(goOn) : goOn(looked);
}

/**
 * Runs the calls of a step side by side. There is one outcome per call, in the order of the calls, whatever tools do.
 * A gated call and one for somebody outside are not run; their outcome says what they wait for.
 */
export async function runCalls<Context>(
  set: ToolSet<Context>,
  calls: readonly ToolCall[],
  options: RunCallsOptions<Context>,
): Promise<readonly CallOutcome[]> {
  const { limit = 8, before } = options;
  if (!Number.isInteger(limit) || limit < 1)
    throw new InvalidArgumentError(`limit must be a whole number from 1 on, not ${String(limit)}.`);
  return mapLimited(calls, limit, (given, position): Promise<CallOutcome> => {
    const index = options.indexOf?.(given, position) ?? position;
    return before === undefined ? carryOut({ set, options }, given, index) : letThrough({ set, options }, given, index);
  });
}
