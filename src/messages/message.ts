import type { IdSource, Json, JsonObject } from '../lib/index.ts';
import { cleanText, DamagedDataError, describeValue, getKnownForm, InvalidArgumentError, isPlainObject } from '../lib/index.ts';
import { readObject, systemIds, toFrozen } from '../lib/index.ts';
import { findUnreadable } from './attachment.ts';
import type { MessageFields } from './message-fields.ts';
import { MessageRole, messageRoles } from './message-role.ts';
import { textPart } from './content-part.ts';
import { parseFields, parseName, parseObject, parseParts, parseRole } from './parse-fields.ts';
import type { Part } from './parts.ts';
import { toolResultPart, toToolCall, toToolResult } from './parts.ts';
import { readPart } from './read-part.ts';
import type { ToolCall } from './tool-call.ts';
import type { ToolResult } from './tool-result.ts';

/** Content of a message: text, one part, or several. */
export type MessageContent = string | Part | readonly Part[];

/** Properties of a new message besides its content. */
export interface MessageOptions {
  /** @default a new id from `ids` */
  readonly id?: string;
  /** Source of the id if none is given. @default systemIds */
  readonly ids?: IdSource;
  /** Name of the author, to tell authors of the same role apart. */
  readonly name?: string;
  /** Kept with the message, never shown to a model. */
  readonly metadata?: JsonObject;
  /** Settings for a provider that concern this message only. */
  readonly providerOptions?: JsonObject;
}

const noMetadata: JsonObject = Object.freeze({});

function toParts(content: MessageContent): readonly Part[] {
  if (typeof content === 'string') return [textPart(content)];
  return 'type' in content ? [content] : content;
}

// What was said stays said, whoever gets a message into their hands.
function freezeParts(parts: readonly Part[]): readonly Part[] {
  // Those of an answer that was put together here are clean and frozen all the way down. Few others are frozen as a list.
  const isKnown = Object.isFrozen(parts) && getKnownForm(parts) !== undefined;
  return isKnown ? parts : Object.freeze(parts.map(toFrozen));
}

/** Fields of a message whose id and parts are frozen and can be stored as they are: they are not looked at again. */
class OwnFields implements MessageFields {
  readonly id: string;
  readonly role: MessageRole;
  readonly parts: readonly Part[];

  constructor(id: string, role: MessageRole, parts: readonly Part[]) {
    this.id = id;
    this.role = role;
    this.parts = parts;
  }
}

/** Fields that were checked already, such as those that were read from JSON. */
class CheckedFields implements MessageFields {
  readonly id: string;
  readonly role: MessageRole;
  readonly parts: readonly Part[];
  declare readonly name?: string | undefined;
  declare readonly metadata?: JsonObject | undefined;
  declare readonly providerOptions?: JsonObject | undefined;

  constructor(fields: MessageFields) {
    this.id = fields.id;
    this.role = fields.role;
    this.parts = fields.parts;
    this.name = fields.name;
    this.metadata = fields.metadata;
    this.providerOptions = fields.providerOptions;
  }
}

/** Creates the message of an answer that was checked as a whole: its list of parts is frozen all the way down and can be stored as it is. */
export function createAnswerMessage(parts: readonly Part[], ids: IdSource): Message {
  return new Message(new OwnFields(cleanText(ids()), MessageRole.Assistant, parts));
}

/** Result of a tool that no provider ran. */
type OwnResult = Pick<ToolResult, 'toolCallId' | 'toolName' | 'output'>;

/** Creates the message of a result that our own tools gave. The names of its fields are known, so only their values are looked at. */
export function createResultMessage({ toolCallId, toolName, output }: OwnResult, ids: IdSource): Message {
  const part: Part = { type: 'tool-result', toolCallId: cleanText(toolCallId), toolName: cleanText(toolName), output: toFrozen(output) };
  return new Message(new OwnFields(cleanText(ids()), MessageRole.Tool, Object.freeze([Object.freeze(part)])));
}

function joinText(parts: readonly Part[], type: 'text' | 'reasoning'): string {
  let joined: string | undefined;
  // By index: it runs for every step, and iterating over a frozen list costs more.
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (part?.type === type) joined = joined === undefined ? part.text : `${joined}\n${part.text}`;
  }
  return joined ?? '';
}

function saysNothing(part: Part): boolean {
  return (part.type === 'text' || part.type === 'reasoning') && part.text === '';
}

/** True for what may be said: text, a message, one part or several. What the parts are is not checked. */
export function isMessageContent(given: unknown): given is MessageContent | Message {
  if (typeof given === 'string' || given instanceof Message) return true;
  if (Array.isArray(given)) return given.length > 0;
  return isPlainObject(given) && typeof given['type'] === 'string';
}

/** Creates the message of a person. Refuses what cannot be stored, and attachments that no model can read. */
export function toUserMessage(content: unknown, { ids, caller }: { readonly ids: IdSource; readonly caller: string }): Message {
  if (!isMessageContent(content))
    throw new InvalidArgumentError(`${caller} needs a string, a message or a list of parts, not ${describeValue(content)}.`);
  const message = content instanceof Message ? content : Message.user(content, { ids });
  const problem = findUnreadable(message.parts);
  if (problem !== undefined) throw new InvalidArgumentError(`${caller}: no model can read an attachment of the message: ${problem}.`);
  return message;
}

/** One message of a conversation. It never changes; the `with…` methods give a changed copy with the same id. */
export class Message {
  readonly id: string;
  readonly role: MessageRole;
  readonly parts: readonly Part[];
  readonly metadata: JsonObject;
  declare readonly name?: string;
  declare readonly providerOptions?: JsonObject;

  /** Throws for fields that could not be stored and read again. */
  constructor(fields: MessageFields) {
    const isOwn = fields instanceof OwnFields;
    const parsed = isOwn || fields instanceof CheckedFields ? fields : parseFields(fields);
    const { id, role, parts, name, metadata = noMetadata, providerOptions } = parsed;
    this.id = isOwn ? id : cleanText(id);
    this.role = role;
    this.parts = isOwn ? parts : freezeParts(parts);
    this.metadata = metadata === noMetadata ? noMetadata : toFrozen(metadata);
    if (name !== undefined) this.name = cleanText(name);
    if (providerOptions !== undefined) this.providerOptions = toFrozen(providerOptions);
    Object.freeze(this);
  }

  /** True for what the constructor has made: a copy with other fields was checked by nobody. */
  static [Symbol.hasInstance](value: unknown): value is Message {
    return typeof value === 'object' && value !== null && #with in value && Object.prototype.isPrototypeOf.call(this.prototype, value);
  }

  /** A message of any role. */
  static of(role: MessageRole, content: MessageContent, options: MessageOptions = {}): Message {
    const { id, ids = systemIds, name, metadata, providerOptions } = options;
    return new Message({ id: id ?? ids(), role, parts: toParts(content), name, metadata, providerOptions });
  }

  static user(content: MessageContent, options?: MessageOptions): Message {
    return Message.of(MessageRole.User, content, options);
  }

  static assistant(content: MessageContent, options?: MessageOptions): Message {
    return Message.of(MessageRole.Assistant, content, options);
  }

  static system(content: MessageContent, options?: MessageOptions): Message {
    return Message.of(MessageRole.System, content, options);
  }

  static developer(content: MessageContent, options?: MessageOptions): Message {
    return Message.of(MessageRole.Developer, content, options);
  }

  /** The answers of tools; by convention one message per call. */
  static tool(results: ToolResult | readonly ToolResult[], options?: MessageOptions): Message {
    return Message.of(MessageRole.Tool, 'output' in results ? toolResultPart(results) : results.map(toolResultPart), options);
  }

  /** Reads a message; an unknown role or part is refused. */
  static fromJSON(value: unknown, path = 'message'): Message {
    const reader = readObject(value, path);
    if (reader.has('content') === reader.has('parts')) throw new DamagedDataError(path, 'expected either content or parts');
    return new Message(
      new CheckedFields({
        id: reader.string('id'),
        role: reader.oneOf('role', messageRoles),
        parts: reader.has('content') ? [textPart(reader.string('content'))] : reader.array('parts', readPart),
        name: reader.optionalString('name'),
        metadata: reader.optionalJsonObject('metadata') ?? reader.optionalJsonObject('_metadata'),
        providerOptions: reader.optionalJsonObject('providerOptions'),
      }),
    );
  }

  /** Text without the reasoning; '' if there is none. */
  get text(): string {
    return joinText(this.parts, 'text');
  }

  /** Reasoning text; '' if there is none. */
  get reasoning(): string {
    return joinText(this.parts, 'reasoning');
  }

  get toolCalls(): readonly ToolCall[] {
    return this.parts.filter((part) => part.type === 'tool-call').map(toToolCall);
  }

  get toolResults(): readonly ToolResult[] {
    return this.parts.filter((part) => part.type === 'tool-result').map(toToolResult);
  }

  /** True if the message has neither content nor metadata. */
  get isEmpty(): boolean {
    return this.parts.every(saysNothing) && Object.keys(this.metadata).length === 0;
  }

  isUser(): boolean {
    return this.role === MessageRole.User;
  }

  isAssistant(): boolean {
    return this.role === MessageRole.Assistant;
  }

  isTool(): boolean {
    return this.role === MessageRole.Tool;
  }

  /** True for system and for developer messages: both instruct the model. */
  isSystem(): boolean {
    return this.role === MessageRole.System || this.role === MessageRole.Developer;
  }

  isDeveloper(): boolean {
    return this.role === MessageRole.Developer;
  }

  /** True if the role is one of these. */
  hasRole(...roles: readonly MessageRole[]): boolean {
    return roles.includes(this.role);
  }

  withRole(role: MessageRole): Message {
    return this.#with({ role: parseRole(role) });
  }

  withParts(parts: readonly Part[]): Message {
    return this.#with({ parts: parseParts(parts) });
  }

  /** Replaces the first text; other parts stay. */
  withText(text: string): Message {
    const first = this.parts.findIndex((part) => part.type === 'text');
    const before = this.parts.slice(0, Math.max(0, first));
    const after = this.parts.slice(Math.max(0, first)).filter((part) => part.type !== 'text');
    return this.withParts([...before, textPart(text), ...after]);
  }

  withMetadata(key: string, value: Json): Message {
    return this.#with({ metadata: parseObject({ ...this.metadata, [key]: value }, 'metadata') });
  }

  withName(name: string): Message {
    return this.#with({ name: parseName(name) });
  }

  withProviderOptions(providerOptions: JsonObject): Message {
    return this.#with({ providerOptions: parseObject(providerOptions, 'providerOptions') });
  }

  /** A copy with fields that were checked. */
  #with(change: Partial<MessageFields>): Message {
    return new Message(new CheckedFields({ ...this, ...change }));
  }

  /** The stored form: a single plain text is `content`, anything else is `parts`. */
  toJSON(): JsonObject {
    const [first] = this.parts;
    const isPlain = this.parts.length === 1 && first?.type === 'text' && first.providerMetadata === undefined;
    const written: Record<string, Json> = { id: this.id, role: this.role };
    if (this.name !== undefined) written['name'] = this.name;
    if (isPlain) written['content'] = first.text;
    // Holds: parts are made of JSON values only.
    else written['parts'] = this.parts as unknown as Json;
    if (this.metadata !== noMetadata && Object.keys(this.metadata).length > 0) written['metadata'] = this.metadata;
    if (this.providerOptions !== undefined) written['providerOptions'] = this.providerOptions;
    return written;
  }
}
