// Going on with a step that waited.
// G1. What was not answered goes on waiting; what was answered badly waits again, and says what was wrong.
// G2. The step ends when every call has a result.
// G3. What was answered for a run inside a call goes to that run.
import type { Failure } from '../errors/index.ts';
import { assertNever, frozenCopy } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Answer, PendingStep, Produced, Wait } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { answeredExecution, prepareCall, rejectedExecution, unknownExecution, withArgs } from '../tools/index.ts';
import { Usage } from '../messages/index.ts';
import { HookPoint } from '../hooks/index.ts';
import { carryOnNested, memoOf, outerId } from './carry-on-nested.ts';
import { givenUp } from './closed-step.ts';
import type { CarriedOut } from './carry-out.ts';
import { carryOut, lookedAt, settledStep, tellEnd } from './carry-out.ts';
import type { CallAnswer, NestedMemo, ToolUseStep } from './tool-use-step.ts';
import type { Work } from './work.ts';

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
  // Nobody can change what is recorded of it later.
  const call = { id: wait.id, name: wait.toolName, args: frozenCopy(wait.args) };
  switch (answer.type) {
    case 'approved':
      return answer.args === undefined ? { type: 'run', call } : approvedCall(work, withArgs(call, frozenCopy(answer.args)), wait);
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

/** A run inside a call that waited, with what concerns it. */
interface OpenNested {
  readonly call: ToolCall;
  readonly index: number;
  readonly kept: NestedMemo;
  readonly waits: readonly Wait[];
  /** Under the run's own ids. */
  readonly answers: readonly Answer[];
}

function openNested({ toolCalls, nested = {} }: ToolUseStep, { waits, answers }: PendingStep<ToolUseStep>): readonly OpenNested[] {
  return toolCalls.flatMap((call, index) => {
    const kept = nested[call.id];
    if (kept === undefined) return [];
    const isOwn = ({ id }: { readonly id: string }): boolean => kept.waits.includes(id);
    const own = answers.filter(isOwn).map((answer) => ({ ...answer, id: answer.id.slice(outerId(call.id, '').length) }));
    return [{ call: withArgs(call, frozenCopy(kept.args)), index, kept, waits: waits.filter(isOwn), answers: own }];
  });
}

/** Takes up a run inside a call again, where something was answered for it. */
async function goOnInside<Context>(work: Work<Context>, { call, index, kept, waits, answers }: OpenNested): Promise<CarriedOut> {
  if (answers.length === 0) return { executions: [], waits, nested: { [call.id]: kept } };
  const { setup, turn } = work;
  const { context, clock, signal } = turn.scope;
  const prepared = await prepareCall(setup.tools, call, { context, clock, signal, state: turn.state, approved: true });
  const isOver = prepared.type === 'ended' && prepared.execution.status === 'cancelled';
  // Cut off, or ended by a vote, before it was taken up again; it has begun all the same.
  if (isOver || turn.scope.forbidding !== undefined) {
    const execution = unknownExecution(call, { startedAt: clock.now(), text: givenUp('interrupted') });
    tellEnd(work, execution);
    return { executions: [execution], waits: [] };
  }
  if (prepared.type === 'ended') {
    tellEnd(work, prepared.execution);
    return { executions: [prepared.execution], waits: [] };
  }
  if (prepared.type !== 'nested') {
    // Another release of the agent may have something else under this name.
    const problem = `"${call.name}" is no run of its own any more; answer with the agent that began it`;
    return { executions: [], waits: waits.map((wait) => ({ ...wait, problem })), nested: { [call.id]: kept } };
  }
  const round = kept.round + 1;
  const outcome = await carryOnNested(work, prepared, { index, own: { usage: Usage.none() }, round, memo: kept.memo, answers });
  if (outcome.type === 'ended') return seen(work, call, outcome.execution);
  // Holds: they come from this room's own work on runs inside calls.
  return { executions: [], waits: outcome.waits as readonly Wait[], nested: { [call.id]: memoOf(outcome, round) } };
}

/** A result, as hooks leave it, told. */
async function seen<Context>(work: Work<Context>, call: ToolCall, execution: ToolExecution): Promise<CarriedOut> {
  const { hooks } = work.setup;
  const failures: Failure[] = [];
  const wasMade = execution.status === 'succeeded' || execution.status === 'failed';
  const isWatched = wasMade && hooks?.has(HookPoint.AfterTool) === true;
  const left = isWatched ? await lookedAt(work, { hooks, execution, call }, failures) : execution;
  tellEnd(work, left);
  return { executions: [left], waits: [], failures };
}

function together(parts: readonly CarriedOut[]): CarriedOut {
  const nested = Object.assign({}, ...parts.map((part) => part.nested)) as Readonly<Record<string, NestedMemo>>;
  return {
    executions: parts.flatMap(({ executions }) => executions),
    waits: parts.flatMap(({ waits }) => waits),
    failures: parts.flatMap(({ failures = [] }) => failures),
    ...(Object.keys(nested).length > 0 && { nested }),
  };
}

/** Works on what was answered. */
export async function goOn<Context>(work: Work<Context>, pending: PendingStep<ToolUseStep>): Promise<Produced<ToolUseStep>> {
  const { waits, answers } = pending;
  const inside = openNested(work.step, pending);
  const insideIds = new Set(inside.flatMap((each) => each.waits.map(({ id }) => id)));
  const given: CallAnswer[] = [...(work.step.answers ?? [])];
  const open: Wait[] = [];
  const ended: ToolExecution[] = [];
  const toRun: ToolCall[] = [];
  for (const wait of waits) {
    if (insideIds.has(wait.id)) continue;
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
  const shown = await Promise.all(ended.map((execution) => seen(work, callOf(execution), execution)));
  const approved = { ...work, step: { ...work.step, answers: given } };
  const [ran, ...nested] = await Promise.all([
    carryOut(approved, toRun, { approved: true }),
    ...inside.map((each) => goOnInside(work, each)),
  ]);
  const left = together([{ executions: work.step.executions, waits: open }, ...shown, ran, ...nested]);
  // What was answered inside and could not be used waits again, under the same id.
  const still = new Set(left.waits.map(({ id }) => id));
  const all = [...given, ...answers.filter(({ id }) => insideIds.has(id) && !still.has(id)).map(answerOf)];
  return settledStep({ ...work, step: { ...work.step, ...(all.length > 0 && { answers: all }) } }, left);
}

const callOf = ({ toolCallId: id, toolName: name, args }: ToolExecution): ToolCall => ({ id, name, args });
