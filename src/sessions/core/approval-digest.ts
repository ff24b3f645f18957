import type { Json } from '../../lib/index.ts';
import { readField, stableStringify } from '../../lib/index.ts';
import type { AskedCall } from '../../step-by-step/index.ts';
import { toBoundValue } from '../../step-by-step/index.ts';
import { readExecutionNumber } from './execution-id.ts';
import type { StoredEvent } from './stored-events.ts';

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Hashes a value: the same for equal values only. */
export async function createDigest(value: Json): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(stableStringify(value)))));
}

/** Binds an answer to what was shown: the session, the call, and its arguments as they are. */
export async function computeApprovalDigest(sessionId: string, call: AskedCall): Promise<string> {
  return createDigest(toBoundValue(sessionId, call));
}

/** Finds the execution and the step of a session that the events of one commit belong to, those of inner runs included. */
function findPlace(sessionId: string, events: readonly StoredEvent[]): Pick<AskedCall, 'execution' | 'step'> | undefined {
  for (const { executionId, stepNumber: step } of events.toReversed()) {
    const execution = readExecutionNumber(sessionId, executionId);
    if (execution !== undefined) return { execution, step };
  }
  return undefined;
}

/** Reads the call that an event asks a person to approve, under the id of its wait. */
export function readAskedCall(event: object): Omit<AskedCall, 'execution' | 'step'> | undefined {
  if (readField(event, 'type') !== 'ToolApprovalRequested') return undefined;
  const [id, toolName, args] = [
    readField(event, 'waitId') ?? readField(event, 'toolCallId'),
    readField(event, 'tool'),
    readField(event, 'args'),
  ];
  if (typeof id !== 'string' || typeof toolName !== 'string') return undefined;
  const reason = readField(event, 'reason');
  // Holds: the arguments of a call are JSON.
  return { id, toolName, args: (args ?? null) as Json, ...(typeof reason === 'string' && { reason }) };
}

/** Finds the calls and questions that the events of one commit ask about, each with its event. */
export function findAskedCalls(sessionId: string, events: readonly StoredEvent[]): ReadonlyMap<StoredEvent, AskedCall> {
  const place = findPlace(sessionId, events);
  const asked = new Map<StoredEvent, AskedCall>();
  for (const event of events) {
    if (place === undefined) continue;
    const call = readAskedCall(event);
    if (call !== undefined) asked.set(event, { ...place, ...call });
    if (event.type === 'PersonAsked') asked.set(event, { ...place, id: event.waitId });
  }
  return asked;
}
