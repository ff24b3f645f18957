// Digests of what models are sent.
// Owns:     which parts of a request count: roles, parts, names and provider options of the messages, tools, settings without headers,
//           and the form of the answer. Ids and metadata of messages do not: no model reads them.
// X1. A conversation that only grew costs what is new: the hash of a list is continued. Hashes of messages are not kept: a WeakMap of
//     them costs more than it saves.
import type { ModelSettings, OfferedTool, OutputFormat } from '../../inference/index.ts';
import { omitHeaders } from '../../inference/index.ts';
import { TextHash } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { Messages } from '../../messages/index.ts';

/** Hashes of tools, settings and schemas, which are the same objects in every request. */
const hashes = new WeakMap<object, TextHash>();

function hashOnce<Value extends object>(value: Value, addTo: (hash: TextHash, value: Value) => TextHash): TextHash {
  const known = hashes.get(value);
  if (known !== undefined) return known;
  const hash = addTo(new TextHash(), value);
  hashes.set(value, hash);
  return hash;
}

const addMessage = (hash: TextHash, { role, parts, name, providerOptions }: Message): TextHash =>
  hash.add(role).addJson(parts).addJson(name).addJson(providerOptions);
const addModelSettings = (hash: TextHash, settings: ModelSettings): TextHash => hash.addJson(omitHeaders(settings));
const addData = (hash: TextHash, value: object): TextHash => hash.addJson(value);

export const hashMessage = (message: Message): TextHash => addMessage(new TextHash(), message);

export const hashSettings = (settings: ModelSettings): TextHash => hashOnce(settings, addModelSettings);

/** Hashes the form of an answer. The schema is the same object in every request, what is around it is not. */
export function hashOutput(output: OutputFormat | undefined): TextHash {
  const hash = new TextHash();
  if (output === undefined) return hash;
  const { schema, name, description } = output;
  return hash.addHash(hashOnce(schema, addData)).addJson(name).addJson(description);
}

function addMessages(hash: TextHash, messages: Iterable<Message>): TextHash {
  for (const message of messages) addMessage(hash, message);
  return hash;
}

/** The hash of a list that grows. */
export class MessageSum {
  #messages: Messages = Messages.empty();
  #hash = new TextHash();

  hash(messages: Messages | readonly Message[]): TextHash {
    if (!(messages instanceof Messages)) return addMessages(new TextHash(), messages);
    const added = messages.since(this.#messages);
    this.#hash = added === undefined ? addMessages(new TextHash(), messages) : addMessages(this.#hash, added);
    this.#messages = messages;
    return this.#hash;
  }
}

/** The parts of a request that count. */
export interface DigestedRequest {
  /** The message with the agent's instructions. */
  readonly system: Message | undefined;
  /** All others. */
  readonly messages: Messages | readonly Message[];
  readonly tools: readonly OfferedTool[];
  readonly settings: ModelSettings;
  readonly output: OutputFormat | undefined;
}

const nothing = new TextHash();

/** Computes the digest of a request. */
export function digestRequest({ system, messages, tools, settings, output }: DigestedRequest, sum: MessageSum = new MessageSum()): string {
  return new TextHash()
    .addHash(system === undefined ? nothing : hashOnce(system, addMessage))
    .addHash(sum.hash(messages))
    .addHash(tools.length === 0 ? nothing : hashOnce(tools, addData))
    .addHash(hashSettings(settings))
    .addHash(hashOutput(output))
    .toString();
}
