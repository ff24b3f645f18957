import { canBegin } from './execution.ts';
import { Loop } from './loop.ts';
import { isJudgedAtStart, toStartCandidate } from './phases/begin.ts';
import { judge } from './phases/judge.ts';
import { createRunControl } from './run-control.ts';
import { ActiveRun } from './active-run.ts';
import type { RunControl } from './run-control.ts';
import type { Ports, RunOptions } from './run-options.ts';
import { RunState } from './run-state.ts';
import { createRunStream } from './run-stream.ts';
import type { StepByStep } from './orchestrator.ts';
import type { ReadOutput } from './run-result.ts';
import { toRunResult } from './run-result.ts';
import type { StepProcess } from './step-process.ts';
import type { BaseEvent } from '../events/index.ts';
import type { LoopEvent } from './loop-events.ts';
import type { JsonObject } from '../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isRecord, systemClock } from '../lib/index.ts';

const knownOptions = [
  ...['context', 'signal', 'onEvent', 'commit', 'effects', 'inside', 'executionId', 'wallStartedAt', 'between', 'beforeEnd', 'onOutage'],
  ...['clock', 'ids', 'onProblem', 'resumesStep', 'stoppedBy', 'stepAttempt', 'sessionId', 'skipsHooks', 'requests', 'sharedBy'],
];

// A misspelt option would be silently ignored, a signal above all.
function checkRunOptions(options: object): void {
  const { signal, onEvent }: { readonly signal?: unknown; readonly onEvent?: unknown } = options;
  checkKeys('the options of a run', options, knownOptions);
  // By its form: a page may have a signal of another realm.
  const isSignal = isRecord(signal) && typeof signal['aborted'] === 'boolean' && typeof signal['addEventListener'] === 'function';
  if (signal !== undefined && !isSignal)
    throw new InvalidArgumentError(`signal must be an AbortSignal, not ${describeValue(signal)}. Pass the signal of an AbortController.`);
  if (onEvent !== undefined && typeof onEvent !== 'function')
    throw new InvalidArgumentError(`onEvent must be a function, not ${describeValue(onEvent)}.`);
}

/** Reads the name of an agent from its identity; undefined if it has none. */
function readAgentName(identity: JsonObject | undefined): string | undefined {
  const { id } = identity ?? {};
  return typeof id === 'string' ? id : undefined;
}

/** Facts that a driver gives to the loop. */
interface Drive {
  /** False for single steps: only the first of an execution emits AgentExecutionStarted. */
  readonly announcesResume: boolean;
  readonly control?: RunControl;
}

/** Options of a loop besides its ports. */
export interface StepByStepOptions<State, Output> extends Ports {
  /** Throws if a value is not a state of this loop. */
  readonly assertState?: (value: unknown) => void;
  /** Reads the output of a completed state. @default no output */
  readonly readOutput?: ReadOutput<State, Output>;
  /** Creates the error that rejects a failed run; runs with `commit` never reject. @default failed runs do not reject */
  readonly toError?: ((state: State) => Error) | undefined;
}

// Stored data that was parsed but not read is the usual mistake.
function assertRunState(value: unknown): void {
  if (value instanceof RunState) return;
  throw new InvalidArgumentError(
    `Cannot run ${describeValue(value)}: it is not a state. Create one with empty().withUserMessage(…), or read stored data with fromJSON() of the state class.`,
  );
}

/** Creates the loop of a process: to the end, step by step, or as a stream of events. */
export function createStepByStep<State extends RunState, Context = unknown, Event extends BaseEvent = LoopEvent, Output = undefined>(
  process: StepProcess<State, Context>,
  options: StepByStepOptions<State, Output> = {},
): StepByStep<State, Output, Context, Event> {
  const { assertState = assertRunState, toError, ...ports } = options;
  const { clock = systemClock } = ports;
  // Holds: without a reader Output is its default.
  const { readOutput = async () => ({ ok: true, output: undefined as Output }) } = ports;

  const createLoop = (
    state: State,
    options: RunOptions<State, Context, Event>,
    { announcesResume, control }: Drive,
  ): Loop<State, Context> => {
    const owned = control ?? createRunControl(options.signal);
    try {
      assertState(state);
      process.checkContext?.(options.context);
      const run = new ActiveRun(state, options, { ...ports, control: owned, agentName: readAgentName(process.identity) });
      return new Loop(process, state, { run, announcesResume });
    } catch (error) {
      // Nothing of ours may stay on the signal of a host whose run is refused.
      owned.close();
      throw error;
    }
  };
  async function* iterate(state: State, options: RunOptions<State, Context, Event>, drive: Drive): AsyncGenerator<State, void, undefined> {
    const loop = createLoop(state, options, drive);
    try {
      for (let next = await loop.next(); next !== undefined; next = await loop.next()) yield next;
    } finally {
      loop.run.close();
    }
  }
  const runToEnd = async (state: State, options: RunOptions<State, Context, Event>, drive: Drive): Promise<State> => {
    const loop = createLoop(state, options, drive);
    try {
      return await loop.toEnd();
    } finally {
      loop.run.close();
    }
  };
  const assertNotFailed = (state: State): State => {
    if (toError !== undefined && state.status === 'failed') throw toError(state);
    return state;
  };
  const toResult = (state: State) => toRunResult(state, readOutput);

  return {
    name: process.name,
    hasNextStep: (state) => {
      assertState(state);
      if (!canBegin(state)) return false;
      if (!isJudgedAtStart(state)) return true;
      const now = clock.now();
      const started = state.evolve({ execution: { ...state.execution, wallStartedAt: now } });
      return !judge(process, toStartCandidate(started, { now })).outcome.isForbidden;
    },
    nextStep: async (state, ...[options = {}]) => {
      checkRunOptions(options);
      for await (const next of iterate(state, options, { announcesResume: false })) return next;
      return state;
    },
    run: async (state, ...[options = {}]) => {
      checkRunOptions(options);
      const end = await runToEnd(state, options, { announcesResume: true });
      return options.commit === undefined ? assertNotFailed(end) : end;
    },
    iterate: (state, ...[options = {}]) => {
      checkRunOptions(options);
      return iterate(state, options, { announcesResume: true });
    },
    start: (state, ...[options = {}]) => {
      checkRunOptions(options);
      const control = createRunControl(options.signal);
      return createRunStream({
        control,
        onEvent: options.onEvent,
        start: (onEvent) => runToEnd(state, { ...options, onEvent }, { announcesResume: true, control }),
        toResult: async (state) => toResult(options.commit === undefined ? assertNotFailed(state) : state),
      });
    },
    toResult,
  };
}
