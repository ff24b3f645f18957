import type { ProblemReporter } from '../events/index.ts';
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Clock, Json } from '../lib/index.ts';
import { InvalidArgumentError, systemClock } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { EffectRunner } from './effect-runner.ts';
import { mapLimited } from './map-limited.ts';
import type { PreparedCall } from './prepare-call.ts';
import { prepareSoon } from './prepare-call.ts';
import { runCall } from './run-call.ts';
import type { RunCallOptions } from './run-call-options.ts';
import type { ToolExecution } from './tool-execution.ts';
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

type Waiting = Extract<PreparedCall, { readonly type: 'needs-approval' | 'client-tool' | 'provider' }>;

function tell(listener: () => void, onProblem: ProblemReporter | undefined, where: string): void {
  try {
    listener();
  } catch (error) {
    reportSafely(onProblem ?? reportToConsole, error, where);
  }
}

type Ending = Exclude<PreparedCall, Waiting>;

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

async function carryOn<Context>(prepared: PreparedCall, index: number, options: RunCallsOptions<Context>): Promise<CallOutcome> {
  if (prepared.type === 'ready' || prepared.type === 'ended')
    return { type: 'ended', call: prepared.call, execution: end(await start(prepared, index, options), index, options) };
  tell(() => options.onWaiting?.(prepared), options.onProblem, 'onWaiting');
  return prepared;
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
  const { limit = 8, context, state, signal, clock = systemClock } = options;
  if (!Number.isInteger(limit) || limit < 1)
    throw new InvalidArgumentError(`limit must be a whole number from 1 on, not ${String(limit)}.`);
  return mapLimited(calls, limit, (given, position): Promise<CallOutcome> => {
    const index = options.indexOf?.(given, position) ?? position;
    const approved = options.isApproved?.(given, index) === true;
    const about = { context, state, approved, clock };
    const soon = prepareSoon(set, given, signal === undefined ? about : { ...about, signal });
    return soon instanceof Promise ? soon.then((prepared) => carryOn(prepared, index, options)) : carryOn(soon, index, options);
  });
}
