// Requests to models, as a log stores them.
// Owns:     what is stored of a request beside the definition of its agent and the conversation.
// Does not: read or write a store, or see the calls that hooks and selectors make themselves.
// N1. What read-requests.ts rebuilds has the digest that was stored, unless a message was erased since.
// N2. A request is compared with the conversation at the head of the log; in a run inside a step, whose conversation is in no log, with
//     the request before it, and the first one with a view of the conversation or with nothing.
import type { AgentDefinition, KnownView, RefusedPart, RequestRecorder, StoredRequest } from '../../inference/index.ts';
import { Conversation, leaveOutRefused, omitHeaders } from '../../inference/index.ts';
import { jsonEquals, omitUndefined, sha256, stableStringify } from '../../lib/index.ts';
import type { OfferedTool, Messages } from '../../messages/index.ts';
import { Message } from '../../messages/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { DigestedRequest } from './request-digest.ts';
import { digestRequest, hashMessage, hashOutput, hashSettings, MessageSum } from './request-digest.ts';

/** The message that instructions are sent as has this id. */
const instructionsId = 'instructions';

export type MessageList = Messages | readonly Message[];

const isInstructions = (message: Message | undefined): boolean => message?.id === instructionsId && message.isSystem();

function splitMessages(asked: Conversation | readonly Message[]): Pick<DigestedRequest, 'system' | 'messages'> {
  if (asked instanceof Conversation && asked.instructions.length < 2) {
    const [system] = asked.instructions;
    if (system !== undefined || !isInstructions(asked.messages.at(0))) return { system, messages: asked.messages };
  }
  const [first, ...rest] = asked instanceof Conversation ? asked.toArray() : asked;
  if (first === undefined) return { system: undefined, messages: [] };
  return isInstructions(first) ? { system: first, messages: rest } : { system: undefined, messages: [first, ...rest] };
}

/** Leaves out what a provider has refused. */
export const withoutRefused = (messages: Messages, refused: readonly RefusedPart[] | undefined): Messages =>
  leaveOutRefused(new Conversation(messages), refused).messages;

const isSame = (one: Message | undefined, other: Message | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && hashMessage(one).equals(hashMessage(other)));

/** Finds the messages that stand in the place of others; undefined if there are none. */
function findChange(base: MessageList, messages: MessageList): StoredRequest['changed'] {
  if (base === messages) return undefined;
  const [before, after] = [Array.from(base), Array.from(messages)];
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && isSame(before[at], after[at])) at += 1;
  let kept = 0;
  while (kept < most - at && isSame(before.at(-1 - kept), after.at(-1 - kept))) kept += 1;
  const removed = before.length - kept - at;
  const added = after.slice(at, after.length - kept).map((message) => message.toJSON());
  return removed === 0 && added.length === 0 ? undefined : { at, removed, added };
}

/** Creates the message of the instructions, given those that were made for the request; undefined if there are none. */
export function toSystem({ instructions }: AgentDefinition, made: readonly string[]): Message | undefined {
  let next = 0;
  const texts = instructions.map((each) => each ?? made[next++] ?? '').filter((text) => text !== '');
  return texts.length === 0 ? undefined : Message.system(texts.join('\n\n'), { id: instructionsId });
}

/** Returns the tools that differ from those of the definition, by name if it has them. */
function findOtherTools({ tools }: AgentDefinition, offered: readonly OfferedTool[]): StoredRequest['tools'] {
  if (offered === tools || (offered.length === 0 && tools.length === 0)) return undefined;
  return offered.map((tool) => {
    const known = tools.find(({ name }) => name === tool.name);
    return known !== undefined && jsonEquals(known, tool) ? tool.name : tool;
  });
}

/** Finds out which parts of a request the definition does not say. */
function findDifferences(request: DigestedRequest, definition: AgentDefinition, made: readonly string[]): Partial<StoredRequest> {
  const { system, tools, settings, output } = request;
  const isUsual = isSame(system, toSystem(definition, made));
  return omitUndefined({
    made: isUsual && made.length > 0 ? made : undefined,
    system: isUsual ? undefined : (system?.toJSON() ?? null),
    tools: findOtherTools(definition, tools),
    settings: hashSettings(settings).equals(hashSettings(definition.settings)) ? undefined : omitHeaders(settings),
    output: hashOutput(output).equals(hashOutput(definition.output)) ? undefined : (output ?? null),
  });
}

/** A definition as it is stored. */
export interface StoredDefinition {
  readonly id: string;
  /** JSON text. */
  readonly body: string;
}

/** Name of the note that holds a definition. */
export const toDefinitionNote = (id: string): string => `definition/${id}`;

/** Writes a definition in the form whose digest is its id. Sessions share it: two definitions never have the same id. */
export function writeDefinition(definition: AgentDefinition): StoredDefinition {
  // Holds: options that are not JSON, such as a field that is undefined, are not sent either.
  const body = stableStringify(JSON.parse(JSON.stringify(definition)) as unknown);
  return { id: sha256(body).slice(0, 32), body };
}

/** Parts of a session that a recorder needs. */
export interface RequestSink {
  /** The state at the head of the log. */
  readonly getState: () => RunState;
  /** Returns the id of a definition, which is stored before the step is. */
  readonly define: (definition: AgentDefinition) => string;
  readonly add: (sent: StoredRequest) => void;
}

/** Run inside a step that a recorder belongs to. */
interface InnerPlace {
  readonly inside?: string;
  /** Conversation that the run starts with, if the state of the session tells it. */
  readonly view?: KnownView | undefined;
}

/** Creates the recorder of a session's run, or of a run inside a step of it. */
export function createRecorder(sink: RequestSink, { inside, view }: InnerPlace = {}): RequestRecorder {
  const sum = new MessageSum();
  /** Messages of the last request. */
  let last: MessageList | undefined;
  const getBase = (): MessageList | undefined => {
    if (last !== undefined && inside !== undefined) return last;
    const { messagesForInference, data } = sink.getState();
    const first = inside === undefined ? messagesForInference : view?.messages;
    return first && withoutRefused(first, data.refusedParts);
  };
  return {
    describe: ({ request, definition, made, purpose }) => {
      const { settings = definition.settings, tools = [], output } = request;
      const whole: DigestedRequest = { ...splitMessages(request.messages), tools, settings, output };
      const base = getBase();
      const sent: StoredRequest = omitUndefined({
        definition: sink.define(definition),
        digest: digestRequest(whole, sum),
        purpose,
        inside,
        view: last === undefined ? view?.participant : undefined,
        ...findDifferences(whole, definition, made),
        messages: base === undefined ? Array.from(whole.messages, (message) => message.toJSON()) : undefined,
        changed: base && findChange(base, whole.messages),
      });
      last = whole.messages;
      return sent;
    },
    add: ({ messages, changed, ...sent }, journaled = sent) => {
      // What an earlier process sent is what counts; only its messages have to be those of this one.
      sink.add(omitUndefined({ ...(journaled.digest === sent.digest ? sent : journaled), messages, changed }));
    },
    // The state of the session says nothing about runs inside a run.
    openInside: (key, known) => createRecorder(sink, inside === undefined ? { inside: key, view: known } : { inside: `${inside}/${key}` }),
  };
}

/** Requests of a step, in the order in which they were answered. */
export interface StepRequests {
  readonly execution: number;
  readonly step: number;
  readonly sent: readonly StoredRequest[];
}
