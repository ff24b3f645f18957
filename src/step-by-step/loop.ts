// The loop
// Owns:     the order of the six phases, and when a run is over.
// Does not: know what a step is made of, read a clock for judging, or store anything itself.
// L1. Every recorded step has exactly one outcome, and every outcome is told exactly once.
// L2. A failure, an interruption and a criterion that throws take the same road as a good step.
// L3. A run ends only with a reason on its state, or waiting for somebody.
// L4. Whoever drives it (to the end, step by step, as a stream), the steps are the same.
import { TimedOutError } from '../errors/index.ts';
import { canBegin } from './can-begin.ts';
import { begin, judgeStart, owesEnd, tellOwedEnd } from './phases/begin.ts';
import { commitStep, park } from './phases/commit.ts';
import { addOuterEvaluations, buildCandidate, getRemainingMs, handleFailures, judge } from './phases/judge.ts';
import { openStep } from './phases/open-step.ts';
import { inspectStep, produceStep } from './phases/produce.ts';
import type { RunScope } from './run-scope.ts';
import type { RunState } from './run-state.ts';
import type { Produced, StepProcess } from './step-process.ts';
import type { StepTimer } from './step-timer.ts';

/** What the time limits are measured on while a step is under way. */
interface Live<State> {
  state: State;
  timer?: StepTimer | undefined;
  /** True while the step runs that sums up: it has a deadline of its own. */
  finalizing?: boolean;
}

/** How a run is entered. */
interface Entry<State, Context> {
  readonly open: () => RunScope<State, Context>;
  /** Starts the wall clock anew. */
  readonly fresh: boolean;
}

/** A run that has begun: steps can be taken while there is something to do. */
interface Begun<State> {
  readonly state: State;
  readonly hasNext: boolean;
  step(): Promise<State>;
  /** Waits if the last step failed, then calls `between`; true if the run is to be left as it is now. */
  pause(): boolean | Promise<boolean>;
}

async function beginRun<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  given: State,
  { run, fresh }: { readonly run: RunScope<State, Context>; readonly fresh: boolean },
): Promise<Begun<State>> {
  const live: Live<State> = { state: begin(process, given, { run, fresh }) };
  watchTime(process, live, run);
  if (live.state !== given) live.state = await judgeStart(process, live.state, run);
  else if (owesEnd(given)) live.state = await tellOwedEnd(process, given, run);
  return {
    get state() {
      return live.state;
    },
    get hasNext() {
      return canBegin(live.state);
    },
    step: async () => (live.state = await takeStep(process, live, run)),
    // Waiting for nothing would cost every step.
    pause: () => (run.between === undefined && retryDelayMs(live.state) === 0 ? false : pause(live, run)),
  };
}

async function pause<State extends RunState, Context>(live: Live<State>, run: RunScope<State, Context>): Promise<boolean> {
  if (retryDelayMs(live.state) > 0) {
    const waited = await waitBeforeRetry(live.state, run);
    if (waited === 'leave') return true;
    live.state = waited;
  }
  const answer = await run.between?.(live.state);
  if (answer === undefined) return false;
  if ('leave' in answer) return true;
  live.state = answer.state;
  return false;
}

/** All steps from here to the end of the run; yields the state after each, the last one included. Opens its scope when first asked. */
export async function* steps<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  given: State,
  { open, fresh }: Entry<State, Context>,
): AsyncGenerator<State, void, undefined> {
  const run = open();
  try {
    const begun = await beginRun(process, given, { run, fresh });
    if (begun.state !== given && !begun.hasNext) yield begun.state;
    while (begun.hasNext) {
      const left = begun.pause();
      if (left !== false && (await left)) break;
      yield await begun.step();
    }
  } finally {
    run.close();
  }
}

/** The same steps for those who want the end alone. */
export async function lastStep<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  given: State,
  { open, fresh }: Entry<State, Context>,
): Promise<State> {
  const run = open();
  try {
    const begun = await beginRun(process, given, { run, fresh });
    while (begun.hasNext) {
      const left = begun.pause();
      if (left !== false && (await left)) break;
      await begun.step();
    }
    return begun.state;
  } finally {
    run.close();
  }
}

/** One step through all its phases. */
async function takeStep<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  live: Live<State>,
  run: RunScope<State, Context>,
): Promise<State> {
  const open = openStep(process, live.state, run);
  live.timer = open.timer;
  const endFinalizing = open.finalizing ? beginFinalizing(process, live, run) : undefined;
  try {
    const produced = open.finalizing ? asFinalizing(await produceStep(open)) : await produceStep(open);
    open.scope.ensureBegun();
    if (produced.type === 'waiting') {
      open.scope.close();
      return await park(open, produced.partial, produced.waits);
    }
    let candidate = buildCandidate(open, produced.step);
    if (process.inspect !== undefined) {
      const inspected = inspectStep(open, candidate.state);
      candidate = buildCandidate(open, inspected instanceof Promise ? await inspected : inspected, candidate.state);
    }
    if (run.inside !== undefined) candidate = addOuterEvaluations(open, candidate);
    open.scope.close();
    const handled = handleFailures(open, candidate);
    const committed = commitStep(open, judge(process, handled.candidate), handled.handling);
    // Awaiting what is there already would cost every step of a run without a store.
    return committed instanceof Promise ? await committed : committed;
  } finally {
    live.timer = undefined;
    endFinalizing?.();
  }
}

/** How long the step may take that sums up, where the process does not say. */
const defaultFinalizeMs = 30_000;

/** Gives the step that sums up a deadline of its own in place of the one that has passed. Returns what takes it away again. */
function beginFinalizing<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  live: Live<State>,
  run: RunScope<State, Context>,
): () => void {
  live.finalizing = true;
  run.renew();
  return run.clock.schedule(process.finalizeMs ?? defaultFinalizeMs, () => {
    run.control.interrupt('deadline', new TimedOutError('The time to sum up is over.'));
  });
}

function asFinalizing<S extends object>(produced: Produced<S>): Produced<S> {
  if (produced.type === 'step') return { type: 'step', step: { ...produced.step, finalizing: true } };
  return { ...produced, partial: { ...produced.partial, finalizing: true } };
}

/** What the last step's failure says to wait before the next one. */
const retryDelayMs = ({ lastStepResult, pendingStep }: RunState): number =>
  pendingStep === undefined ? (lastStepResult?.handling?.delayMs ?? 0) : 0;

/**
 * Waits if the last step failed and is to be tried again later; the part of the wait that has passed already is not waited for.
 * Returns 'leave' if the engine wants the run to be left as it is and entered again later.
 */
async function waitBeforeRetry<State extends RunState, Context>(state: State, run: RunScope<State, Context>): Promise<State | 'leave'> {
  const last = state.lastStepResult;
  const delayMs = retryDelayMs(state);
  if (last === undefined) return state;
  // A clock that was set back since then must not lengthen the wait.
  const leftMs = Math.min(delayMs, last.timing.endedAt + delayMs - run.clock.now());
  if (leftMs <= 0) return state;
  const began = run.clock.monotonic();
  const slept = await run.effects.sleep(`sleep/${last.number}`, leftMs, { mayLeave: true });
  if (!slept.ok && slept.kind === 'leave') return 'leave';
  const { execution } = state;
  return state.evolve({ execution: { ...execution, waitedMs: execution.waitedMs + (run.clock.monotonic() - began) } });
}

/** How often to look again while a wait gives time back. */
const pollMs = 25;

/** Makes a deadline of what the time limits leave. When it fires, it asks again: waiting may have given time back. */
function watchTime<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  live: Live<State>,
  run: RunScope<State, Context>,
): void {
  let cancel: (() => void) | undefined;
  const check = (leastMs: number): void => {
    const { execution } = live.state;
    const activeMs = execution.activeMs + (live.timer?.activeMs() ?? 0);
    const state = live.state.evolve({ execution: { ...execution, activeMs } });
    const leftMs = getRemainingMs(process, { state, now: run.clock.now() - (live.timer?.personMs() ?? 0) });
    if (leftMs === undefined || !Number.isFinite(leftMs)) return;
    if (live.finalizing === true) return;
    if (leftMs <= 0) run.control.interrupt('deadline', new TimedOutError('The time limit was reached.'));
    else
      cancel = run.clock.schedule(Math.max(leastMs, Math.ceil(leftMs)), () => {
        check(pollMs);
      });
  };
  if (canBegin(live.state)) check(0);
  run.onClose(() => cancel?.());
}
