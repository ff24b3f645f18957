import { describeFailure, getAdvice } from '../errors/index.ts';
import { renderExplanation, StopReason } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { defaultRedactor, toSentence } from '../lib/index.ts';
import type { Usage } from '../messages/index.ts';
import type { ExplainStateOptions } from './explain-state.ts';
import type { RunState } from './run-state.ts';
import type { Cost } from './step.ts';
import type { Wait } from './waiting.ts';

/** Fields that every result has. */
export interface RunResultBase<State> {
  /** Last words of the execution; empty if nothing was said. */
  readonly text: string;
  readonly usage: Usage;
  /** Absent unless prices are configured. */
  readonly cost?: Cost;
  /** Reason why the provider ended the last answer; absent if it gave none. */
  readonly finishReason?: string;
  /** The whole state: continue with it or store it. */
  readonly state: State;
  /** Explains the status in a few lines. */
  explain(options?: ExplainStateOptions): string;
}

/** The run completed by itself. */
export interface CompletedResult<State = RunState, Output = unknown> extends RunResultBase<State> {
  readonly status: 'completed';
  readonly stopReason: StopReason;
  /** Final answer, parsed by the output schema; undefined without a schema. */
  readonly output: Output;
}

/** A limit, a guard, a finish reason or a person stopped the run. */
export interface StoppedResult<State = RunState> extends RunResultBase<State> {
  readonly status: 'stopped';
  readonly stopReason: StopReason;
}

/** The run waits for somebody: approve, reject, answer or grant on the state, then start it. */
export interface WaitingResult<State = RunState> extends RunResultBase<State> {
  readonly status: 'waiting';
  readonly waitingFor: readonly Wait[];
}

/** A failure ended the run; or it completed without an answer that fits the output schema (`no-output`). */
export interface FailedResult<State = RunState> extends RunResultBase<State> {
  readonly status: 'failed';
  readonly stopReason: StopReason;
  /** First failure of the last step. */
  readonly error: Failure;
}

/** The end of a run, by its `status`. */
export type RunResult<State = RunState, Output = unknown> =
  CompletedResult<State, Output> | StoppedResult<State> | WaitingResult<State> | FailedResult<State>;

/** The output of a completed state, or the reason why there is none. */
export type OutputReading<Output> = { readonly ok: true; readonly output: Output } | { readonly ok: false; readonly error: Failure };

export type ReadOutput<State, Output> = (state: State) => Promise<OutputReading<Output>>;

/** Returns the failure that ended an execution. A start that failed has no step to keep it on, so its evaluation tells. */
export function getEndFailure(state: RunState): Failure {
  const [first] = state.startOutcome === undefined ? state.errors : [];
  if (first !== undefined) return first;
  const forbidding = state.lastContinuationOutcome?.evaluations.find(({ decision }) => decision === 'forbid');
  const code = forbidding?.context['code'];
  return {
    type: 'unknown',
    code: typeof code === 'string' ? code : 'criterion-failed',
    message: forbidding?.reason ?? 'It failed without a reason.',
    retryable: false,
  };
}

/** Removes secrets from a failure's message. The state keeps the original. */
export const redactFailure = (failure: Failure): Failure => ({ ...failure, message: defaultRedactor.text(failure.message) });

/** The result of a run that completed without an answer that can be used: its explanation says so. */
function toUnusable<State extends RunState>(base: RunResultBase<State>, failure: Failure): RunResultBase<State> {
  const { stepCount } = base.state;
  const headline = `Failed after step ${stepCount}: the run completed, but its answer cannot be used. ${toSentence(describeFailure(failure))}`;
  return { ...base, explain: () => renderExplanation({ headline, details: [], next: getAdvice(failure) }) };
}

/** Returns the result of a run that ended with this state. */
export async function toRunResult<State extends RunState, Output>(
  state: State,
  readOutput: ReadOutput<State, Output>,
): Promise<RunResult<State, Output>> {
  const { text, usage, cost, finishReason, stopReason = StopReason.Completed } = state;
  const base: RunResultBase<State> = {
    text,
    usage,
    state,
    explain: (options) => state.explain(options),
    ...(cost !== undefined && { cost }),
    ...(finishReason !== undefined && { finishReason }),
  };
  switch (state.status) {
    case 'completed': {
      const reading = await readOutput(state);
      if (!reading.ok) return { ...toUnusable(base, reading.error), status: 'failed', stopReason, error: redactFailure(reading.error) };
      return { ...base, status: 'completed', stopReason, output: reading.output };
    }
    case 'stopped':
      return { ...base, status: 'stopped', stopReason };
    case 'failed':
      return { ...base, status: 'failed', stopReason, error: redactFailure(getEndFailure(state)) };
    // A run ends in one of the others, or with something to wait for.
    case 'waiting':
    case 'pending':
    case 'in_progress':
      return { ...base, status: 'waiting', waitingFor: state.waitingFor };
  }
}
