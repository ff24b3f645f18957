// Envelopes of calls.
import type { JsonObject } from '../../lib/index.ts';
import { present } from '../../lib/index.ts';
import type { EnvelopePart } from '../envelope.ts';
import type { EventView } from './event-view.ts';
import { truncateTexts, findHiddenFields, summarizeArgs, summarizeResult } from './summarize.ts';
import type { PartMapper } from './part-mapper.ts';

function toCall(view: EventView): JsonObject {
  const args = view.json('args') ?? null;
  const { includesArgs, maxArgLength } = view.settings;
  return present({
    tool: view.name('tool'),
    tool_call_id: view.name('toolCallId'),
    step_number: view.number('stepNumber'),
    args_summary: summarizeArgs(args),
    args: includesArgs ? truncateTexts(args, maxArgLength) : undefined,
    wait_id: view.optionalName('waitId'),
  });
}

function toCompleted(view: EventView): readonly EnvelopePart[] {
  const result = view.json('result');
  const data = present({
    tool: view.name('tool'),
    tool_call_id: view.name('toolCallId'),
    step_number: view.number('stepNumber'),
    success: view.flag('success'),
    status: view.name('status'),
    error: view.sentence('error') ?? null,
    duration_ms: view.number('durationMs'),
    result_summary: result === undefined ? undefined : summarizeResult(result, view.settings.maxArgLength),
  });
  return [{ event: 'agent.tool.completed', data }];
}

function toApproval(view: EventView): readonly EnvelopePart[] {
  const { expireAfterMs } = view.settings;
  const call = toCall(view);
  const hidden = findHiddenFields(view.plain('args') ?? null, view.json('args') ?? null);
  const data = present({
    ...call,
    wait_id: view.optionalName('waitId') ?? view.name('toolCallId'),
    // Without it, whoever approves has to fetch the wait first, and sees everything.
    digest: hidden.length === 0 ? view.optionalName('digest') : undefined,
    expires_at: expireAfterMs === undefined ? undefined : new Date(view.number('at') + expireAfterMs).toISOString(),
    hidden_fields: hidden,
  });
  return [{ event: 'agent.tool.approval_requested', data }];
}

const toProgress = (view: EventView): readonly EnvelopePart[] => [
  { event: 'agent.tool.progress', data: { ...toCall(view), progress: view.json('progress') ?? null } },
];

const toBlocked = (view: EventView): readonly EnvelopePart[] => [
  { event: 'agent.tool.blocked', data: { ...toCall(view), hook: view.name('hook'), reason: view.sentence('reason') ?? '' } },
];

export const toolMappers: Readonly<Record<string, PartMapper>> = {
  ToolCallStarted: (view) => [{ event: 'agent.tool.started', data: toCall(view) }],
  ToolCallProgress: toProgress,
  ToolCallCompleted: toCompleted,
  ToolCallBlocked: toBlocked,
  ToolApprovalRequested: toApproval,
};
