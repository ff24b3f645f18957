import type { Json } from '../lib/index.ts';
import { sha256, stableStringify } from '../lib/index.ts';
import type { RunState, Wait } from '../step-by-step/index.ts';
import type { StoredEvent } from './stored-events.ts';

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Hashes a value: the same for equal values only. */
export async function createDigest(value: Json): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(stableStringify(value)))));
}

/** A call as it is shown to the person who has to approve it. */
export interface AskedCall {
  /** Execution and step of the call: the same call in another step is another call. */
  readonly execution: number;
  readonly step: number;
  readonly id: string;
  readonly toolName?: string | null;
  readonly args?: Json;
}

const toBoundValue = (sessionId: string, { execution, step, id, toolName = null, args = null }: AskedCall): Json => ({
  sessionId,
  execution,
  step,
  id,
  toolName,
  args,
});

/** Binds an answer to what was shown: the session, the call, and its arguments as they are. */
export async function approvalDigest(sessionId: string, call: AskedCall): Promise<string> {
  return createDigest(toBoundValue(sessionId, call));
}

/** Returns a wait as it is shown in this state. */
export const toAskedCall = ({ execution }: RunState, wait: Wait): AskedCall => ({
  ...wait,
  execution: execution.number,
  step: execution.pendingStep?.number ?? 0,
});

/** The digest of an open wait, as `approvalDigest` gives it. The id of a session's state is the session's id. */
export const getWaitDigest = (state: RunState, wait: Wait): string =>
  sha256(stableStringify(toBoundValue(state.id, toAskedCall(state, wait))));

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
