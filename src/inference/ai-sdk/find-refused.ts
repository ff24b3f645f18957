// Which attachment a provider package refuses
// Owns:     finding it, without sending anything.
// Does not: know the provider's own rules: it asks the package about one attachment at a time.
// F1. Nothing is sent: the prompt of each trial ends with a text that throws when it is read, and a package reads all text before it sends.
import type { Failure } from '../../errors/index.ts';
import { listSome } from '../../lib/index.ts';
import { describeAttachment } from '../../messages/index.ts';
import type { ConversationRequest, FoundAttachment } from '../index.ts';
import { Conversation, findAttachments, keepOnly } from '../index.ts';
import type { CallableModel } from './language-model-like.ts';
import type { PromptMessage } from './prompt.ts';
import { PromptWriter } from './prompt-writer.ts';
import { readProviderError } from './provider-error-facts.ts';
import { toCallOptions, ToolCache } from './to-call-options.ts';

/** Thrown by the end of a trial's prompt: everything before it was accepted. */
class EndOfPrompt extends Error {
  override readonly name = 'EndOfPrompt';
}

// Its type can be read: some packages look at all types before they convert anything.
const end: PromptMessage = {
  role: 'user',
  content: [
    {
      type: 'text',
      get text(): never {
        throw new EndOfPrompt();
      },
    },
  ],
};

// Some packages wrap what is thrown while they read.
const isEnd = (error: unknown): boolean =>
  error instanceof Error && (error instanceof EndOfPrompt || error.cause instanceof EndOfPrompt || error.name === 'AbortError');

/** Returns the error of a package that refuses these messages; undefined if it accepts them. */
async function tryPrompt(model: CallableModel, request: ConversationRequest, messages: Conversation): Promise<unknown> {
  const { provider, specificationVersion: version } = model;
  const prompt = new PromptWriter({ version, provider }).write(messages, { warn: () => undefined });
  try {
    await model.doGenerate(toCallOptions({ ...request, signal: AbortSignal.abort() }, [...prompt, end], new ToolCache()));
    return undefined;
  } catch (error) {
    return isEnd(error) ? undefined : error;
  }
}

/** Number of attachments that are tried, the newest first: each trial converts the conversation once more. */
const mostTrials = 100;

/** Lists the attachments that a package refuses, each with its error; none if something else is refused. */
async function listRefused(
  model: CallableModel,
  request: ConversationRequest,
): Promise<readonly (FoundAttachment & { readonly error: unknown })[]> {
  const { messages, instructions } = request.messages;
  const found = findAttachments(messages);
  if (found.length === 0) return [];
  const attempt = (kept?: FoundAttachment): Promise<unknown> =>
    tryPrompt(model, request, new Conversation(keepOnly(messages, kept), instructions));
  if ((await attempt()) !== undefined) return [];
  const refused: (FoundAttachment & { readonly error: unknown })[] = [];
  for (const attachment of found.slice(-mostTrials)) {
    const error = await attempt(attachment);
    if (error !== undefined) refused.push({ ...attachment, error });
  }
  return refused;
}

/** Number of attachments that a failure's text names. */
const mostNames = 3;

/** Names the attachments that are the reason for a refusal, so that the next request can leave them out. */
export async function nameRefused(failure: Failure, model: CallableModel, request: ConversationRequest): Promise<Failure> {
  const refused = await listRefused(model, request);
  if (refused.length === 0) return failure;
  const parts = refused.map(({ message, path, error }) => ({ messageId: message.id, path, reason: readProviderError(error).message }));
  const names = refused.map(({ part }, index) => {
    const { messageId = '', path = '', reason = '' } = parts[index] ?? {};
    return `${describeAttachment(part)} at ${path} of message ${JSON.stringify(messageId)} (${reason})`;
  });
  return {
    ...failure,
    code: 'attachment-refused',
    // Another request leaves them out.
    retryable: true,
    message: `${model.provider} does not accept ${listSome(names, mostNames)}. The next request leaves this out and tells the model so.`,
    refusedParts: parts,
  };
}
