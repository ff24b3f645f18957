// A step that waits, from what a lossy payload shows of it.
// Q1. A call that has ended is never run again, and one that waited is never run unasked: an answer that was given, and not acted on, has
//     to be given again.
import type { Message, ToolCall } from '../../messages/index.ts';
import type { CrashLoop, PendingStep, Wait } from '../../step-by-step/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import type { ToolExecution } from '../../tools/index.ts';
import { escapePart, omitUndefined } from '../../lib/index.ts';
import { hasWholeArgs, restoreCall, restoreMessage } from './restore-message.ts';
import { restoreStep } from './restore-steps.ts';
import { resultLeftOut } from './slim-message.ts';
import type { LossySlimPayload } from './slim-payload.ts';
import type { SlimStep, SlimStepCall } from './slim-step.ts';
import type { SlimProviderWait, SlimWait } from './slim-wait.ts';
import { isCrashLoopWait } from './slim-wait.ts';

/** A step that waits, and what cannot be answered as it was asked. */
export interface RestoredPendingStep {
  readonly pendingStep: PendingStep<ToolUseStep>;
  /** Ids of calls whose arguments are not those that the model gave. */
  readonly callsWithoutArgs: readonly string[];
  /** Ids of waits of runs inside calls, which are not in a payload. */
  readonly lostWaits: readonly string[];
}

function restoreExecution(call: SlimStepCall, startedAt: number): readonly ToolExecution[] {
  const { id, name, status, content = resultLeftOut } = call;
  if (status === undefined) return [];
  const base = { toolCallId: id, toolName: name, args: restoreCall(id, name, call).args, startedAt, durationMs: 0 };
  switch (status) {
    case 'succeeded':
      return [{ ...base, status, value: content, output: { type: 'text', value: content } }];
    case 'failed': {
      const failure = { type: 'tool', code: 'tool-failed', message: content, retryable: false, toolName: name, toolCallId: id } as const;
      return [{ ...base, status, failure: { ...failure, readable: true }, output: { type: 'error', value: content } }];
    }
    case 'rejected':
    case 'cancelled':
    case 'unknown':
      return [{ ...base, status, output: { type: 'error', value: content } }];
  }
}

function restoreWait(slim: SlimWait): Wait {
  const { type, id, tool_name = '', args = null, prompt, problem, agent, participant, limit } = slim;
  const common = omitUndefined({ id, problem, agent });
  if (type === 'person') return omitUndefined({ type, ...common, prompt, participant });
  // A step never waits for a grant without naming the limit.
  if (type === 'grant') return { type, ...common, limit: limit ?? 'steps' };
  if (type !== 'provider') return { type, ...common, toolName: tool_name, args };
  // Holds: a wait for a provider is not read without these.
  const { reason, since, tries, next_try_at, give_up_at } = slim as SlimProviderWait;
  const times = { since: Date.parse(since), nextTryAt: Date.parse(next_try_at), giveUpAt: Date.parse(give_up_at) };
  return { type, ...common, reason, tries, ...times };
}

/** Returns the crash loop that a payload shows as its wait; undefined if it shows none. */
export function restoreCrashLoop({ waiting_for }: LossySlimPayload): CrashLoop | undefined {
  const wait = waiting_for.find(isCrashLoopWait);
  return wait && { attempts: wait.tries, since: Date.parse(wait.since) };
}

/** Waits of calls that were answered, and whose answers are not in a payload. */
function listAnsweredWaits({ tool_calls }: SlimStep, open: readonly SlimWait[]): readonly Wait[] {
  return tool_calls.flatMap((call): readonly Wait[] => {
    const { id, name, wait, status } = call;
    const isOpen = open.some((each) => each.id === id);
    if (wait === undefined || wait === 'person' || wait === 'provider' || wait === 'grant' || status !== undefined || isOpen) return [];
    return [{ type: wait, id, toolName: name, args: restoreCall(id, name, call).args }];
  });
}

/** Marks calls in which a run has started: its state is missing, and nobody knows what it did. */
function markNested({ toolCalls }: Pick<ToolUseStep, 'toolCalls'>, waits: readonly SlimWait[]): Pick<ToolUseStep, 'nested'> {
  const inside = toolCalls.flatMap(({ id, args }) => {
    const own = waits.filter((wait) => wait.agent !== undefined && wait.id.startsWith(`${escapePart(id)}/`)).map((wait) => wait.id);
    return own.length === 0 ? [] : [[id, { round: 0, args, waits: own, memo: null }] as const];
  });
  return inside.length === 0 ? {} : { nested: Object.fromEntries(inside) };
}

const getCalls = (step: SlimStep, messages: readonly Message[]): readonly ToolCall[] => {
  const spoken = new Map(messages.flatMap(({ toolCalls }) => toolCalls).map((call) => [call.id, call]));
  return step.tool_calls.map((call) => spoken.get(call.id) ?? restoreCall(call.id, call.name, call));
};

/** Returns the step that waits; undefined if the payload has none. */
export function restorePendingStep(payload: LossySlimPayload, executionId: string): RestoredPendingStep | undefined {
  const { current_step: slim } = payload;
  // A crash loop is about the whole execution.
  const waiting_for = payload.waiting_for.filter((wait) => !isCrashLoopWait(wait));
  if (slim === null || slim.ended_at !== null || slim.started_at === null) return undefined;
  const startedAt = Date.parse(slim.started_at);
  const outputMessages = (slim.messages ?? []).map(restoreMessage);
  const toolCalls = getCalls(slim, outputMessages);
  const partial = {
    ...restoreStep(slim, `${executionId}/${String(slim.step_number)}`),
    outputMessages,
    toolCalls,
    ...markNested({ toolCalls }, waiting_for),
    executions: slim.tool_calls.flatMap((call) => restoreExecution(call, startedAt)),
  };
  const waits = [...waiting_for.map(restoreWait), ...listAnsweredWaits(slim, waiting_for)];
  const isWhole = (id: string): boolean => [...waiting_for, ...slim.tool_calls].some((each) => each.id === id && hasWholeArgs(each));
  return {
    pendingStep: {
      number: slim.step_number,
      partial,
      waits,
      answers: [],
      startedAt,
      parkedAt: Date.parse(payload.execution.updated_at),
      activeMs: slim.duration_ms ?? 0,
      waitedMs: 0,
    },
    callsWithoutArgs: waits.filter(({ type, id }) => type === 'approval' && !isWhole(id)).map(({ id }) => id),
    lostWaits: waits.filter(({ agent }) => agent !== undefined).map(({ id }) => id),
  };
}
