// What a page asks for: its newest message, or its answers to what is waited for. Its history does not count.
import type { Json } from '../../../lib/index.ts';
import { describeValue, InvalidArgumentError, isRecord } from '../../../lib/index.ts';
import type { ContentPart } from '../../../messages/index.ts';
import type { EventFields } from '../event-fields.ts';
import { getName } from '../event-fields.ts';
import { toContentParts } from '../convert/content-parts.ts';

/** A decision about a call. */
export interface ApprovalAnswer {
  /** Id of the approval: the digest of what was shown. */
  readonly id: string;
  readonly isApproved: boolean;
  readonly reason?: string;
}

/** The output of a call that ran in the page. */
export interface OutputAnswer {
  readonly toolCallId: string;
  readonly output?: Json;
  /** Present if it failed. */
  readonly errorText?: string;
}

export type ChatPost =
  | { readonly type: 'message'; readonly chatId: string; readonly messageId: string; readonly content: readonly ContentPart[] }
  | { readonly type: 'regenerate'; readonly chatId: string; readonly messageId: string }
  | {
      readonly type: 'answers';
      readonly chatId: string;
      /** Id of the message that the page continues. */
      readonly messageId: string;
      /** Number of its steps that the page has. */
      readonly steps: number;
      readonly approvals: readonly ApprovalAnswer[];
      readonly outputs: readonly OutputAnswer[];
      /** Arguments by the id of the approval, if a person changed them. */
      readonly edits: ReadonlyMap<string, Json>;
    };

const longestId = 200;

/** Checks an id that a page has chosen. */
export function parseId(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= longestId) return value;
  throw new InvalidArgumentError(`${name} must be a text of 1 to ${longestId} characters, not ${describeValue(value)}.`);
}

function readApproval(part: EventFields): readonly ApprovalAnswer[] {
  const { state, approval } = part;
  if (state !== 'approval-responded' || !isRecord(approval)) return [];
  const { id, approved, scope } = approval;
  if (typeof id !== 'string' || typeof approved !== 'boolean')
    throw new InvalidArgumentError('An answered approval needs its id, and approved: true or false.');
  if (scope !== undefined)
    throw new InvalidArgumentError(
      `An approval of a chat has no scope, but ${describeValue(scope)} was given: it is for one call. Leave it out, or approve over HTTP with scope "session".`,
    );
  const reason = getName(approval, 'reason');
  return [{ id, isApproved: approved, ...(reason !== '' && { reason }) }];
}

function readOutput(part: EventFields): readonly OutputAnswer[] {
  const { state, toolCallId, output, errorText } = part;
  if (typeof toolCallId !== 'string') return [];
  // Holds: the body was read from JSON.
  if (state === 'output-available') return [{ toolCallId, output: (output ?? null) as Json }];
  return state === 'output-error' ? [{ toolCallId, errorText: typeof errorText === 'string' ? errorText : '' }] : [];
}

/** Reads decisions, each once. Throws if two contradict each other. */
function readApprovals(parts: readonly EventFields[]): readonly ApprovalAnswer[] {
  const byId = new Map<string, ApprovalAnswer>();
  for (const answer of parts.flatMap(readApproval)) {
    if (byId.get(answer.id)?.isApproved === !answer.isApproved)
      throw new InvalidArgumentError(`The approval ${describeValue(answer.id)} is both given and denied in one message. Send one answer.`);
    byId.set(answer.id, answer);
  }
  return [...byId.values()];
}

/** Reads outputs. Of several of one call the last counts. */
const readOutputs = (parts: readonly EventFields[]): readonly OutputAnswer[] => [
  ...new Map(parts.flatMap(readOutput).map((answer) => [answer.toolCallId, answer] as const)).values(),
];

/** Reads arguments that a person changed. */
function readEdits(edits: unknown): ReadonlyMap<string, Json> {
  if (edits === undefined) return new Map();
  // Holds: the body was read from JSON.
  if (isRecord(edits)) return new Map(Object.entries(edits) as [string, Json][]);
  throw new InvalidArgumentError(`edits must be an object with the arguments by the id of their approval, not ${describeValue(edits)}.`);
}

/** Reads the body that the transport of the AI SDK sends. */
export function readPost(body: EventFields): ChatPost {
  const chatId = parseId('id', body['id']);
  const { messages, trigger, edits } = body;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : body['message'];
  if (!isRecord(last)) throw new InvalidArgumentError('The body needs messages: a list of UI messages, of which the last one counts.');
  const messageId = parseId('The id of the last message', last['id']);
  const parts: readonly unknown[] = Array.isArray(last['parts']) ? last['parts'] : [];
  if (last['role'] === 'user')
    return trigger === 'regenerate-message'
      ? { type: 'regenerate', chatId, messageId }
      : { type: 'message', chatId, messageId, content: toContentParts(parts) };
  if (last['role'] !== 'assistant')
    throw new InvalidArgumentError(`The last message must be of the user or the assistant, not ${describeValue(last['role'])}.`);
  const known = parts.filter(isRecord);
  return {
    type: 'answers',
    chatId,
    messageId,
    steps: known.filter(({ type }) => type === 'step-start').length,
    approvals: readApprovals(known),
    outputs: readOutputs(known),
    edits: readEdits(edits),
  };
}
