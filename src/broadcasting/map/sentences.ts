// The sentences of envelopes that report a status.
import { describeEnding } from '../../continuation/index.ts';
import { describeEvent } from '../../events/index.ts';
import type { EventView } from './event-view.ts';

const toSentence = (text: string): string => {
  const [first = ''] = text;
  return `${first.toUpperCase()}${text.slice(first.length)}${/[.!?…]$/.test(text) ? '' : '.'}`;
};

/** Describes an event in the words of its log line. */
export const toStatusSentence = (view: EventView): string => toSentence(describeEvent(view.fields, view.settings.redactor));

/** Describes the end of a run by the rule that decided, if one did. */
export function toEndSentence(view: EventView): string {
  const reason = view.sentence('reason');
  if (reason === undefined) return toStatusSentence(view);
  return toSentence(describeEnding({ reason, context: view.object('context') ?? {}, isCompleted: view.name('status') === 'completed' }));
}
