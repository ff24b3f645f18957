// Envelopes of what people did to a session.
import type { JsonObject } from '../../lib/index.ts';
import { present } from '../../lib/index.ts';
import type { EnvelopePart } from '../envelope.ts';
import type { EventView } from './event-view.ts';
import { toStatusSentence } from './sentences.ts';
import type { PartMapper } from './part-mapper.ts';

function toAuthor(view: EventView): JsonObject {
  const by = view.inner('by');
  return { id: by.name('id'), kind: by.name('kind') };
}

function toMessage(view: EventView): readonly EnvelopePart[] {
  const attachments = view.list('content').filter((part) => part.name('type') !== 'text').length;
  const data = present({
    message_id: view.name('messageId'),
    role: 'user',
    text: view.text('text'),
    attachments: attachments === 0 ? undefined : attachments,
    by: toAuthor(view),
  });
  return [{ event: 'agent.message', data }];
}

function toResolved(view: EventView): readonly EnvelopePart[] {
  const data = present({
    wait_id: view.name('waitId'),
    wait_type: view.name('waitType'),
    tool: view.optionalName('toolName'),
    decision: view.name('decision'),
    by: toAuthor(view),
    at: new Date(view.number('at')).toISOString(),
    reason: view.sentence('reason'),
    edited: view.flag('edited'),
  });
  return [{ event: 'agent.wait.resolved', data }];
}

/** An action that changes how the run continues. A user is named by the id alone. */
const toStatus = (view: EventView, more: JsonObject): readonly EnvelopePart[] => {
  const sentence = toStatusSentence(view).replace(/^User (?=\S)/, '');
  return [{ event: 'agent.status', data: { status: 'in_progress', sentence, by: toAuthor(view), ...more } }];
};

export const peopleMappers: Readonly<Record<string, PartMapper>> = {
  UserMessageReceived: toMessage,
  WaitResolved: toResolved,
  LimitsGranted: (view) => toStatus(view, { granted: view.object('amounts') ?? {} }),
  CancelRequested: (view) => toStatus(view, { cancel_requested: true, reason: view.sentence('reason') ?? '' }),
};
