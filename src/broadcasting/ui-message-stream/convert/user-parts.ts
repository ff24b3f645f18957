// The parts of a person's message, as a page shows them.
import type { Redactor } from '../../../lib/index.ts';
import type { ContentPart } from '../../../messages/index.ts';
import { readContentPart } from '../../../messages/index.ts';
import type { AgentUIMessage } from '../answer-types.ts';
import type { EventFields } from '../event-fields.ts';
import { getName } from '../event-fields.ts';

type UIPart = AgentUIMessage['parts'][number];

/** Shows a part of content. */
export function toUIPart(part: ContentPart): readonly UIPart[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  const mediaType = part.mediaType ?? 'image';
  const filename = part.type === 'file' && part.filename !== undefined ? { filename: part.filename } : {};
  if (part.url !== undefined) return [{ type: 'file', mediaType, url: part.url, ...filename }];
  return part.data === undefined ? [] : [{ type: 'file', mediaType, url: `data:${mediaType};base64,${part.data}`, ...filename }];
}

/** Shows the parts of a stored message, without its secrets. */
export function toUserParts(event: EventFields, redactor: Redactor): UIPart[] {
  const { content } = event;
  if (!Array.isArray(content)) return [{ type: 'text', text: redactor.text(getName(event, 'text')) }];
  const parts = content.map((part: unknown, index) => readContentPart(part, `content[${index}]`));
  return parts.flatMap((part) => toUIPart(part.type === 'text' ? { ...part, text: redactor.text(part.text) } : part));
}
