import { canBegin } from './can-begin.ts';
import { hasStarted } from './execution.ts';
import { lastStep, steps } from './loop.ts';
import { isJudgedAtStart, refuses, toStartCandidate } from './phases/begin.ts';
import { judge } from './phases/judge.ts';
import { createRunControl } from './run-control.ts';
import type { Ports, RunOptions } from './run-scope.ts';
import { createRunScope } from './run-scope.ts';
import { RunState } from './run-state.ts';
import { createRunStream } from './run-stream.ts';
import type { Runnable } from './runnable.ts';
import type { StepProcess } from './step-process.ts';
import type { BaseEvent } from '../events/index.ts';
import type { LoopEvent } from './loop-events.ts';
import { InvalidArgumentError, isRecord, systemClock } from '../lib/index.ts';

// Stored data that was parsed but not read is the usual mistake.
function checkedState<State>(state: State): State {
  if (state instanceof RunState) return state;
  throw new InvalidArgumentError(
    'This is no state. Make one with empty().withUserMessage(…), or read stored data with fromJSON of its state class.',
  );
}

const knownOptions = ['context', 'signal', 'onEvent', 'commit', 'effects', 'inside', 'executionId', 'between'];
const hints: Readonly<Record<string, string>> = { abortSignal: ' The signal is called signal.' };

// A misspelt option would be silently ignored, a signal above all.
function checkRunOptions(options: object): void {
  const { signal, onEvent } = options as { readonly signal?: unknown; readonly onEvent?: unknown };
  const strange = Object.keys(options).find((name) => !knownOptions.includes(name));
  if (strange !== undefined)
    throw new InvalidArgumentError(`A run has no option "${strange}"; there are ${knownOptions.join(', ')}.${hints[strange] ?? ''}`);
  // By its form: a page may have a signal of another realm.
  const isSignal = isRecord(signal) && typeof signal['aborted'] === 'boolean' && typeof signal['addEventListener'] === 'function';
  if (signal !== undefined && !isSignal)
    throw new InvalidArgumentError('signal must be an AbortSignal, such as the signal of an AbortController.');
  if (onEvent !== undefined && typeof onEvent !== 'function') throw new InvalidArgumentError('onEvent must be a function.');
}

type Drive = { readonly fresh: boolean; readonly control?: ReturnType<typeof createRunControl> };

/** Makes a runnable of a process: to the end, step by step, or as a stream, all over the one loop. */
export function createStepByStep<State extends RunState, Context = unknown, Event extends BaseEvent = LoopEvent>(
  process: StepProcess<State, Context>,
  ports: Ports = {},
): Runnable<State, Context, Event> {
  const { clock = systemClock } = ports;

  const entry = (state: State, options: RunOptions<State, Context, Event>, { fresh, control }: Drive) => ({
    open: () => {
      const owned = control ?? createRunControl(options.signal);
      try {
        process.checkContext?.(options.context);
        return createRunScope(checkedState(state), options, { ...ports, control: owned });
      } catch (error) {
        // Nothing of ours may be left on the signal of a host whose run is refused.
        owned.close();
        throw error;
      }
    },
    fresh,
  });

  return {
    name: process.name,
    hasNextStep: (state) => {
      if (!canBegin(checkedState(state))) return false;
      if (!isJudgedAtStart(state)) return true;
      const now = clock.now();
      const wallStartedAt = hasStarted(state.execution) ? state.execution.wallStartedAt : now;
      const started = state.evolve({ execution: { ...state.execution, wallStartedAt } });
      return !refuses(judge(process, toStartCandidate(started, { now })).outcome);
    },
    nextStep: async (state, ...[options = {}]) => {
      checkRunOptions(options);
      for await (const next of steps(process, state, entry(state, options, { fresh: false }))) return next;
      return state;
    },
    run: async (state, ...[options = {}]) => {
      checkRunOptions(options);
      return lastStep(process, state, entry(state, options, { fresh: true }));
    },
    iterate: (state, ...[options = {}]) => {
      checkRunOptions(options);
      return steps(process, state, entry(state, options, { fresh: true }));
    },
    stream: (state, ...[options = {}]) => {
      checkRunOptions(options);
      const control = createRunControl(options.signal);
      return createRunStream({
        control,
        onEvent: options.onEvent,
        start: (onEvent) => lastStep(process, state, entry(state, { ...options, onEvent }, { fresh: true, control })),
      });
    },
  };
}
