// The labels of log lines, each with its colour.
import type { BaseEvent } from '../../events/index.ts';
import { readField } from '../../lib/index.ts';
import { Color } from './colors.ts';

/** A label of four letters at most. */
export interface Label {
  readonly text: string;
  readonly color: Color;
}

const toLabel = (text: string, color: Color): Label => ({ text, color });

const labels: Readonly<Record<string, Label>> = {
  AgentExecutionStarted: toLabel('EXEC', Color.Cyan),
  AgentStepStarted: toLabel('STEP', Color.Blue),
  AgentStepCompleted: toLabel('STEP', Color.Blue),
  AgentStateUpdated: toLabel('STAT', Color.Dim),
  TokenUsageReported: toLabel('USE', Color.Dim),
  RetryScheduled: toLabel('WAIT', Color.Yellow),
  AgentFailed: toLabel('FAIL', Color.Red),
  CrashLoopDetected: toLabel('FAIL', Color.Red),
  InferenceStarted: toLabel('LLM', Color.Cyan),
  ModelFallback: toLabel('LLM', Color.Red),
  ModelSkipped: toLabel('LLM', Color.Yellow),
  ToolCallStarted: toLabel('TOOL', Color.Yellow),
  ToolCallProgress: toLabel('TOOL', Color.Dim),
  ToolApprovalRequested: toLabel('ASK', Color.Yellow),
  ToolCallBlocked: toLabel('BLCK', Color.Red),
  HookApplied: toLabel('HOOK', Color.Dim),
  HookReported: toLabel('HOOK', Color.Dim),
  ParticipantSelected: toLabel('TURN', Color.Magenta),
  PersonAsked: toLabel('ASK', Color.Yellow),
  BoardUpdated: toLabel('BORD', Color.Magenta),
  UserMessageReceived: toLabel('USER', Color.Green),
  WaitResolved: toLabel('USER', Color.Green),
  LimitsGranted: toLabel('USER', Color.Green),
  CancelRequested: toLabel('USER', Color.Yellow),
};

const endings: Readonly<Record<string, Label>> = {
  completed: toLabel('DONE', Color.Green),
  waiting: toLabel('WAIT', Color.Yellow),
  failed: toLabel('FAIL', Color.Red),
  stopped: toLabel('STOP', Color.Yellow),
};

const failedStep = toLabel('FAIL', Color.Red);
const other = toLabel('INFO', Color.Dim);

/** Returns the label of an event: that of its type, or of how it ended. */
export function getLabel(event: BaseEvent): Label {
  switch (event.type) {
    case 'AgentFinished':
      return endings[String(readField(event, 'status'))] ?? toLabel('DONE', Color.Green);
    case 'AgentStepCompleted':
      return Number(readField(event, 'errorCount')) > 0 ? failedStep : (labels[event.type] ?? other);
    case 'ToolCallCompleted':
      return toLabel('TOOL', readField(event, 'success') === true ? Color.Yellow : Color.Red);
    case 'ContinuationEvaluated':
      return toLabel('EVAL', readField(event, 'shouldContinue') === true ? Color.Magenta : Color.Cyan);
    default:
      return labels[event.type] ?? other;
  }
}
