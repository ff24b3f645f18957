// The work of a step for an explanation: how its calls ended, which models failed, which runs inside ended early.
import { describeStopReason, StopReason } from '../continuation/index.ts';
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

/** Names the run inside a call: by its sub-agent, or by the tool. */
const nameRun = ({ toolName, args }: ToolExecution): string =>
  isRecord(args) && typeof args['subagent'] === 'string' ? args['subagent'] : toolName;

const isStopReason = (value: string): value is StopReason => Object.values<string>(StopReason).includes(value);

/** Stop reason in words: `step limit`. */
const describeReason = (reason: string): string =>
  isStopReason(reason) ? describeStopReason(reason).label.toLowerCase() : toShownText(reason);

/** Describes a run inside a call that did not complete by itself; undefined if it did. */
function describePartialRun(execution: ToolExecution): string | undefined {
  const { value } = execution;
  if (!isRecord(value) || value['partial'] !== true || typeof value['stop_reason'] !== 'string') return undefined;
  const error = typeof value['error'] === 'string' ? `: ${toShownText(value['error'].replace(/^"([\w-]+)" failed: /, '$1 failed: '))}` : '';
  return `sub-agent ${toShownText(nameRun(execution))} did not complete (${describeReason(value['stop_reason'])})${error}`;
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
  const inside = (step.answers ?? []).flatMap(({ id, type, toolName: tool, reason, by }): readonly CallSummary[] => {
    if (type !== 'rejected' || tool === undefined) return [];
    const outer = step.executions.find(({ toolCallId }) => id.startsWith(`${toolCallId}/`));
    return [{ tool, status: 'rejected', ...omitUndefined({ reason, by, caller: outer && nameRun(outer) }) }];
  });
  return {
    calls: [...step.executions.map((execution) => summarizeCall(execution, step)), ...inside],
    notes: [...listFallbacks(step), ...edited, ...step.executions.flatMap((execution) => describePartialRun(execution) ?? [])],
  };
}
