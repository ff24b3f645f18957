// Resuming a step that waited.
// G1. What was not answered keeps waiting; what was answered badly waits again, and says what was wrong.
// G2. The step ends when every call has a result.
// G3. Edited arguments run as they were sent, or not at all: whoever authorized them has seen no others.
// G4. An answer for a run inside a call goes to that run.
import { assertNever, copyFrozen } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import type { Answer, PendingStep, ProducedStep, Wait } from '../step-by-step/index.ts';
import type { PreparedCall, ToolExecution } from '../tools/index.ts';
import { findSchemaChange, toAnsweredExecution, prepareCall, toRejectedExecution, toUnknownExecution, withArgs } from '../tools/index.ts';
import { describeGivenUp } from './finish-step.ts';
import { runNestedCall, toOuterId } from './run-nested-call.ts';
import { completeCall, emitCompleted, findPlace, mergeResults, recallMade, runToolCalls } from './run-tool-calls.ts';
import { toProducedStep } from './steps.ts';
import type { CallAnswer, CallResults, NestedMemo, ToolUseStep } from './tool-use-step.ts';
import type { Work } from './work.ts';

type CallWait = Extract<Wait, { readonly toolName: string }>;

/** Outcome of an answer: a call to run, a result, or the same wait again. */
type AnswerOutcome =
  | { readonly type: 'run'; readonly call: ToolCall }
  | { readonly type: 'ended'; readonly call: ToolCall; readonly execution: ToolExecution }
  | { readonly type: 'waits'; readonly wait: Wait };

async function prepareApproved({ setup, turn }: Work, call: ToolCall): Promise<PreparedCall> {
  const { context, control, time } = turn.scope;
  const { signal } = control;
  return prepareCall(setup.tools, call, { context, signal, clock: time.clock, state: turn.state, approved: true });
}

async function applyAnswer(work: Work, wait: CallWait, answer: Answer): Promise<AnswerOutcome> {
  const startedAt = work.turn.scope.time.clock.now();
  // Nobody can change what is recorded of it later.
  const call = { id: wait.id, name: wait.toolName, args: copyFrozen(wait.args) };
  switch (answer.type) {
    case 'approved': {
      if (answer.args === undefined) return { type: 'run', call };
      const edited = withArgs(call, copyFrozen(answer.args));
      const prepared = await prepareApproved(work, edited);
      // If it was interrupted before it was checked, the answer is still good.
      const isFailed = prepared.type === 'ended' && prepared.execution.status === 'failed';
      const changed = 'parsed' in prepared ? findSchemaChange(prepared.call, prepared.parsed)?.change : undefined;
      const problem = isFailed ? prepared.execution.failure.message : changed && `The edited arguments were not run: ${changed}`;
      if (problem === undefined) return { type: 'run', call: edited };
      const made = recallMade(work, prepared, findPlace(work.step, call, 0));
      if (made !== undefined) return { type: 'ended', call: edited, execution: made };
      return { type: 'waits', wait: { ...wait, problem } };
    }
    case 'rejected':
      return { type: 'ended', call, execution: toRejectedExecution(call, answer.reason, { startedAt }) };
    case 'answered': {
      const execution = await toAnsweredExecution(call, answer.value, { tool: work.setup.tools.get(call.name), startedAt });
      if (execution.status === 'failed') return { type: 'waits', wait: { ...wait, problem: execution.failure.message } };
      return { type: 'ended', call, execution };
    }
    default:
      return assertNever(answer);
  }
}

const toCallAnswer = (answer: Answer): CallAnswer => ({
  id: answer.id,
  type: answer.type === 'approved' && answer.args !== undefined ? 'edited' : answer.type,
  ...(answer.by !== undefined && { by: answer.by }),
});

/** The answer to a call of a run inside: the step itself has no record of that call. */
function toInsideAnswer(answer: Answer, waits: readonly Wait[]): CallAnswer {
  const wait = waits.find(({ id }) => id === answer.id);
  if (answer.type !== 'rejected' || wait === undefined || !('toolName' in wait)) return toCallAnswer(answer);
  return { ...toCallAnswer(answer), toolName: wait.toolName, reason: answer.reason };
}

/** A run inside a call that waited, with the waits and answers that concern it. */
interface OpenNested {
  readonly call: ToolCall;
  readonly index: number;
  readonly kept: NestedMemo;
  readonly waits: readonly Wait[];
  /** Under the run's own ids. */
  readonly answers: readonly Answer[];
}

function listOpenNested({ toolCalls, nested = {} }: ToolUseStep, { waits, answers }: PendingStep<ToolUseStep>): readonly OpenNested[] {
  return toolCalls.flatMap((call, index) => {
    const kept = nested[call.id];
    if (kept === undefined) return [];
    const isOwn = ({ id }: { readonly id: string }): boolean => kept.waits.includes(id);
    const own = answers.filter(isOwn).map((answer) => ({ ...answer, id: answer.id.slice(toOuterId(call.id, '').length) }));
    return [{ call: withArgs(call, copyFrozen(kept.args)), index, kept, waits: waits.filter(isOwn), answers: own }];
  });
}

/** Resumes a run inside a call if something was answered for it. */
async function resumeNested(work: Work, { call, index, kept, waits, answers }: OpenNested): Promise<CallResults> {
  const stillWaiting = { executions: [], nested: { [call.id]: kept } };
  if (answers.length === 0) return { ...stillWaiting, waits };
  const prepared = await prepareApproved(work, call);
  const { control, time } = work.turn.scope;
  const isCancelled = prepared.type === 'ended' && prepared.execution.status === 'cancelled';
  // Interrupted, or ended by a vote, before it was resumed; it has started anyway.
  if (isCancelled || control.forbidding !== undefined)
    return emitCompleted(work, toUnknownExecution(call, { startedAt: time.clock.now(), text: describeGivenUp('interrupted') }));
  const made = prepared.type === 'nested' ? undefined : recallMade(work, prepared, index);
  if (made !== undefined) return emitCompleted(work, made);
  if (prepared.type === 'ended') return emitCompleted(work, prepared.execution);
  if (prepared.type !== 'nested') {
    // Another release of the agent may have something else under this name.
    const problem = `"${call.name}" is not a run of its own any more; answer with the agent that began it`;
    return { ...stillWaiting, waits: waits.map((wait) => ({ ...wait, problem })) };
  }
  const round = { index, own: { usage: Usage.none() }, round: kept.round + 1, memo: kept.memo, answers };
  const outcome = await runNestedCall(work, prepared, round);
  return outcome.type === 'waiting' ? outcome.results : completeCall(work, call, outcome.execution);
}

/** Runs what was answered; the rest of the step keeps waiting. */
export async function resumeStep(work: Work, pending: PendingStep<ToolUseStep>): Promise<ProducedStep<ToolUseStep>> {
  const { step } = work;
  const { waits, answers } = pending;
  const inside = listOpenNested(step, pending);
  const insideIds = new Set(inside.flatMap((each) => each.waits.map(({ id }) => id)));
  const given: CallAnswer[] = [...(step.answers ?? [])];
  const open: Wait[] = [];
  const ended: Extract<AnswerOutcome, { readonly type: 'ended' }>[] = [];
  const toRun: ToolCall[] = [];
  for (const wait of waits) {
    if (insideIds.has(wait.id)) continue;
    const answer = answers.find(({ id }) => id === wait.id);
    if (answer === undefined || wait.type === 'person' || wait.type === 'provider' || wait.type === 'grant') {
      open.push(wait);
      continue;
    }
    const outcome = await applyAnswer(work, wait, answer);
    if (outcome.type !== 'waits') given.push(toCallAnswer(answer));
    if (outcome.type === 'run') toRun.push(outcome.call);
    if (outcome.type === 'waits') open.push(outcome.wait);
    if (outcome.type === 'ended') ended.push(outcome);
  }
  // Completed together: if one of them hangs and the step is given up, none was emitted twice.
  const completed = await Promise.all(ended.map(async ({ call, execution }) => completeCall(work, call, execution)));
  const [ran, ...nested] = await Promise.all([
    runToolCalls({ ...work, step: { ...step, answers: given } }, toRun, { approved: true }),
    ...inside.map((each) => resumeNested(work, each)),
  ]);
  const results = mergeResults([{ executions: step.executions, waits: open }, ...completed, ran, ...nested]);
  // An answer for a run inside that could not be used waits again, under the same id.
  const still = new Set(results.waits.map(({ id }) => id));
  const all = [...given, ...answers.filter(({ id }) => insideIds.has(id) && !still.has(id)).map((answer) => toInsideAnswer(answer, waits))];
  return toProducedStep(work.turn, all.length > 0 ? { ...step, answers: all } : step, results);
}
