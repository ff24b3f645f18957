// The calls that a session waits for, under the ids that a page knows.
import type { Session, SessionRuntime } from '../../sessions/index.ts';
import { toCallId, toMessageId } from './ag-ui-ids.ts';
import { EventFields } from './event-fields.ts';
import type { AskedCall } from './run-events.ts';

/** Finds the calls of sub-agents: only events know which one asks. */
async function findNested(
  runtime: SessionRuntime,
  sessionId: string,
  waitIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, AskedCall>> {
  const calls = new Map<string, AskedCall>();
  for await (const event of runtime.events(sessionId)) {
    const fields = new EventFields(event);
    const waitId = fields.text('waitId');
    if (waitIds.has(waitId) && fields.optionalText('toolCallId') !== undefined)
      calls.set(waitId, { callId: fields.callId, subagentRunId: fields.text('agentId') });
  }
  return calls;
}

/** Finds the call of each wait that is about one, by the id of the wait. */
export async function findWaitCalls(runtime: SessionRuntime, session: Session): Promise<ReadonlyMap<string, AskedCall>> {
  const { execution, pendingStep } = session.state;
  const place = toMessageId(execution.id ?? '', pendingStep?.number ?? 0);
  const waits = session.waitingFor.filter((wait) => 'toolName' in wait);
  const nested = new Set(waits.flatMap((wait) => (wait.agent === undefined ? [] : [wait.id])));
  const calls = waits.filter(({ id }) => !nested.has(id)).map(({ id }) => [id, { callId: toCallId(place, id) }] as const);
  return new Map<string, AskedCall>([...calls, ...(nested.size === 0 ? [] : await findNested(runtime, session.id, nested))]);
}
