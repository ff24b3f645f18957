import { classifyError } from '../../errors/index.ts';
import { InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import { abandoned } from '../run-scope.ts';
import type { RunState } from '../run-state.ts';
import type { Interruption, Step } from '../step.ts';
import { withFailure } from '../step.ts';
import type { Produced, StepOf } from '../step-process.ts';
import type { Wait } from '../waiting.ts';
import { waitsProblem } from '../waiting.ts';
import type { OpenStep } from './open-step.ts';

/** What there is to record of a step whose producer handed nothing in. */
function leftovers<State extends RunState, Context>({ process, state, scope, subject }: OpenStep<State, Context>): StepOf<State> & Step {
  const pending = state.pendingStep;
  // Holds because a state's pending step is one of its own kind.
  return (
    pending === undefined
      ? process.emptyStep({ id: scope.ids(), errors: [], ...(subject.participant !== undefined && { participant: subject.participant }) })
      : state.closePendingStep(pending, 'interrupted', scope.ids)
  ) as StepOf<State> & Step;
}

function interruptedStep<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  interrupted: Interruption,
): Produced<StepOf<State>> {
  return { type: 'step', step: { ...leftovers(open), interrupted } };
}

/** Produces the next step. Never throws: a failure is a failed step, an interruption an interrupted one. */
export async function produceStep<State extends RunState, Context>(open: OpenStep<State, Context>): Promise<Produced<StepOf<State>>> {
  const { ending } = open.run.control;
  if (ending !== undefined) return interruptedStep(open, ending);
  try {
    return received(open, await begun(open));
  } catch (error) {
    return failed(open, error);
  }
}

function begun<State extends RunState, Context>(open: OpenStep<State, Context>): Promise<Produced<StepOf<State>> | typeof abandoned> {
  const { process, state, scope } = open;
  return open.run.untilAbandoned(process.prepare === undefined ? process.produce(state, scope) : prepareAndProduce(open));
}

function failed<State extends RunState, Context>(open: OpenStep<State, Context>, error: unknown): Produced<StepOf<State>> {
  // Whatever a producer throws because it was cut off is not its failure.
  if (wasInterrupted(open)) return interruptedStep(open, interruptionOf(open));
  return { type: 'step', step: withFailure(leftovers(open), classifyError(error, { readable: false })) };
}

/** What a producer handed in, with what the loop knows better: whether the run was cut off, and whether it may wait. */
function received<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  produced: Produced<StepOf<State>> | typeof abandoned,
): Produced<StepOf<State>> {
  const { control } = open.run;
  if (produced === abandoned) return interruptedStep(open, interruptionOf(open));
  checkProduced(produced);
  if (produced.type === 'waiting') {
    const problem = waitsProblem(produced.waits);
    // What was done until then is kept, whatever is wrong with the waits.
    if (problem !== undefined) {
      const closed = closedStep(open, { ...produced, waits: [] }, undefined);
      return { type: 'step', step: withFailure(closed, classifyError(new InvalidArgumentError(problem), { readable: false })) };
    }
    const { waits } = produced;
    // Nobody waits for answers in a run that was told to end, or whose time is up, or that a vote ends.
    const ending = control.ending ?? (open.scope.forbidding === undefined ? undefined : 'vote');
    return ending === undefined ? produced : { type: 'step', step: closedStep(open, { ...produced, waits }, ending) };
  }
  return control.interruption === undefined || produced.isWhole === true
    ? produced
    : { type: 'step', step: asInterrupted(produced.step, control.interruption) };
}

function stepProblem(step: unknown): string | undefined {
  if (!isRecord(step)) return 'the step is no object';
  const { outputMessages, errors, usage } = step;
  if (!Array.isArray(outputMessages) || !outputMessages.every((message) => message instanceof Message))
    return 'outputMessages must be a list of Message';
  if (!Array.isArray(errors)) return 'errors must be a list of failures, empty where nothing failed';
  return isRecord(usage) && typeof usage['total'] === 'number'
    ? undefined
    : 'usage must be a Usage; take Usage.none() where there was none';
}

// What a producer without types may hand in is told to it here, not by a TypeError further on.
function checkProduced(produced: unknown): void {
  const given = isRecord(produced) ? produced : {};
  if (given['type'] !== 'step' && given['type'] !== 'waiting') {
    throw new InvalidArgumentError("produce() must return {type: 'step', step} or {type: 'waiting', partial, waits}.");
  }
  const problem = stepProblem(given['type'] === 'step' ? given['step'] : given['partial']);
  if (problem !== undefined) throw new InvalidArgumentError(`produce() returned a step that cannot be recorded: ${problem}.`);
}

// What failed only because it was cut off did not fail.
function asInterrupted<S extends Step>(step: S, interrupted: Interruption): S {
  return { ...step, interrupted: step.interrupted ?? interrupted, errors: step.errors.filter(({ code }) => code !== 'cancelled') };
}

function closedStep<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  { partial, waits }: { readonly partial: StepOf<State>; readonly waits: readonly Wait[] },
  interrupted: Interruption | undefined,
): StepOf<State> & Step {
  const { state, number, timer } = open;
  const times = { startedAt: timer.startedAt, parkedAt: timer.startedAt, activeMs: 0, waitedMs: 0 };
  const closed = state.closePendingStep({ number, partial, waits, answers: [], ...times }, 'interrupted', open.scope.ids) as StepOf<State> &
    Step;
  return interrupted === undefined ? closed : { ...closed, interrupted };
}

async function prepareAndProduce<State extends RunState, Context>({
  process,
  state,
  scope,
}: OpenStep<State, Context>): Promise<Produced<StepOf<State>>> {
  return process.produce((await process.prepare?.(state, scope)) ?? state, scope);
}

/** Lets decision-relevant work look at the candidate. What it throws is added to the step, which is kept. */
export function inspectStep<State extends RunState, Context>(
  open: OpenStep<State, Context>,
  candidate: State,
): StepOf<State> | Promise<StepOf<State>> {
  const { process, run, scope } = open;
  // Holds because a candidate carries the step that is being judged.
  const step = candidate.execution.judgedStep as StepOf<State> & Step;
  if (process.inspect === undefined || wasInterrupted(open)) return step;
  const cutShort = (): StepOf<State> => ({ ...step, interrupted: step.interrupted ?? interruptionOf(open) });
  const failedWith = (error: unknown): StepOf<State> =>
    wasInterrupted(open) ? cutShort() : withFailure(step, classifyError(error, { readable: false }));
  try {
    const inspected = process.inspect(candidate, scope);
    // What is there at once is not waited for: this is asked of every step.
    if (!(inspected instanceof Promise)) return inspected;
    return run.untilAbandoned(inspected).then((late) => (late === abandoned ? cutShort() : late), failedWith);
  } catch (error) {
    return failedWith(error);
  }
}

// Both are asked anew each time: the answer changes while work is awaited.
const wasInterrupted = <State extends RunState, Context>({ run }: OpenStep<State, Context>): boolean =>
  run.control.interruption !== undefined;
const interruptionOf = <State extends RunState, Context>({ run }: OpenStep<State, Context>): Interruption =>
  run.control.interruption ?? 'signal';
