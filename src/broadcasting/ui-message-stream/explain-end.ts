import type { Redactor } from '../../lib/index.ts';
import { readField } from '../../lib/index.ts';
import type { AnyEvent } from '../index.ts';
import { createEnvelopeMapper } from '../index.ts';
import type { EventFields } from './event-fields.ts';

/** Explains the end of a run in one sentence, by the event alone. */
export function explainEnd(event: EventFields, redactor?: Redactor): string {
  const mapper = createEnvelopeMapper(redactor === undefined ? {} : { redactor });
  // Holds: the mapper checks every field that it reads.
  const [envelope] = mapper.toEnvelopes(event as unknown as AnyEvent, { sessionId: '' });
  const sentence = readField(envelope?.data, 'sentence');
  return typeof sentence === 'string' ? sentence : '';
}
