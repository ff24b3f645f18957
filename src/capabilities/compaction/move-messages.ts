// Which of the oldest messages leave the window.
// Owns:     the points at which a conversation can be cut, and the choice among them.
// Does not: know tokens: it is given a count.
// W1. A call and its results are never parted, whatever stands between them; so an observation and the answer it belongs to.
// W2. As little moves as lets the rest fit. If nothing does, the newest stays alone: a message with its results, however large.
// W3. Messages keep their order; none is lost, made or changed.
import type { Message } from '../../messages/index.ts';

/** True for what a model reads as the result of a call that it made in plain words. */
const isObservation = (message: Message): boolean => message.isUser() && message.metadata['purpose'] === 'observation';

/** Finds for each message the index of the last one that belongs to it. */
function findEnds(messages: readonly Message[]): readonly number[] {
  const ends = messages.map((_, index) => index);
  // A provider may use an id again: a result belongs to the last call before it.
  const calledAt = new Map<string, number>();
  let spokenAt: number | undefined;
  for (const [index, message] of messages.entries()) {
    if (message.isAssistant()) spokenAt = index;
    // What is observed does not always name its call; it belongs to what was said last.
    if (isObservation(message) && spokenAt !== undefined) ends[spokenAt] = index;
    for (const part of message.parts) {
      if (part.type === 'tool-call') calledAt.set(part.toolCallId, index);
      const asked = part.type === 'tool-result' ? calledAt.get(part.toolCallId) : undefined;
      if (asked !== undefined) ends[asked] = index;
    }
  }
  return ends;
}

/** Lists the places, from 0 to the length, at which a conversation can be cut without parting a call from its result. */
export function listCuts(messages: readonly Message[]): readonly number[] {
  const ends = findEnds(messages);
  const cuts: number[] = [];
  let end = -1;
  for (let place = 0; place <= messages.length; place += 1) {
    if (end < place) cuts.push(place);
    end = Math.max(end, ends[place] ?? place);
  }
  return cuts;
}

/** A conversation that is to fit its window. */
export interface Window {
  /** Messages that have left the window, then those in it. */
  readonly conversation: readonly Message[];
  /** Index of the first message in the window. */
  readonly begin: number;
  readonly maxTokens: number;
  readonly count: (message: Message) => number;
}

/** Finds the new index of the first message in the window. */
export function findBegin({ conversation, begin, maxTokens, count }: Window): number {
  // Sums from the end: left[i] is what the messages from i on hold.
  const left: number[] = [];
  let sum = 0;
  for (const [index, message] of [...conversation.entries()].slice(begin).toReversed()) left[index] = sum += count(message);
  const fits = (place: number): boolean => (left[place] ?? 0) <= maxTokens;
  if (fits(begin)) return begin;
  const places = listCuts(conversation).filter((place) => place > begin && place < conversation.length);
  return places.find(fits) ?? places.at(-1) ?? begin;
}
