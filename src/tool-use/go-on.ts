// Going on with a step that waited.
// G1. What was not answered goes on waiting; what was answered badly waits again, and says what was wrong.
// G2. The step ends when every call has a result.
import { assertNever } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Answer, PendingStep, Produced, Wait } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { answeredExecution, prepareCall, rejectedExecution, withArgs } from '../tools/index.ts';
import type { Work } from './carry-out.ts';
import { carryOut, settledStep, tellEnd } from './carry-out.ts';
import type { CallAnswer, ToolUseStep } from './tool-use-step.ts';

type CallWait = Exclude<Wait, { readonly type: 'person' | 'grant' }>;

/** What an answer comes to: a call to run, a result, or the same wait again. */
type Settled =
  | { readonly type: 'run'; readonly call: ToolCall }
  | { readonly type: 'ended'; readonly execution: ToolExecution }
  | { readonly type: 'waits'; readonly wait: Wait };

async function approvedCall<Context>({ setup, turn }: Work<Context>, call: ToolCall, wait: CallWait): Promise<Settled> {
  const { context, signal, clock } = turn.scope;
  const prepared = await prepareCall(setup.tools, call, { context, signal, clock, state: turn.state, approved: true });
  // Cut off before it was looked at: the answer is still good.
  if (prepared.type !== 'ended' || prepared.execution.status !== 'failed') return { type: 'run', call };
  return { type: 'waits', wait: { ...wait, problem: prepared.execution.failure.message } };
}

async function givenResult<Context>({ setup, turn }: Work<Context>, wait: CallWait, value: unknown): Promise<Settled> {
  const call = { id: wait.id, name: wait.toolName, args: wait.args };
  const execution = await answeredExecution(call, value, { tool: setup.tools.get(call.name), startedAt: turn.scope.clock.now() });
  if (execution.status === 'failed') return { type: 'waits', wait: { ...wait, problem: execution.failure.message } };
  return { type: 'ended', execution };
}

async function settle<Context>(work: Work<Context>, wait: CallWait, answer: Answer): Promise<Settled> {
  const call = { id: wait.id, name: wait.toolName, args: wait.args };
  switch (answer.type) {
    case 'approved':
      return answer.args === undefined ? { type: 'run', call } : approvedCall(work, withArgs(call, answer.args), wait);
    case 'rejected':
      return { type: 'ended', execution: rejectedExecution(call, answer.reason, { startedAt: work.turn.scope.clock.now() }) };
    case 'answered':
      return givenResult(work, wait, answer.value);
    default:
      return assertNever(answer);
  }
}

const answerOf = (answer: Answer): CallAnswer => ({
  id: answer.id,
  type: answer.type === 'approved' && answer.args !== undefined ? 'edited' : answer.type,
});

/** Works on what was answered. */
export async function goOn<Context>(work: Work<Context>, { waits, answers }: PendingStep<ToolUseStep>): Promise<Produced<ToolUseStep>> {
  const { executions } = work.step;
  const given: CallAnswer[] = [...(work.step.answers ?? [])];
  const open: Wait[] = [];
  const ended: ToolExecution[] = [];
  const toRun: ToolCall[] = [];
  for (const wait of waits) {
    const answer = answers.find(({ id }) => id === wait.id);
    if (answer === undefined || wait.type === 'person' || wait.type === 'grant') {
      open.push(wait);
      continue;
    }
    const settled = await settle(work, wait, answer);
    if (settled.type !== 'waits') given.push(answerOf(answer));
    if (settled.type === 'run') toRun.push(settled.call);
    if (settled.type === 'waits') open.push(settled.wait);
    if (settled.type === 'ended') ended.push(settled.execution);
  }
  // Told together: where one of them hangs and the step is given up, none was told twice.
  for (const execution of ended) tellEnd(work, execution);
  const carriedOut = await carryOut(work, toRun, { approved: true });
  const answered = { ...work, step: { ...work.step, ...(given.length > 0 && { answers: given }) } };
  return settledStep(answered, { executions: [...executions, ...ended, ...carriedOut.executions], waits: [...open, ...carriedOut.waits] });
}
