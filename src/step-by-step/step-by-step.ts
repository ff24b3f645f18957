import { canBegin } from './can-begin.ts';
import { hasStarted } from './execution.ts';
import { lastStep, steps } from './loop.ts';
import { isJudgedAtStart, refuses, startCandidate } from './phases/begin.ts';
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
import { InvalidArgumentError, systemClock } from '../lib/index.ts';

// Stored data that was parsed but not read is the usual mistake.
function checkedState<State>(state: State): State {
  if (state instanceof RunState) return state;
  throw new InvalidArgumentError('This is no state. Read stored data with fromJSON of its state class before you run it.');
}

type Drive = { readonly fresh: boolean; readonly control?: ReturnType<typeof createRunControl> };

/** Makes a runnable of a process: to the end, step by step, or as a stream, all over the one loop. */
export function createStepByStep<State extends RunState, Context = unknown, Event extends BaseEvent = LoopEvent>(
  process: StepProcess<State, Context>,
  ports: Ports = {},
): Runnable<State, Context, Event> {
  const { clock = systemClock } = ports;

  const entry = (state: State, options: RunOptions<State, Context, Event>, { fresh, control }: Drive) => ({
    open: () => createRunScope(checkedState(state), options, control === undefined ? ports : { ...ports, control }),
    fresh,
  });

  return {
    name: process.name,
    hasNextStep: (state) => {
      if (!canBegin(checkedState(state))) return false;
      if (!isJudgedAtStart(state)) return true;
      const now = clock.now();
      const wallStartedAt = hasStarted(state.execution) ? state.execution.wallStartedAt : now;
      return !refuses(judge(process, startCandidate(state, { now, wallStartedAt })).outcome);
    },
    nextStep: async (state, ...[options = {}]) => {
      for await (const next of steps(process, state, entry(state, options, { fresh: false }))) return next;
      return state;
    },
    run: (state, ...[options = {}]) => lastStep(process, state, entry(state, options, { fresh: true })),
    iterate: (state, ...[options = {}]) => steps(process, state, entry(state, options, { fresh: true })),
    stream: (state, ...[options = {}]) => {
      const control = createRunControl(options.signal);
      return createRunStream({
        control,
        onEvent: options.onEvent,
        start: (onEvent) => lastStep(process, state, entry(state, { ...options, onEvent }, { fresh: true, control })),
      });
    },
  };
}
