// The AI SDK adapter
// Owns:     one question to an AI SDK model, in our words on the way in and on the way out.
// Does not: retry, wait on a clock of its own, run tools, or decide anything.
// It keeps the promises of the Model port (M1–M10); the recordings and the fault server test them.
import type { Clock, IdSource } from '../../lib/index.ts';
import { aborted, checkKeys, isRecord, omitUndefined, systemClock, systemIds, untilAborted } from '../../lib/index.ts';
import type { Part } from '../../messages/index.ts';
import { Message, Messages, Usage } from '../../messages/index.ts';
import type { ConversationRequest, Model, ModelDelta, ModelOutcome, ModelRequest, ModelResponse, ResponseBuilder } from '../index.ts';
import { Conversation, createResponseBuilder, readConversations, withTimeouts } from '../index.ts';
import type { Failure } from '../../errors/index.ts';
import { classifyProviderError } from './classify-provider-error.ts';
import { toFields, toList } from './fields.ts';
import type { CallableModel, CallOptions, LanguageModelLike } from './language-model-like.ts';
import { toCallableModel } from './language-model-like.ts';
import { nameRefused } from './find-refused.ts';
import { readProviderError } from './provider-error-facts.ts';
import { dropStream, readStream } from './read-stream.ts';
import { PromptCache } from './prompt-cache.ts';
import { takeEnding, takeMetadata, takeWarnings } from './take-ending.ts';
import type { RawPart } from './take-part.ts';
import { isRawPart, takePart } from './take-part.ts';
import { takeStreamPart } from './take-stream-part.ts';
import { toCallOptions, ToolCache } from './to-call-options.ts';

/** Services of an adapted model. */
export interface AiSdkOptions {
  /** Clock for dates in `retry-after`. @default systemClock */
  readonly clock?: Clock;
  /** For tool calls that come without an id. @default systemIds */
  readonly ids?: IdSource;
  /** Tokens that a request and its answer may have together; AI SDK models do not say. @default unknown */
  readonly contextWindow?: number;
}

/** A model, with what was converted for it before. */
interface Adapted {
  readonly model: CallableModel;
  readonly clock: Clock;
  readonly prompts: PromptCache;
  readonly tools: ToolCache;
}

interface Call {
  readonly adapted: Adapted;
  readonly request: ConversationRequest;
  readonly builder: ResponseBuilder;
  /** True once something has come: what is malformed from then on is the answer. */
  isAnswering: boolean;
}

/** A way of asking: in one piece, or as a stream. */
interface Ask {
  readonly start: (call: Call, options: CallOptions) => Promise<unknown>;
  /** Takes what has come once it is there. */
  readonly take: (call: Call, result: unknown) => void;
}

function toFailure({ adapted, isAnswering }: Call, error: unknown): Failure {
  return classifyProviderError(error, { now: adapted.clock.now(), isAnswering });
}

function fail(call: Call, error: unknown): void {
  call.builder.error(toFailure(call, error));
}

/** True if the provider package may have thrown before it sent anything. */
function mayBeUnsent({ isAnswering, request }: Call, { code }: Failure, error: unknown): boolean {
  if (isAnswering || request.signal?.aborted === true || readProviderError(error).status !== undefined) return false;
  return code === 'request-refused' || code === 'model-failed';
}

function takeAnswer(call: Call, result: unknown): void {
  const { builder, adapted } = call;
  const answer = toFields(result);
  const content = toList(answer['content']);
  const response = toFields(answer['response']);
  takeWarnings(answer['warnings'], builder);
  takeMetadata(response, builder);
  const sink = { builder, provider: adapted.model.provider };
  for (const part of content) if (isRawPart(part)) takePart(part, sink);
  takeEnding(answer, builder);
  // An error in place of an answer, which the provider package took for an empty one.
  const { body } = response;
  if (content.length === 0 && isRecord(body) && isRecord(body['error'])) fail(call, body);
}

const generateAnswer: Ask = {
  start: ({ adapted, request }, options) => untilAborted(adapted.model.doGenerate(options), request.signal),
  take: (call, result) => {
    if (result === aborted) return;
    call.isAnswering = true;
    takeAnswer(call, result);
  },
};

const streamAnswer: Ask = {
  start: async (call, options) => readAnswer(call, Promise.resolve(call.adapted.model.doStream(options))),
  take: () => undefined,
};

async function readAnswer(call: Call, work: Promise<unknown>): Promise<void> {
  const { builder, request } = call;
  const { model } = call.adapted;
  const result = await untilAborted(work, request.signal);
  if (result === aborted) {
    work.then(dropStream, () => undefined);
    return;
  }
  call.isAnswering = true;
  const sink = { builder, provider: model.provider, fail: (error: unknown) => fail(call, error), summaries: new Map<string, RawPart>() };
  await readStream(result, (value) => isRawPart(value) && takeStreamPart(value, sink), request.signal);
}

/** A request, and the way in which it is asked. */
interface Question {
  readonly request: ConversationRequest;
  readonly open: (request: ConversationRequest) => Call;
  readonly ask: Ask;
}

/** Asks, and once more if the provider paused. */
async function settle(question: Question, isResumed = false): Promise<ModelOutcome> {
  const { request, open, ask } = question;
  const call = open(request);
  const { builder } = call;
  const { prompts, tools } = call.adapted;
  try {
    const prompt = prompts.write(request.messages, builder);
    if (request.signal?.aborted !== true) ask.take(call, await ask.start(call, toCallOptions(request, prompt, tools)));
  } catch (error) {
    const failure = toFailure(call, error);
    builder.error(mayBeUnsent(call, failure, error) ? await nameRefused(failure, call.adapted.model, request) : failure);
  }
  const outcome = builder.outcome({ aborted: request.signal?.aborted === true });
  // After a call the conversation continues; after anything else, who knows.
  if (!outcome.ok || !outcome.response.parts.some(isCall)) prompts.release(request.messages);
  return isPaused(outcome) && !isResumed ? resume(question, outcome) : outcome;
}

const isCall = ({ type }: Part): boolean => type === 'tool-call';

/** True if the provider paused after it summed up the conversation (Anthropic's `pauseAfterCompaction`): the answer itself is still to come. */
const isPaused = (outcome: ModelOutcome): outcome is Unanswered =>
  !outcome.ok && outcome.failure.code === 'empty-response' && outcome.partial.rawFinishReason === 'compaction';

type Unanswered = Extract<ModelOutcome, { readonly ok: false }>;

/** Asks once more: the summary goes back with the second request and stands before its answer. */
async function resume(question: Question, { partial }: Unanswered): Promise<ModelOutcome> {
  const { request } = question;
  const { parts, usage } = partial;
  const { instructions, messages: before } = request.messages;
  const messages = new Conversation(before.append(Message.assistant(parts, { id: 'summary' })), instructions);
  const second = await settle({ ...question, request: { ...request, messages } }, true);
  const join = (response: ModelResponse): ModelResponse => ({
    ...response,
    parts: [...parts, ...response.parts],
    usage: Usage.add(usage, response.usage),
  });
  return second.ok ? { ...second, response: join(second.response) } : { ...second, partial: join(second.partial) };
}

const toConversation = (request: ModelRequest): ConversationRequest => ({
  ...request,
  messages: new Conversation(Messages.from(request.messages)),
});

const toSettings = 'Use settings in createAgent(), or withModelSettings(model, settings).';
const hints = { temperature: toSettings, maxOutputTokens: toSettings, maxTokens: toSettings, topP: toSettings };

/** Adapts a model of the AI SDK (`openai('gpt-5')`, `anthropic('claude-…')`, …). */
export function aiSdk(model: LanguageModelLike, options: AiSdkOptions = {}): Model {
  const { clock = systemClock, ids = systemIds, contextWindow } = options;
  checkKeys('aiSdk()', options, { known: ['clock', 'ids', 'contextWindow'], hints });
  const callable = toCallableModel(model);
  const { provider, modelId, specificationVersion: version } = callable;
  const adapted: Adapted = { model: callable, clock, prompts: new PromptCache({ version, provider }), tools: new ToolCache() };
  const name = `${provider}/${modelId}`;
  const open = (request: ConversationRequest, onDelta?: (delta: ModelDelta) => void): Call => ({
    adapted,
    request,
    builder: createResponseBuilder({ ids, model: name, request, onDelta }),
    isAnswering: false,
  });
  const generate = (request: ConversationRequest): Promise<ModelOutcome> => settle({ request, open, ask: generateAnswer });
  const stream = (request: ConversationRequest, onDelta?: (delta: ModelDelta) => void): Promise<ModelOutcome> =>
    settle({ request, open: (each) => open(each, onDelta), ask: streamAnswer });
  const untimed: Model = {
    provider,
    modelId,
    ...omitUndefined({ contextWindow }),
    generate: (request) => generate(toConversation(request)),
    stream: (request, onDelta) => stream(toConversation(request), onDelta),
  };
  const timed = withTimeouts(untimed, {}, clock);
  const choose = ({ timeouts }: ModelRequest): Model => (timeouts === undefined ? untimed : timed);
  const generateTimed: Model['generate'] = (request) => choose(request).generate(request);
  const streamTimed: Model['stream'] = (request, onDelta) => choose(request).stream(request, onDelta);
  readConversations(generateTimed, generate);
  readConversations(streamTimed, stream);
  return { ...untimed, generate: generateTimed, stream: streamTimed };
}
