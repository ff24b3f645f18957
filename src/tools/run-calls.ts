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

async function endCall<Context>(prepared: Ending, index: number, options: RunCallsOptions<Context>): Promise<ToolExecution> {
  const { onProblem } = options;
  const { call } = prepared;
  tell(() => options.onStart?.(call, index), onProblem, 'onStart');
  const execution =
    prepared.type === 'ready'
      ? await runCall(prepared, {
          run: (key, work, about) => options.run(key, work, about),
          context: options.context,
          state: options.state,
          key: `tool/${options.step}/${index}`,
          idempotencyKey: options.idempotencyKey(call, index),
          onProgress: (progress) => tell(() => options.onProgress?.(call, progress), onProblem, 'onProgress'),
          ...(options.clock !== undefined && { clock: options.clock }),
          ...(onProblem !== undefined && { onProblem }),
        })
      : prepared.execution;
  tell(() => options.onEnd?.(execution, index), onProblem, 'onEnd');
  return execution;
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
  return mapLimited(calls, limit, async (given, position): Promise<CallOutcome> => {
    const index = options.indexOf?.(given, position) ?? position;
    const approved = options.isApproved?.(given, index) === true;
    const soon = prepareSoon(
      set,
      given,
      signal === undefined ? { context, state, approved, clock } : { context, state, approved, clock, signal },
    );
    const prepared = soon instanceof Promise ? await soon : soon;
    if (prepared.type !== 'ready' && prepared.type !== 'ended') {
      tell(() => options.onWaiting?.(prepared), options.onProblem, 'onWaiting');
      return prepared;
    }
    const execution = await endCall(prepared, index, options);
    return { type: 'ended', call: prepared.call, execution };
  });
}
