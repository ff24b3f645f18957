import type { Json } from '../lib/index.ts';
import { stableStringify } from '../lib/index.ts';
import type { AskedCall } from '../step-by-step/index.ts';
import { toBoundValue } from '../step-by-step/index.ts';
import type { StoredEvent } from './stored-events.ts';

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Hashes a value: the same for equal values only. */
export async function createDigest(value: Json): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(stableStringify(value)))));
}

/** Binds an answer to what was shown: the session, the call, and its arguments as they are. */
export async function approvalDigest(sessionId: string, call: AskedCall): Promise<string> {
  return createDigest(toBoundValue(sessionId, call));
}

/** Finds the execution and the step of a session that the events of one commit belong to, those of inner runs included. */
function findPlace(sessionId: string, events: readonly StoredEvent[]): Pick<AskedCall, 'execution' | 'step'> | undefined {
  const own = events.findLast(({ executionId }) => executionId.startsWith(`${sessionId}/`));
  return own === undefined ? undefined : { execution: Number(own.executionId.slice(sessionId.length + 1)), step: own.stepNumber };
}

/** Finds the calls and questions that the events of one commit ask about, each with its event. */
export function findAskedCalls(sessionId: string, events: readonly StoredEvent[]): ReadonlyMap<StoredEvent, AskedCall> {
  const place = findPlace(sessionId, events);
  const asked = new Map<StoredEvent, AskedCall>();
  for (const event of events) {
    const { type, waitId, toolCallId, tool, args = null } = event;
    const id = waitId ?? toolCallId;
    if (place === undefined || typeof id !== 'string') continue;
    if (type === 'ToolApprovalRequested' && typeof tool === 'string') asked.set(event, { ...place, id, toolName: tool, args });
    if (type === 'PersonAsked') asked.set(event, { ...place, id });
  }
  return asked;
}
