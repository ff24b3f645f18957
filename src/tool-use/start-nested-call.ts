// Runs a call whose tool is a run of its own. Such tools import this file, so bundles without them do not contain it.
import { classifyError } from '../errors/index.ts';
import { reportSafely } from '../events/index.ts';
import type { IdSource } from '../lib/index.ts';
import { escapePart } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Wait } from '../step-by-step/index.ts';
import type { NestedCall, ToolExecution } from '../tools/index.ts';
import { toAnsweredExecution, toCancelledExecution, toFailedExecution, toUnknownExecution } from '../tools/index.ts';
import { describeGivenUp } from './finish-step.ts';
import type { NestedHost, NestedOutcome, NestedResult, NestedRound } from './run-nested-call.ts';
import { toOuterId } from './run-nested-call.ts';
import type { NestedMemo } from './tool-use-step.ts';
import type { Work } from './work.ts';

function createHost({ turn, setup }: Work, { id }: ToolCall, at: NestedRound): NestedHost {
  const { scope, state } = turn;
  const prefix = `${scope.executionId}/${scope.stepNumber}/${escapePart(id)}/${at.round}`;
  let drawn = 0;
  const ids: IdSource = () => `${prefix}/${(drawn += 1)}`;
  return {
    context: scope.context,
    toolCallId: id,
    state,
    outer: scope.nesting.openInside(`nested/${scope.stepNumber}/${at.index}/${at.round}`, {
      own: at.own,
      ids,
      path: toOuterId(id, ''),
      watchesCost: setup.watchesCost,
    }),
    clock: scope.time.clock,
    ids,
    memo: at.memo,
    answers: at.answers,
    report: (error, where) => reportSafely(scope.onProblem, error, where),
    emit: (make) => scope.events.emit((header) => make(header, setup.name)),
  };
}

/** Starts or resumes the run inside a call. Never rejects. */
export async function startNestedCall(work: Work, { call, tool, parsed }: NestedCall, at: NestedRound): Promise<NestedOutcome> {
  const { scope } = work.turn;
  const [startedAt, startedMonotonic] = [scope.time.clock.now(), scope.time.clock.monotonic()];
  const getTiming = (): { readonly startedAt: number; readonly durationMs: number } => ({
    startedAt,
    durationMs: Math.max(0, Math.round(scope.time.clock.monotonic() - startedMonotonic)),
  });
  const end = (execution: ToolExecution): NestedOutcome => ({ type: 'ended', execution });
  try {
    // Holds: a tool of this kind is made by defineNestedTool().
    const result = (await tool.run(parsed, createHost(work, call, at))) as NestedResult;
    if (result.type === 'ended') return end(await toAnsweredExecution(call, result.value, { tool, ...getTiming() }));
    const waits = result.waits.map((wait): Wait => ({ ...wait, id: toOuterId(call.id, wait.id) }));
    const memo: NestedMemo = { round: at.round, args: call.args, waits: waits.map(({ id }) => id), memo: result.memo };
    return { type: 'waiting', results: { executions: [], waits, nested: { [call.id]: memo } } };
  } catch (error) {
    if (scope.control.interruption === undefined)
      return end(toFailedExecution(call, classifyError(error, { fallback: 'tool' }), getTiming()));
    if (at.memo === undefined) return end(toCancelledExecution(call, getTiming()));
    return end(toUnknownExecution(call, { ...getTiming(), text: describeGivenUp('interrupted') }));
  }
}
