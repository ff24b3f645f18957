// The sentences of envelopes that report a status.
import { describeEvent } from '../../events/index.ts';
import type { EventView } from './event-view.ts';

const toSentence = (text: string): string => {
  const [first = ''] = text;
  return `${first.toUpperCase()}${text.slice(first.length)}${/[.!?…]$/.test(text) ? '' : '.'}`;
};

/** Describes an event in the words of its log line. */
export const toStatusSentence = (view: EventView): string => toSentence(describeEvent(view.fields, view.settings.redactor));

/** Describes the end of a run by the reason of the rule that decided, if one did. */
export function toEndSentence(view: EventView): string {
  const reason = view.sentence('reason');
  return reason === undefined ? toStatusSentence(view) : toSentence(reason);
}
