// A call that a person has approved in the history of a stateless agent: it runs by itself, before the agent continues.
import type { Agent } from '../../../agent/index.ts';
import { createDirectEffects } from '../../../effects/index.ts';
import { reportToConsole } from '../../../events/index.ts';
import type { Json } from '../../../lib/index.ts';
import { systemClock } from '../../../lib/index.ts';
import type { ToolCall } from '../../../messages/index.ts';
import { toolResultText } from '../../../messages/index.ts';
import { createRunControl } from '../../../step-by-step/index.ts';
import type { ToolSet } from '../../../tools/index.ts';
import { prepareCall, runCall } from '../../../tools/index.ts';
import { AgentRunFailedError } from './agent-run-failed-error.ts';

export interface ApprovedCallOptions {
  readonly context: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Runs a call. Throws if it fails, as tools of the AI SDK do. */
export async function runApprovedCall({ tools }: Agent, call: ToolCall, { context, signal }: ApprovedCallOptions): Promise<Json> {
  // Holds: the host gave the context that its tools need.
  const set = tools as ToolSet<unknown>;
  const prepared = await prepareCall(set, call, { context, approved: true, ...(signal !== undefined && { signal }) });
  if (prepared.type === 'ended') throw new AgentRunFailedError(toolResultText(prepared.execution.output));
  if (prepared.type !== 'ready')
    throw new AgentRunFailedError(
      `"${call.name}" cannot be run after an approval here: it is not a plain tool. Use chatRoutes() with sessions.`,
    );
  const control = createRunControl(signal);
  try {
    const effects = createDirectEffects({ clock: systemClock, control, onProblem: reportToConsole });
    const execution = await runCall(prepared, { effects, key: `tool/${call.id}`, idempotencyKey: call.id, context });
    if (execution.status === 'succeeded') return execution.value;
    throw new AgentRunFailedError(toolResultText(execution.output));
  } finally {
    control.close();
  }
}
