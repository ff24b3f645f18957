// The conversation of a session as messages of AG-UI.
// M1. A message has the id under which it is sent while it is written.
// M2. Messages that are not meant for readers are left out.
import type { JsonObject, Redactor } from '../../lib/index.ts';
import { defaultRedactor, omitUndefined } from '../../lib/index.ts';
import type { ContentPart, Message } from '../../messages/index.ts';
import { toolResultText } from '../../messages/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { AgUiMessage, AgUiToolCall } from './ag-ui-event.ts';
import { toCallId, toMessageId, toReasoningId, toResultId } from './ag-ui-ids.ts';

/** Finds the step of each message, and returns them with those of a step that waits. */
function readSteps(state: RunState): { readonly places: ReadonlyMap<string, string>; readonly pending: readonly Message[] } {
  const places = new Map<string, string>();
  for (const { id = '', results, pendingStep } of state.session.executions) {
    for (const { number, step } of results) for (const message of step.outputMessages) places.set(message.id, toMessageId(id, number));
    for (const message of pendingStep?.partial.outputMessages ?? []) places.set(message.id, toMessageId(id, pendingStep?.number ?? 0));
  }
  return { places, pending: state.pendingStep?.partial.outputMessages ?? [] };
}

function toContentPart(part: ContentPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType: mimeType } = part;
  const type = part.type === 'image' ? 'image' : 'document';
  if (part.data !== undefined)
    return { type, source: { type: 'data', value: part.data, mimeType: mimeType ?? 'application/octet-stream' } };
  if (part.url !== undefined) return { type, source: omitUndefined({ type: 'url', value: part.url, mimeType }) };
  return { type, source: omitUndefined({ type: 'file', value: 'id' in part ? part.id : '', mimeType }) };
}

/** Returns a message of a person. */
export function toUserMessage(message: Message, redactor: Redactor): AgUiMessage {
  const isText = message.parts.every(({ type }) => type === 'text');
  // Holds: messages of users have no other parts.
  const parts = (): readonly JsonObject[] => (message.parts as readonly ContentPart[]).map(toContentPart);
  // Holds: a redactor keeps the form of a value.
  const content = isText ? redactor.text(message.text) : (redactor.value(parts()) as readonly JsonObject[]);
  return { id: message.id, role: 'user', content, ...omitUndefined({ name: message.name }) };
}

function* toAssistantMessages(message: Message, id: string, redactor: Redactor): Generator<AgUiMessage, void, undefined> {
  const reasoning = message.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('');
  if (reasoning !== '') yield { id: toReasoningId(id), role: 'reasoning', content: redactor.text(reasoning) };
  const toolCalls = message.toolCalls.map((call): AgUiToolCall => {
    const args = JSON.stringify(redactor.value(call.args ?? null));
    return { id: toCallId(id, call.id), type: 'function', function: { name: call.name, arguments: args } };
  });
  const content = message.text === '' ? {} : { content: redactor.text(message.text) };
  if (message.text === '' && toolCalls.length === 0) return;
  const name = omitUndefined({ name: message.name });
  yield { id, role: 'assistant', ...content, ...(toolCalls.length > 0 && { toolCalls }), ...name };
}

function* toToolMessages(message: Message, place: string, redactor: Redactor): Generator<AgUiMessage, void, undefined> {
  for (const { toolCallId: id, output } of message.toolResults) {
    const toolCallId = toCallId(place, id);
    const content = redactor.text(toolResultText(output));
    const error = output.type === 'error' || output.type === 'rejected' ? { error: content } : {};
    yield { id: toResultId(toolCallId), role: 'tool', toolCallId, content, ...error };
  }
}

/** Returns the conversation of a state, with the step that waits, without secrets. */
export function toAgUiMessages(state: RunState, redactor: Redactor = defaultRedactor): readonly AgUiMessage[] {
  const { places, pending } = readSteps(state);
  const known = new Set<string>();
  const messages: AgUiMessage[] = [];
  let last = '';
  for (const message of [...state.messages, ...pending]) {
    if (known.has(message.id) || typeof message.metadata['purpose'] === 'string') continue;
    known.add(message.id);
    if (message.isUser()) messages.push(toUserMessage(message, redactor));
    else if (message.isAssistant()) {
      const place = places.get(message.id) ?? message.id;
      // A step may have more than one message.
      last = messages.some(({ id }) => id === place) ? message.id : place;
      messages.push(...toAssistantMessages(message, last, redactor));
    } else messages.push(...toToolMessages(message, places.get(message.id) ?? last, redactor));
  }
  return messages;
}
