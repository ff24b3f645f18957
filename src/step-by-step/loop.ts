// The loop
// Owns:     the order of the phases, and when a run is over.
// Does not: know what a step is made of, read a clock for judging, or store anything itself.
// L1. Every recorded step has exactly one outcome, and every outcome is emitted exactly once.
// L2. A failure, an interruption and a criterion that throws take the same path as a good step.
// L3. A run ends only with a reason on its state, or waiting for somebody, or left by its host.
// L4. Whoever drives it (to the end, step by step, as a stream), the steps are the same.
import type { ErrorHandling } from '../errors/index.ts';
import { TimedOutError } from '../errors/index.ts';
import type { Soon } from '../lib/index.ts';
import type { ActiveRun } from './active-run.ts';
import type { Candidate } from './candidate.ts';
import { canBegin, getJudgingTime } from './execution.ts';
import { begin, commitOwedEnd, forbidStep, judgeStart, owesEnd } from './phases/begin.ts';
import { commitStep, park } from './phases/commit.ts';
import type { Judged } from './phases/judge.ts';
import { addOuterEvaluations, buildCandidate, getRemainingMs, handleFailures, judge } from './phases/judge.ts';
import { OpenStep } from './phases/open-step.ts';
import { findProviderWait } from './phases/outage.ts';
import { checkProduced, inspectStep, startProducing, toFailedStep } from './phases/produce.ts';
import type { RunState } from './run-state.ts';
import type { Step } from './step.ts';
import type { ProducedStep, StepOf, StepProcess } from './step-process.ts';
import type { ProviderWait } from './waiting.ts';

/** Time limit of the step that sums up, unless the process has one. */
const defaultFinalizeMs = 30_000;

/** Interval of looking at the time again while a wait gives time back. */
const pollMs = 25;

/** Number of steps that a driver asks for. */
interface Drive {
  /** False if steps may follow each other without a word to the driver. */
  readonly single: boolean;
}

/** One run of a process over one state. */
export class Loop<State extends RunState, Context> {
  readonly process: StepProcess<State, Context>;
  readonly run: ActiveRun<State, Context>;
  readonly #announcesResume: boolean;
  #state: State;
  #isBegun = false;
  #isLeft = false;
  #open: OpenStep<State, Context> | undefined;
  /** End of the last step of this run, on the clock that never jumps. */
  #stepEndedAt: number | undefined;

  constructor(
    process: StepProcess<State, Context>,
    state: State,
    { run, announcesResume }: { readonly run: ActiveRun<State, Context>; readonly announcesResume: boolean },
  ) {
    this.process = process;
    this.run = run;
    this.#state = state;
    this.#announcesResume = announcesResume;
  }

  get state(): State {
    return this.#state;
  }

  /** Takes the next step. Returns the state after it, or undefined if there is nothing to do. */
  next(): Promise<State | undefined> {
    return this.#hasNoPause ? this.#takeSteps({ single: true }) : this.#nextAfterPause({ single: true });
  }

  /** Takes all steps. Returns the last state. */
  async toEnd(): Promise<State> {
    let next: State | undefined;
    do next = await this.#nextAfterPause({ single: false });
    while (next !== undefined && canBegin(next));
    return this.#state;
  }

  /** True if the next step can start at once: awaiting nothing would cost every step. */
  get #hasNoPause(): boolean {
    const isQuiet = this.#isBegun && !this.#isLeft && this.run.options.between === undefined && canBegin(this.#state);
    return isQuiet && this.#retryDelayMs === 0;
  }

  async #nextAfterPause(drive: Drive): Promise<State | undefined> {
    if (!this.#isBegun) {
      const given = this.#state;
      await this.#begin();
      if (this.#state !== given && !canBegin(this.#state)) return this.#state;
    }
    if (this.#isLeft || !canBegin(this.#state)) return undefined;
    if (await this.#pause()) return undefined;
    return this.#takeSteps(drive);
  }

  async #begin(): Promise<void> {
    this.#isBegun = true;
    const given = this.#state;
    this.#state = begin(this, given, this.#announcesResume);
    this.#watchTime();
    if (this.#state !== given) this.#state = await judgeStart(this, this.#state);
    else if (owesEnd(given)) this.#state = await commitOwedEnd(this, given);
  }

  /** Waits if the last step failed, then asks the host. Returns true if the run is to be left as it is. */
  async #pause(): Promise<boolean> {
    if (this.#retryDelayMs > 0 && (await this.#waitBeforeRetry())) return this.#leave();
    const { events, options } = this.run;
    const answer = await options.between?.(this.#state, events.uncommitted);
    if (answer === undefined) return false;
    if ('leave' in answer) return this.#leave();
    this.#state = answer.state;
    events.advanceTo(answer.state.data.lastSeq);
    if (answer.isCommitted === true) events.takeUncommitted();
    return false;
  }

  #leave(): true {
    this.#isLeft = true;
    // Events that no commit will store keep their numbers; a store numbers them again when the run is resumed.
    if (this.run.options.commit === undefined) this.#state = this.#state.evolve({ lastSeq: this.run.events.lastSeq });
    return true;
  }

  /** Takes a step, and unless it is to be a single one, those after it that need no pause. */
  async #takeSteps({ single }: Drive): Promise<State> {
    do {
      const open = new OpenStep(this, this.#state);
      this.#open = open;
      this.run.stepTime = open.time;
      const endFinalizing = open.finalizing ? this.#beginFinalizing() : undefined;
      try {
        let produced: ProducedStep<StepOf<State>>;
        try {
          produced = checkProduced(open, await startProducing(open));
        } catch (error) {
          produced = toFailedStep(open, error);
        }
        const recorded = this.#record(open, open.finalizing ? markFinalizing(produced) : produced);
        // Awaiting a state that is there would cost every step of a run without a store.
        this.#state = recorded instanceof Promise ? await recorded : recorded;
      } finally {
        this.#open = undefined;
        this.run.stepTime = undefined;
        endFinalizing?.();
      }
    } while (!single && this.#hasNoPause);
    return this.#state;
  }

  /** Ends a step that was produced: it is judged and recorded, or waits, or there is none after all. */
  #record(open: OpenStep<State, Context>, produced: ProducedStep<StepOf<State>>): Soon<State> {
    if (produced.type === 'forbidden') {
      open.close();
      return forbidStep(open);
    }
    open.ensureStarted();
    if (produced.type === 'waiting') {
      open.close();
      return park(open, produced.partial, produced.waits);
    }
    const candidate = buildCandidate(open, produced.step);
    if (this.process.inspect === undefined) return this.#judgeAndCommit(open, candidate);
    const finish = (inspected: StepOf<State> & Step): Soon<State> =>
      this.#judgeAndCommit(open, buildCandidate(open, inspected, candidate.state));
    const inspected = inspectStep(open, candidate.state);
    return inspected instanceof Promise ? inspected.then(finish) : finish(inspected);
  }

  #judgeAndCommit(open: OpenStep<State, Context>, built: Candidate<State>): Soon<State> {
    const candidate = this.run.outer === undefined ? built : addOuterEvaluations(open, built);
    open.close();
    this.#stepEndedAt = this.run.clock.monotonic();
    const handled = handleFailures(open, candidate);
    const judged = judge(this.process, handled.candidate);
    const wait = this.#findProviderWait(judged, handled.decided);
    if (wait === undefined) return commitStep(open, judged, handled.handling);
    // Holds because a candidate has the step that is being judged.
    return park(open, judged.candidate.state.execution.judgedStep as Step, [wait]);
  }

  /** Returns the wait for a provider that is down, if the host has a rule for that and the step may be taken again. */
  #findProviderWait(judged: Judged<State>, handling: ErrorHandling | undefined): ProviderWait | undefined {
    const { onOutage: rule } = this.run.options;
    // A step that had waited for somebody has done something already.
    if (rule === undefined || handling === undefined || this.#state.pendingStep !== undefined) return undefined;
    // Holds: a candidate's step is of its state's kind.
    const isRepeatable = (step: Step): boolean => this.process.isRepeatable?.(step as StepOf<State>) === true;
    return findProviderWait({ rule, judged, handling, isRepeatable, now: this.run.clock.now(), random: this.run.random });
  }

  /** Gives the step that sums up a deadline of its own in place of the one that has passed. Returns a function that takes it away. */
  #beginFinalizing(): () => void {
    this.run.renew();
    return this.run.clock.schedule(this.process.finalizeMs ?? defaultFinalizeMs, () => {
      this.run.control.interrupt('deadline', new TimedOutError('The time for the summary (limits.finalizeMs) is over.'));
    });
  }

  /** Delay before the next step that the last one's failure asks for. */
  get #retryDelayMs(): number {
    const { lastStepResult, pendingStep, execution } = this.#state;
    // A step that has waited for its provider was taken before, after this delay.
    return pendingStep === undefined && execution.outage === undefined ? (lastStepResult?.handling?.delayMs ?? 0) : 0;
  }

  /** Waits for what is left of the delay. Returns true if the engine asks to leave the run and enter it again later. */
  async #waitBeforeRetry(): Promise<boolean> {
    const { clock, effects } = this.run;
    const last = this.#state.lastStepResult;
    const delayMs = this.#retryDelayMs;
    if (last === undefined) return false;
    const began = clock.monotonic();
    // After a restart only the wall clock can tell; one that was set back since then must not lengthen the wait.
    const passedMs = this.#stepEndedAt === undefined ? Math.max(0, clock.now() - last.timing.endedAt) : began - this.#stepEndedAt;
    const leftMs = delayMs - passedMs;
    if (leftMs <= 0) return false;
    const slept = await effects.sleep(`sleep/${last.number}`, leftMs, { mayLeave: true });
    if (!slept.ok && slept.kind === 'leave') return true;
    const { execution } = this.#state;
    this.#state = this.#state.evolve({ execution: { ...execution, waitedMs: execution.waitedMs + (clock.monotonic() - began) } });
    return false;
  }

  /** Sets a deadline by what the time limits leave. When it fires, it looks again: waiting may have given time back. */
  #watchTime(): void {
    const { run } = this;
    let cancel: (() => void) | undefined;
    const check = (leastMs: number): void => {
      const { execution } = this.#state;
      const time = this.#open?.time;
      const state = this.#state.evolve({ execution: { ...execution, activeMs: execution.activeMs + (time?.activeMs ?? 0) } });
      const leftMs = getRemainingMs(this.process, { state, now: getJudgingTime(execution, run.clock) - (time?.personMs ?? 0) });
      // The step that sums up has a deadline of its own.
      if (leftMs === undefined || !Number.isFinite(leftMs) || this.#open?.finalizing === true) return;
      if (leftMs <= 0) run.control.interrupt('deadline', new TimedOutError('The time limit was reached.'));
      else cancel = run.clock.schedule(Math.max(leastMs, Math.ceil(leftMs)), () => check(pollMs));
    };
    if (canBegin(this.#state)) check(0);
    run.onClose.push(() => cancel?.());
  }
}

function markFinalizing<S extends object>(produced: ProducedStep<S>): ProducedStep<S> {
  if (produced.type === 'forbidden') return produced;
  if (produced.type === 'step') return { type: 'step', step: { ...produced.step, finalizing: true } };
  return { ...produced, partial: { ...produced.partial, finalizing: true } };
}
