// The work of a step for an explanation: how its calls ended, which models failed, which runs inside ended early.
import { isRecord, omitUndefined, toShownText } from '../lib/index.ts';
import type { CallSummary, StepSummary } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { blockedCode } from '../tools/index.ts';
import type { ToolUseStep } from './tool-use-step.ts';

function summarizeCall(execution: ToolExecution, { answers = [] }: ToolUseStep): CallSummary {
  const { toolName: tool, toolCallId, status, failure, output } = execution;
  if (status === 'failed')
    return failure.code === blockedCode
      ? { tool, status: 'blocked', reason: failure.message, ...omitUndefined({ by: failure.blockedBy }) }
      : { tool, status, failure };
  if (status !== 'rejected') return { tool, status };
  const by = answers.findLast(({ id, type }) => id === toolCallId && type === 'rejected')?.by;
  return { tool, status, ...(output.type === 'rejected' && { reason: output.reason }), ...(by !== undefined && { by }) };
}

/** Describes a run inside a call that did not complete by itself; undefined if it did. */
function describePartialRun({ toolName, args, value }: ToolExecution): string | undefined {
  if (!isRecord(value) || value['partial'] !== true || typeof value['stop_reason'] !== 'string') return undefined;
  const name = isRecord(args) && typeof args['subagent'] === 'string' ? args['subagent'] : toolName;
  const error = typeof value['error'] === 'string' ? `: ${toShownText(value['error'])}` : '';
  return `sub-agent ${toShownText(name)} did not complete (${toShownText(value['stop_reason'])})${error}`;
}

function listFallbacks({ fallbacks = [], model }: ToolUseStep): readonly string[] {
  return fallbacks.map(({ model: failed, problem }, index) => {
    const next = fallbacks[index + 1]?.model;
    const after = next === undefined ? `${toShownText(model ?? 'another model')} answered` : `${toShownText(next)} was asked`;
    return `model ${toShownText(failed)} failed${problem === '' ? '' : ` (${toShownText(problem)})`}, ${after}`;
  });
}

/** Summarizes the work of a step. */
export function summarizeStep(step: ToolUseStep): StepSummary {
  const edited = (step.answers ?? []).flatMap(({ id, type, by }) => {
    const tool = step.executions.find(({ toolCallId }) => toolCallId === id)?.toolName;
    return type === 'edited' && tool !== undefined
      ? [`${toShownText(by ?? 'a person')} approved ${toShownText(tool)} with other arguments`]
      : [];
  });
  const inside = (step.answers ?? []).flatMap(({ type, toolName: tool, reason, by }): readonly CallSummary[] =>
    type === 'rejected' && tool !== undefined ? [{ tool, status: 'rejected', ...omitUndefined({ reason, by }) }] : [],
  );
  return {
    calls: [...step.executions.map((execution) => summarizeCall(execution, step)), ...inside],
    notes: [...listFallbacks(step), ...edited, ...step.executions.flatMap((execution) => describePartialRun(execution) ?? [])],
  };
}
