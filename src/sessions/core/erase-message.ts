// Erasing a message from a log.
// Y1. Its content is replaced wherever it is stored: states, changes, actions, events; and so is what can be found of it elsewhere: the
//     arguments of its calls, the reasons for asking about them, the results that it says, copies of its text, and what quotes it in a
//     stored request. An approval for the rest of the session that names arguments of its calls is gone.
// Y2. The log replays as before. Ids and numbers stay.
import type { Json, JsonObject } from '../../lib/index.ts';
import { InvalidArgumentError, isList, jsonEquals } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { LogEntry, SessionWrite } from '../store/session-store.ts';
import { readStored } from './entries.ts';
import { toApprovalId } from './session-approvals.ts';
import { dropErasedTexts } from './stored-events.ts';
import type { StoredMessage } from './erased-content.ts';
import {
  erased,
  erasedArgs,
  eraseContent,
  eraseOutput,
  getItems,
  getObservedCall,
  getParts,
  isMessage,
  isObject,
} from './erased-content.ts';

/** Throws if a message cannot be erased now: a step that waits still needs the arguments of its calls. */
export function assertErasable(sessionId: string, { pendingStep }: RunState, messageId: string): void {
  const message = pendingStep?.partial.outputMessages.find(({ id }) => id === messageId);
  if (message === undefined || message.toolCalls.length === 0) return;
  throw new InvalidArgumentError(
    `Message "${messageId}" of session "${sessionId}" has calls that are waiting for a person. Nothing was erased. Answer them or cancel the session first.`,
  );
}

/** Returns the entries of a log that hold a message, without its content. Throws if there is no such message. */
export function eraseMessage(sessionId: string, entries: readonly LogEntry[], messageId: string): NonNullable<SessionWrite['rewrites']> {
  const rewritten = findErased(sessionId, entries, messageId);
  if (rewritten !== undefined) return rewritten;
  throw new InvalidArgumentError(
    `Session "${sessionId}" has no message "${messageId}". Nothing was erased. Find the ids in session.state.messages.`,
  );
}

/** Returns the entries of a log that hold a message, without its content; undefined if there is no such message. */
export function findErased(
  sessionId: string,
  entries: readonly LogEntry[],
  messageId: string,
): NonNullable<SessionWrite['rewrites']> | undefined {
  return readStored(sessionId, () => {
    const stored = entries.map(({ n, body, events = 'null' }) => ({ n, body: readText(body), events: readText(events) }));
    const found = new FoundMessage(messageId);
    found.look(stored);
    // Twice: the calls of a step are known once all messages are.
    found.look(stored);
    if (!found.isKnown) return undefined;
    return stored.flatMap((before) => {
      const after = { ...before, body: found.erase(before.body), events: dropErasedTexts(found.erase(before.events)) };
      if (jsonEquals(after, before)) return [];
      const { n, body, events } = after;
      return [{ n, body: writeText(body), ...(events !== null && { events: writeText(events) }) }];
    });
  });
}

/** Key of a state that is stored as text inside a body. */
const wholeState = 'state';

// Holds: the text is JSON.
const parse = (text: string): Json => JSON.parse(text) as Json;

function readText(text: string): Json {
  const data = parse(text);
  const state = isObject(data) ? data[wholeState] : undefined;
  return isObject(data) && typeof state === 'string' ? { ...data, [wholeState]: parse(state) } : data;
}

function writeText(data: Json): string {
  const state = isObject(data) ? data[wholeState] : undefined;
  return JSON.stringify(isObject(data) && isObject(state) ? { ...data, [wholeState]: JSON.stringify(state) } : data);
}

/** Fields that hold words, outside of messages. */
const wordKeys = new Set(['text', 'reasoning', 'content', 'prompt', 'result', 'error', 'errorMessages', 'value', 'message', 'reason']);

/** Shorter texts are part of too many others. */
const shortestQuote = 3;

/** Types of what asks about a call: its reason may quote the arguments. Other reasons are those of a person. */
const asking: readonly (Json | undefined)[] = ['approval', 'ToolApprovalRequested'];

const isSentRequest = ({ definition, digest }: JsonObject): boolean => typeof definition === 'string' && typeof digest === 'string';

/** A message, and what a log has of it. */
class FoundMessage {
  readonly #id: string;
  readonly #messages = new Map<string, StoredMessage>();
  /** Calls whose arguments it holds. */
  readonly #calls = new Set<string>();
  /** Digests of approvals of those calls. */
  readonly #digests = new Set<string>();
  /** Calls whose results it holds. */
  readonly #results = new Set<string>();
  /** Its texts, and those of failures that it says. */
  readonly #texts = new Set<string>();

  constructor(id: string) {
    this.#id = id;
  }

  get isKnown(): boolean {
    return this.#messages.has(this.#id);
  }

  /** Looks for the message, and for what belongs to it. */
  look(node: Json, beside: readonly string[] = []): void {
    if (isMessage(node)) this.#lookAt(node);
    else if (isList(node)) for (const item of node) this.look(item, beside);
    else if (isObject(node)) this.#lookInside(node, beside);
  }

  #lookInside(node: JsonObject, beside: readonly string[]): void {
    const inside = listWritten(node) ?? beside;
    for (const value of Object.values(node)) this.look(value, inside);
    const { fields, messages, toolCallId, message, refusedParts, type, waitId, digest } = node;
    if (type === 'approve' && this.#calls.has(toText(waitId))) this.#digests.add(toText(digest));
    // A failure that names one of its attachments says what the file is called.
    const isRefused = getItems(refusedParts).some((part) => isObject(part) && part['messageId'] === this.#id);
    if (typeof message === 'string' && (isRefused || this.#results.has(toText(toolCallId)))) this.#texts.add(message);
    if (!isObject(fields) || this.#messages.get(this.#id)?.['role'] !== 'assistant') return;
    if (!getItems(messages).some((ref) => toMessageId(ref, inside) === this.#id)) return;
    for (const call of getItems(fields['toolCalls'])) if (isObject(call)) this.#calls.add(toText(call['id']));
  }

  /** Returns the same data without the message's words. */
  erase(node: Json, beside: readonly string[] = []): Json {
    if (isMessage(node)) return node.id === this.#id ? eraseContent(node) : node;
    if (isList(node)) return node.map((item) => this.erase(item, beside));
    if (!isObject(node)) return node;
    const inside = listWritten(node) ?? beside;
    const isNamed = node['messageId'] === this.#id;
    // The parts of a message in an event about it: what is left of one is its text.
    const isKept = ([key, value]: readonly [string, Json]): boolean => !(isNamed && key === 'content' && isList(value));
    const fields = Object.entries(node)
      .filter(isKept)
      .map(([key, value]): [string, Json] => {
        if (wordKeys.has(key)) return [key, this.#eraseWords(value, isNamed) ?? this.erase(value, inside)];
        if (key === 'approvals' && isList(value)) return [key, value.filter((approval) => !this.#isOfCall(approval))];
        return [key, this.#calls.has(key) && isObject(value) ? eraseMemo(value) : this.erase(value, inside)];
      });
    const next: JsonObject = isSentRequest(node) ? this.#eraseQuotes(Object.fromEntries(fields)) : Object.fromEntries(fields);
    // Waits and answers have the id of their call.
    const named = node['toolCallId'] ?? node['waitId'] ?? (typeof node['type'] === 'string' ? node['id'] : undefined);
    return this.#eraseStep(this.#eraseCall(next, named), inside);
  }

  #lookAt(message: StoredMessage): void {
    // An earlier attempt may have erased some of it.
    if (!this.#messages.has(message.id)) this.#messages.set(message.id, message);
    if (message.id !== this.#id) return;
    const { content } = message;
    const observed = getObservedCall(message);
    if (observed !== undefined) this.#results.add(observed);
    const parts = getParts(message);
    for (const { type, toolCallId } of parts) {
      if (type === 'tool-call') this.#calls.add(toText(toolCallId));
      if (type === 'tool-result') this.#results.add(toText(toolCallId));
    }
    const texts = [content, ...parts.map(({ text }) => text)].filter((text) => typeof text === 'string');
    for (const text of [...texts, texts.join('\n')]) if (text !== '' && text !== erased) this.#texts.add(text);
  }

  /** Erases what quotes the message in a request: instructions that were made from it, messages that a hook wrote. */
  #eraseQuotes(sent: JsonObject): JsonObject {
    const eraseQuote = (node: Json): Json => {
      if (typeof node === 'string') return this.#isQuotedIn(node) ? erased : node;
      if (!isMessage(node)) return node;
      const texts = [node['content'], ...getParts(node).map(({ text }) => text)];
      return texts.some((text) => typeof text === 'string' && this.#isQuotedIn(text)) ? eraseContent(node) : node;
    };
    const { made, system, messages, changed } = sent;
    const added = isObject(changed) ? { changed: { ...changed, added: getItems(changed['added']).map(eraseQuote) } } : {};
    const lists = { made: getItems(made).map(eraseQuote), messages: getItems(messages).map(eraseQuote) };
    return replace(sent, { ...lists, ...added, system: eraseQuote(system ?? null) });
  }

  #isQuotedIn(text: string): boolean {
    for (const quoted of this.#texts) if (quoted.trim().length >= shortestQuote && text.includes(quoted)) return true;
    return false;
  }

  /** Returns words without those of the message; undefined if they are none. */
  #eraseWords(value: Json, isNamed: boolean): Json | undefined {
    if (typeof value === 'string') return value !== '' && (isNamed || this.#texts.has(value)) ? erased : value;
    if (!isList(value) || !value.every((item) => typeof item === 'string')) return undefined;
    return value.map((item) => (this.#texts.has(item) ? erased : item));
  }

  /** True for an approval for the rest of the session that names arguments of a call. */
  #isOfCall(approval: Json): boolean {
    if (!isObject(approval) || !('args' in approval)) return false;
    return [...this.#digests].some((digest) => toApprovalId(digest) === approval['id']);
  }

  /** Erases what an event, a wait, an answer, an action, a failure or an execution has of a call. */
  #eraseCall(node: JsonObject, id: Json | undefined): JsonObject {
    if (typeof id !== 'string') return node;
    let next = node;
    if (this.#calls.has(id)) {
      const { rawArgs: _, shown, ...rest } = next;
      const words = { args: erasedArgs, problem: erased, ...(asking.includes(next['type']) && { reason: erased }) };
      next = replace(rest, words);
      if (isObject(shown)) next = { ...next, shown: replace(shown, { args: erasedArgs, reason: erased }) };
    }
    if (!this.#results.has(id)) return next;
    next = replace(next, { value: erased, result: erased, error: erased, message: erased, reason: erased });
    return isObject(next['output']) ? { ...next, output: eraseOutput(next['output']) } : next;
  }

  /** Erases what a step has beside its messages. An execution without an id is that of the call in the same place. */
  #eraseStep(step: JsonObject, beside: readonly string[]): JsonObject {
    const { fields, messages } = step;
    if (!isObject(fields) || !isList(messages)) return step;
    const ids = messages.map((ref) => toMessageId(ref, beside));
    const given = getItems(fields['toolCalls']).filter(isObject);
    const calls = given.length > 0 ? given.map(({ id }) => id) : ids.flatMap((id) => this.#listCalls(id));
    const executions = getItems(fields['executions']).map((execution, index) =>
      isObject(execution) ? this.#eraseCall(execution, execution['id'] ?? calls[index]) : execution,
    );
    const toolCalls = given.map((call) => this.#eraseCall(call, call['id']));
    // The final answer of a step is in its message.
    const isAnswer = ids.includes(this.#id) && this.#results.size === 0;
    return { ...step, fields: replace(fields, { executions, toolCalls, ...(isAnswer && { output: erased }) }) };
  }

  /** Lists the calls of an answer that were ours to run. */
  #listCalls(messageId: string): readonly (Json | undefined)[] {
    const message = this.#messages.get(messageId);
    const parts = message?.['role'] === 'assistant' ? getParts(message) : [];
    const answered = new Set(parts.filter(({ type }) => type === 'tool-result').map(({ toolCallId }) => toolCallId));
    return parts
      .filter(({ type, toolCallId, providerExecuted }) => type === 'tool-call' && providerExecuted !== true && !answered.has(toolCallId))
      .map(({ toolCallId }) => toolCallId);
  }
}

const toText = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Replaces fields that are there. */
function replace(node: JsonObject, values: JsonObject): JsonObject {
  return { ...node, ...Object.fromEntries(Object.entries(values).filter(([key]) => Object.hasOwn(node, key))) };
}

/** Erases what a run inside a call has kept for going on. */
const eraseMemo = (memo: JsonObject): JsonObject => replace(memo, { args: erasedArgs, memo: erased });

/** Returns the id of the message that a step refers to. */
function toMessageId(ref: Json, beside: readonly string[]): string {
  const id = typeof ref === 'number' ? beside[ref] : isObject(ref) ? (ref['messageId'] ?? ref['id']) : ref;
  return toText(id);
}

/** Lists the ids of the messages that a state or a change writes; its steps refer to them by their place. */
function listWritten({ store }: JsonObject): readonly string[] | undefined {
  if (!isObject(store)) return undefined;
  const sections = getItems(store['sections']).filter(isObject);
  return sections.flatMap(({ messages }) => getItems(messages).map((ref) => toMessageId(ref, [])));
}
