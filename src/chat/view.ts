// The conversation as one participant reads it.
// Owns:     the roles, the names before the words, and the bounds of a participant's window.
// V1. A participant's own words are the assistant's, everybody else's the user's, with the speaker's name before them; no line of them
//     begins with the name of anybody else.
// V2. A message keeps its id, so that it can be found in the conversation after it has left the window.
// V3. What was folded into a summary is read there, and nowhere else; the conversation itself never gets shorter.
import { jsonEquals, omitUndefined } from '../lib/index.ts';
import type { Messages } from '../messages/index.ts';
import { Message, MessageRole, MessageStore, SectionName } from '../messages/index.ts';
import type { ParticipantWindow, UnfinishedTurn } from './chat-step.ts';
import { markLines, nameOutsider, withSpeaker } from './speaker-lines.ts';
import type { TurnState } from './turn-state.ts';
import { getSpeaker, listStepsBackwards, getUnfinishedTurns } from './turn-state.ts';

const isBlank = ({ parts }: Message): boolean => parts.every((part) => part.type === 'text' && part.text.trim() === '');

function toSeen(participant: string, message: Message): Message {
  const speaker = getSpeaker(message);
  const { id, parts, name } = message;
  if (speaker === participant) return new Message({ id, role: MessageRole.Assistant, parts, name: participant });
  if (speaker !== undefined) return new Message({ id, role: MessageRole.User, parts: withSpeaker(speaker, parts), name: speaker });
  // What an assistant said before this conversation is nobody's own here; its calls cannot be told otherwise than they were.
  const isForeign = message.isAssistant() && message.toolCalls.length === 0;
  const seen = isForeign ? message.withRole(MessageRole.User) : message;
  if (!seen.isUser()) return seen;
  // One who speaks from outside may have the name of somebody here.
  const outsider = nameOutsider(name);
  const marked = name === undefined ? markLines(outsider, parts) : withSpeaker(outsider, parts);
  return marked === parts ? seen : seen.withParts(marked);
}

/** Returns the window of a participant after its last change. */
export function getWindow(state: TurnState, participant: string): ParticipantWindow | undefined {
  for (const step of listStepsBackwards(state)) if (step.participant === participant && step.window !== undefined) return step.window;
  return undefined;
}

const turnBegins = '[It is your turn.]';
const turnAgain = '[It is your turn again.]';

/** A model is not asked without a question. */
function createQuestion(seen: readonly Message[], id: string): readonly Message[] {
  const last = seen.at(-1);
  if (last === undefined || last.isSystem()) return [Message.user(turnBegins, { id })];
  return last.isAssistant() ? [Message.user(turnAgain, { id })] : [];
}

interface Slice {
  /** Number of messages before these. */
  readonly before: number;
  readonly unfinished: readonly UnfinishedTurn[];
  readonly see: (messages: readonly Message[]) => readonly Message[];
}

/** Returns the messages as they are read, with the calls of the participant's unfinished turns, each in its place. */
function withUnfinished(messages: readonly Message[], { before, unfinished, see }: Slice): readonly Message[] {
  let next = 0;
  const read: Message[] = [];
  for (const { at, messages: done } of unfinished) {
    const upTo = Math.max(next, Math.min(messages.length, at - before));
    read.push(...see(messages.slice(next, upTo)), ...done);
    next = upTo;
  }
  return [...read, ...see(messages.slice(next))];
}

/** Returns the conversation as this participant reads it. `questionId` is the id of the question that is added if nobody asked anything. */
export function toView(state: TurnState, participant: string, questionId: string): MessageStore {
  const all = state.messages.toArray();
  const { folded = 0, buffered = 0, kept = [], foldedCalls = [], summary } = getWindow(state, participant) ?? {};
  const see = (messages: readonly Message[]): readonly Message[] =>
    messages.filter((message) => !isBlank(message)).map((message) => toSeen(participant, message));
  const stillThere = all.slice(0, folded).filter(({ id }) => kept.includes(id));
  const unfinished = getUnfinishedTurns(state, participant).map(({ at, messages }) => ({
    at,
    messages: messages.filter(({ id }) => !foldedCalls.includes(id)),
  }));
  const inBuffer = unfinished.filter(({ at }) => at < buffered);
  const buffer = [...see(stillThere), ...withUnfinished(all.slice(folded, buffered), { before: folded, unfinished: inBuffer, see })];
  const inWindow = unfinished.filter(({ at }) => at >= buffered);
  const seen = withUnfinished(all.slice(buffered), { before: buffered, unfinished: inWindow, see });
  const store = MessageStore.fromMessages([...seen, ...createQuestion(seen.length > 0 ? seen : buffer, questionId)]);
  const withBuffer = buffer.length === 0 ? store : store.withSection(SectionName.Buffer, buffer);
  return summary === undefined ? withBuffer : withBuffer.withSection(SectionName.Summary, [summary]);
}

/** Returns the messages that this participant reads at the start of its turn. */
export const viewMessages = (state: TurnState, participant: string): Messages => toView(state, participant, 'question').toMessages();

/** Result of a turn for the window of its participant. */
interface TurnEnd {
  readonly store: MessageStore;
  /** Messages of the turn. */
  readonly made: readonly Message[];
}

const listIds = (store: MessageStore, section: string): ReadonlySet<string> => new Set(store.section(section).map(({ id }) => id));

const unlessEmpty = (ids: readonly string[]): readonly string[] | undefined => (ids.length > 0 ? ids : undefined);

/** Returns the window after a turn; undefined if it has not changed. */
export function getChangedWindow(state: TurnState, participant: string, { store, made }: TurnEnd): ParticipantWindow | undefined {
  const before = getWindow(state, participant);
  const summary = store.section(SectionName.Summary).at(-1);
  const inBuffer = listIds(store, SectionName.Buffer);
  if (before === undefined && summary === undefined && inBuffer.size === 0) return undefined;
  const inWindow = listIds(store, SectionName.Messages);
  const all = state.messages.toArray();
  const firstSeen = all.findIndex(({ id }) => inWindow.has(id));
  const buffered = firstSeen === -1 ? all.length : firstSeen;
  const lastFolded = all.slice(0, buffered).findLastIndex((message) => !isBlank(message) && !inBuffer.has(message.id));
  const folded = lastFolded + 1;
  const kept = all.slice(0, folded).flatMap(({ id }) => (inBuffer.has(id) ? [id] : []));
  const done = [...getUnfinishedTurns(state, participant).flatMap(({ messages }) => messages), ...made];
  const foldedCalls = done.flatMap(({ id }) => (inBuffer.has(id) || inWindow.has(id) ? [] : [id]));
  const window = omitUndefined({ folded, buffered, kept: unlessEmpty(kept), foldedCalls: unlessEmpty(foldedCalls), summary });
  return before !== undefined && isSame(before, window) ? undefined : window;
}

function isSame(left: ParticipantWindow, right: ParticipantWindow): boolean {
  const { summary: one, ...bounds } = left;
  const { summary: other, ...otherBounds } = right;
  return one?.id === other?.id && jsonEquals(bounds, otherBounds);
}
