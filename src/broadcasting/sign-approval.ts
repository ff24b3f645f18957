// The digest of a request for approval, before its event is stored.
import type { BaseEvent } from '../events/index.ts';
import type { Json } from '../lib/index.ts';
import { escapePart, readField, sha256, stableStringify } from '../lib/index.ts';
import { toBoundValue } from '../step-by-step/index.ts';

/** Reads the execution and the step of a session that an event belongs to, also if an agent inside a call emitted it. */
function readPlace(
  { executionId, stepNumber }: BaseEvent,
  sessionId: string,
): { readonly execution: number; readonly step: number } | undefined {
  const prefix = `${escapePart(sessionId)}/`;
  if (!executionId.startsWith(prefix)) return undefined;
  const [execution, step] = executionId.slice(prefix.length).split('/').map(Number);
  return execution === undefined || Number.isNaN(execution) ? undefined : { execution, step: step ?? stepNumber };
}

/** Adds to an event that asks for an approval the digest that approves exactly that, as the session computes it. Returns any other event as it is. */
export function withDigest(event: BaseEvent, sessionId: string): BaseEvent {
  const place = event.type === 'ToolApprovalRequested' ? readPlace(event, sessionId) : undefined;
  if (place === undefined) return event;
  const [id, toolName, args] = [
    readField(event, 'waitId') ?? readField(event, 'toolCallId'),
    readField(event, 'tool'),
    readField(event, 'args'),
  ];
  if (typeof id !== 'string' || typeof toolName !== 'string') return event;
  // Holds: the arguments of a call are JSON.
  const bound = toBoundValue(sessionId, { ...place, id, toolName, args: (args ?? null) as Json });
  // An event never changes: another one with the same fields.
  const signed: BaseEvent = Object.create(event, { digest: { value: sha256(stableStringify(bound)), enumerable: true } }) as BaseEvent;
  return signed;
}
