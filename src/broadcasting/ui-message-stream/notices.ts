import { describeEvent } from '../../events/index.ts';
import type { Redactor } from '../../lib/index.ts';
import type { EventFields } from './event-fields.ts';

/** Describes a retry, or a change of models, in the words of its log line. */
export const describeNotice = (event: EventFields, redactor: Redactor): string => describeEvent(event, redactor);
