// The sentences of envelopes that report a status.
import { describeEvent } from '../../events/index.ts';
import type { EventView } from './event-view.ts';

const toSentence = (text: string): string => {
  const [first = ''] = text;
  return `${first.toUpperCase()}${text.slice(first.length)}${/[.!?…]$/.test(text) ? '' : '.'}`;
};

/** Describes an event in a sentence: by the reason of the rule that decided, if a rule did, else by the words of its log line. */
export function toStatusSentence(view: EventView): string {
  return toSentence(view.sentence('reason') ?? describeEvent(view.fields, view.settings.redactor));
}
