// How an answer ended, from the event that says so.
import type { Usage } from '../../messages/index.ts';
import { Usage as Usages } from '../../messages/index.ts';
import { isRecord, omitUndefined } from '../../lib/index.ts';
import type { AnswerOutcome, AnswerWait } from './answer-types.ts';
import type { EventFields } from './event-fields.ts';
import { getName } from './event-fields.ts';

function toWait(wait: unknown): readonly AnswerWait[] {
  if (!isRecord(wait)) return [];
  const toolName = getName(wait, 'toolName');
  return [{ type: getName(wait, 'type'), id: getName(wait, 'id'), ...(toolName !== '' && { toolName }) }];
}

/** Reads the event that ends a run. `why` explains it. */
export function toOutcome(event: EventFields, why: string): AnswerOutcome {
  const { waitingFor, usage, stopReason } = event;
  const waits = Array.isArray(waitingFor) ? waitingFor.flatMap(toWait) : [];
  return omitUndefined({
    // Holds: the event of a run has a status and a stop reason of its own.
    status: getName(event, 'status') as AnswerOutcome['status'],
    stopReason: typeof stopReason === 'string' ? (stopReason as AnswerOutcome['stopReason']) : undefined,
    why,
    usage: isRecord(usage) ? (usage as unknown as Usage) : Usages.none(),
    waitingFor: waits.length === 0 ? undefined : waits,
  });
}
