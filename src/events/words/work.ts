// Lines of the events about models, tool calls and hooks.
import { pluralize } from '../../lib/index.ts';
import type { EventFields } from './event-fields.ts';
import type { Describers } from './event-line.ts';
import { describeFailure, describeTime } from './phrases.ts';

const describeCall = (event: EventFields): string => `${event.text('tool')} ${event.json('args')}`.trimEnd();

const statuses: Readonly<Record<string, string>> = {
  failed: 'failed',
  blocked: 'was blocked',
  rejected: 'was rejected',
  cancelled: 'was cancelled',
  unknown: 'was cut off',
};

/** Start of an error's text that repeats the name of the tool, or the status. */
const saidTwice = /^"[^"]*" failed: |^The call was (?:rejected|cancelled)(?: before it ended)?(?:: |\.$)/;

function describeEndOfCall(event: EventFields): string {
  const [tool, time] = [event.text('tool'), `after ${describeTime(event.number('durationMs'))}`];
  // The result is not shown: logs are read by more people than conversations.
  if (event.has('success')) return `${tool} returned ${time}`;
  const status = event.text('status');
  const why = event.text('error').replace(saidTwice, '');
  return `${tool} ${statuses[status] ?? status} ${time}${why === '' ? '' : `: ${why}`}`;
}

export const workWords: Describers = {
  InferenceStarted: (event) =>
    `asks ${event.text('model')} with ${pluralize(event.number('messageCount'), 'message')} and ${pluralize(event.texts('tools').length, 'tool')}`,
  TextDelta: (event) => `writes ${event.json('text')}`,
  ReasoningDelta: (event) => `thinks ${event.json('text')}`,
  ToolCallStarted: (event) => `calls ${describeCall(event)}`,
  ToolApprovalRequested: (event) =>
    `asks for approval to call ${describeCall(event)} (${event.text('waitId') || event.text('toolCallId')})`,
  ToolCallProgress: (event) => `${event.text('tool')} reports ${event.json('progress')}`,
  ToolCallCompleted: describeEndOfCall,
  ToolCallBlocked: (event) => `hook ${event.text('hook')} blocked ${describeCall(event)}: ${event.text('reason')}`,
  ModelFallback: (event) => `${event.text('from')} failed, asks ${event.text('to')} instead: ${describeFailure(event.inner('failure'))}`,
  HookApplied: (event) => `hook ${event.text('hook')} changed ${event.texts('changed').join(' and ')} at ${event.text('point')}`,
  HookReported: (event) => `hook ${event.text('hook')} reports: ${event.text('message')}`,
};
