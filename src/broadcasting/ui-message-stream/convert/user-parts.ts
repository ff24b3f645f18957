// The parts of a person's stored message, as a page shows them.
import type { Redactor } from '../../../lib/index.ts';
import { readContentPart } from '../../../messages/index.ts';
import type { AgentUIMessage } from '../answer-types.ts';
import type { EventFields } from '../event-fields.ts';
import { getName } from '../event-fields.ts';
import { toUIContent } from './ui-parts.ts';

/** Shows the parts of a stored message, without its secrets. */
export function toUserParts(event: EventFields, redactor: Redactor): AgentUIMessage['parts'] {
  const { content } = event;
  if (!Array.isArray(content)) return [{ type: 'text', text: redactor.text(getName(event, 'text')) }];
  const parts = content.map((part: unknown, index) => readContentPart(part, `content[${index}]`));
  return parts.flatMap((part) => toUIContent(part.type === 'text' ? { ...part, text: redactor.text(part.text) } : part));
}
