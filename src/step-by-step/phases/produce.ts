import { classifyError } from '../../errors/index.ts';
import type { Soon } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import { abandoned } from '../active-run.ts';
import type { RunState } from '../run-state.ts';
import type { Interruption, Step } from '../step.ts';
import { withFailure } from '../step.ts';
import type { ProducedStep, StepOf } from '../step-process.ts';
import type { PendingStep } from '../waiting.ts';
import { findWaitsProblem } from '../waiting.ts';
import type { OpenStep } from './open-step.ts';

function closePending<State extends RunState, Context>(
  { state, ids }: OpenStep<State, Context>,
  pending: PendingStep,
): StepOf<State> & Step {
  // Holds because a state's pending step is one of its own kind.
  return state.closePendingStep(pending, 'interrupted', ids) as StepOf<State> & Step;
}

/** The step to record if its producer handed nothing in. */
function getLeftovers<State extends RunState, Context>(open: OpenStep<State, Context>): StepOf<State> & Step {
  const { process, state, subject, ids } = open;
  if (state.pendingStep !== undefined) return closePending(open, state.pendingStep);
  const { participant } = subject;
  return process.emptyStep({ id: ids(), errors: [], ...(participant !== undefined && { participant }) });
}

function toInterrupted<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  interrupted: Interruption = open.run.control.interruption ?? 'signal',
): ProducedStep<StepOf<State>> {
  return { type: 'step', step: { ...getLeftovers(open), interrupted } };
}

/** Starts to produce the next step. Returns an interrupted one if the run is to end. */
export function startProducing<State extends RunState, Context>(
  open: OpenStep<State, Context>,
): Soon<ProducedStep<StepOf<State>> | typeof abandoned> {
  const { process, run, state } = open;
  const { ending } = run.control;
  return ending === undefined ? run.untilAbandoned(process.produce(state, open)) : toInterrupted(open, ending);
}

/** Returns the step to record if its producer threw. */
export function toFailedStep<State extends RunState, Context>(open: OpenStep<State, Context>, error: unknown): ProducedStep<StepOf<State>> {
  // An error that a producer throws because it was interrupted is not a failure.
  if (open.run.control.interruption !== undefined) return toInterrupted(open);
  return { type: 'step', step: withFailure(getLeftovers(open), classifyError(error, { readable: false })) };
}

/** Checks what a producer handed in, and adds what the loop knows better: if the run was interrupted, and if it may wait. */
export function checkProduced<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  produced: ProducedStep<StepOf<State>> | typeof abandoned,
): ProducedStep<StepOf<State>> {
  const { control } = open.run;
  if (produced === abandoned) return toInterrupted(open);
  assertProduced(produced);
  if (produced.type === 'forbidden') return control.ending === undefined ? produced : toInterrupted(open);
  if (produced.type === 'step') {
    const isWhole = control.interruption === undefined || produced.isWhole === true;
    return isWhole ? produced : { type: 'step', step: markInterrupted(produced.step, control.interruption) };
  }
  const problem = findWaitsProblem(produced.waits);
  if (problem !== undefined) {
    // What was done until then is kept, whatever is wrong with the waits.
    const closed = closeWaiting(open, { ...produced, waits: [] });
    return { type: 'step', step: withFailure(closed, classifyError(new InvalidArgumentError(problem), { readable: false })) };
  }
  // Nobody waits for answers in a run that was told to end, or whose time is up, or that an evaluation ends.
  const interrupted = control.ending ?? (open.notes.forbidding === undefined ? undefined : 'vote');
  return interrupted === undefined ? produced : { type: 'step', step: { ...closeWaiting(open, produced), interrupted } };
}

function findStepProblem(step: unknown): string | undefined {
  if (!isRecord(step)) return 'the step is not an object';
  const { outputMessages, errors, usage } = step;
  if (!Array.isArray(outputMessages) || !outputMessages.every((message) => message instanceof Message))
    return 'outputMessages must be a list of Message';
  if (!Array.isArray(errors)) return 'errors must be a list of failures, empty if nothing failed';
  return isRecord(usage) && typeof usage['total'] === 'number' ? undefined : 'usage must be a Usage, such as Usage.none()';
}

// A producer without types gets a clear error here, not a TypeError further on.
function assertProduced(produced: unknown): void {
  const given = isRecord(produced) ? produced : {};
  if (given['type'] === 'forbidden') return;
  if (given['type'] !== 'step' && given['type'] !== 'waiting') {
    throw new InvalidArgumentError(
      `produce() returned ${describeValue(produced)}. Return { type: 'step', step } or { type: 'waiting', partial, waits }.`,
    );
  }
  const problem = findStepProblem(given['type'] === 'step' ? given['step'] : given['partial']);
  if (problem !== undefined) throw new InvalidArgumentError(`produce() returned a step that cannot be recorded: ${problem}.`);
}

// A failure that is only an interruption is not a failure.
function markInterrupted<S extends Step>(step: S, interrupted: Interruption): S {
  return { ...step, interrupted: step.interrupted ?? interrupted, errors: step.errors.filter(({ code }) => code !== 'cancelled') };
}

function closeWaiting<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  { partial, waits }: Pick<PendingStep, 'waits'> & { readonly partial: StepOf<State> & Step },
): StepOf<State> & Step {
  const { startedAt } = open.time;
  const times = { startedAt, parkedAt: startedAt, activeMs: 0, waitedMs: 0 };
  return closePending(open, { number: open.stepNumber, partial, waits, answers: [], ...times });
}

/** Shows the candidate to decision-relevant work. An error is added to the step, which is kept. */
export function inspectStep<State extends RunState, Context>(open: OpenStep<State, Context>, candidate: State): Soon<StepOf<State> & Step> {
  const { process, run } = open;
  // Holds because a candidate has the step that is being judged.
  const step = candidate.execution.judgedStep as StepOf<State> & Step;
  // Asked again each time: the answer changes while work is awaited.
  const isInterrupted = (): boolean => run.control.interruption !== undefined;
  if (process.inspect === undefined || isInterrupted()) return step;
  const markInterrupted = (): StepOf<State> & Step => ({ ...step, interrupted: step.interrupted ?? run.control.interruption ?? 'signal' });
  const fail = (error: unknown): StepOf<State> & Step =>
    isInterrupted() ? markInterrupted() : withFailure(step, classifyError(error, { readable: false }));
  try {
    const inspected = process.inspect(candidate, open);
    // A result that is there at once is not awaited: this runs for every step.
    if (!(inspected instanceof Promise)) return inspected;
    return run.untilAbandoned(inspected).then((late) => (late === abandoned ? markInterrupted() : late), fail);
  } catch (error) {
    return fail(error);
  }
}
