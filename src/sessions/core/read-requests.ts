// Requests to models, rebuilt from what a log stores of them.
import type { AgentDefinition, ModelRequest, StoredRequest } from '../../inference/index.ts';
import { InvalidArgumentError, omitUndefined } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { RunState, StateType } from '../../step-by-step/index.ts';
import type { SessionReader, SessionStore } from '../store/session-store.ts';
import { readBody, readEntriesFrom, readStored, replay } from './entries.ts';
import type { DigestedRequest } from './request-digest.ts';
import { digestRequest } from './request-digest.ts';
import type { MessageList, StepRequests } from './sent-requests.ts';
import { toDefinitionNote, toSystem, withoutRefused } from './sent-requests.ts';

/** A request as it was sent, and its place. */
export interface SessionRequest extends Pick<StepRequests, 'execution' | 'step'>, Pick<StoredRequest, 'purpose' | 'inside'> {
  /** Without headers, which are not stored. */
  readonly request: Pick<ModelRequest, 'messages' | 'tools' | 'settings' | 'output'>;
  readonly definition: AgentDefinition;
  /** True if it has the digest that was stored. */
  readonly isExact: boolean;
}

/** A step whose requests are rebuilt. */
interface RequestSources {
  /** The state before the entry that has the requests. */
  readonly state: RunState;
  readonly states: Pick<StateType, 'viewMessages'>;
  readonly requests: StepRequests;
  /** Definitions by their ids. */
  readonly definitions: ReadonlyMap<string, AgentDefinition>;
}

/** Returns the messages after the instructions. */
function rebuildMessages({ messages, changed }: StoredRequest, base: MessageList): readonly Message[] {
  if (messages !== undefined) return messages.map((message) => Message.fromJSON(message));
  const before = Array.from(base);
  if (changed === undefined) return before;
  const { at, removed, added } = changed;
  return before.toSpliced(at, removed, ...added.map((message) => Message.fromJSON(message)));
}

/** Rebuilds a request, given the messages that it continues. */
function rebuildParts(sent: StoredRequest, definition: AgentDefinition, base: MessageList): DigestedRequest {
  const { system, tools, settings = definition.settings, output = definition.output, made = [] } = sent;
  return {
    system: system === undefined ? toSystem(definition, made) : system === null ? undefined : Message.fromJSON(system),
    messages: rebuildMessages(sent, base),
    tools:
      tools?.flatMap((tool) => (typeof tool === 'string' ? definition.tools.filter(({ name }) => name === tool) : tool)) ??
      definition.tools,
    settings,
    output: output ?? undefined,
  };
}

/** Rebuilds what models were sent in a step. */
export function rebuildRequests({ state, states, requests, definitions }: RequestSources): readonly SessionRequest[] {
  const { execution, step } = requests;
  const { refusedParts } = state.data;
  /** The last messages of each run inside the step. */
  const inner = new Map<string, readonly Message[]>();
  return requests.sent.map((sent): SessionRequest => {
    const { purpose, inside, view, digest } = sent;
    const definition = definitions.get(sent.definition);
    if (definition === undefined) throw new InvalidArgumentError(`The definition ${sent.definition} is not stored.`);
    const first = inside === undefined ? state.messagesForInference : view && states.viewMessages?.(state, view);
    const base = (inside !== undefined && inner.get(inside)) || (first && withoutRefused(first, refusedParts)) || [];
    const whole = rebuildParts(sent, definition, base);
    const messages = Array.from(whole.messages);
    if (inside !== undefined) inner.set(inside, messages);
    const { system, tools, settings, output } = whole;
    const request = omitUndefined({
      messages: system === undefined ? messages : [system, ...messages],
      tools: tools.length === 0 ? undefined : tools,
      settings,
      output,
    });
    return omitUndefined({ execution, step, purpose, inside, request, definition, isExact: digestRequest(whole) === digest });
  });
}

/** Rebuilds everything that models were sent in a session, in order. Steps whose requests were not recorded have none. */
export async function readRequests(
  store: SessionReader & Pick<SessionStore, 'notes'>,
  sessionId: string,
  states: StateType,
): Promise<readonly SessionRequest[]> {
  const entries = await readEntriesFrom(store, sessionId, 1);
  const found = readStored(sessionId, () => entries.map(({ body }) => readBody(body).requests));
  const definitions = new Map<string, AgentDefinition>();
  for (const id of new Set(found.flatMap((requests) => requests?.sent.map(({ definition }) => definition) ?? []))) {
    const note = await store.notes.read(toDefinitionNote(id));
    // Holds: a definition is of our own writing, and its digest says that it is whole.
    if (note !== undefined) definitions.set(id, JSON.parse(note.body) as AgentDefinition);
  }
  return found.flatMap((requests, index) => {
    if (requests === undefined) return [];
    const { state } = readStored(sessionId, () => replay(entries.slice(0, index), states));
    return rebuildRequests({ state, states, requests, definitions });
  });
}
