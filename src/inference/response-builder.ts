// The response builder
// Owns:     putting one answer together from what a provider sends, in one piece or in many, and saying what became of it.
// Does not: know a provider, wait, or throw.
// A1. Parts stand in the order in which they began; pieces of one id are one part.
// A2. What is told by onDelta, joined, is the text and the reasoning of the answer; arguments are never part of either.
// A3. Every call is kept, under an id of its own; arguments that are no JSON are kept as text.
// A4. Whatever is kept is canonical JSON.
// A5. No arguments at all mean {} only where the answer came to its end; where it was cut short they are text that is no JSON.
import type { Failure } from '../errors/index.ts';
import type { IdSource, JsonObject } from '../lib/index.ts';
import { systemIds, toCanonical } from '../lib/index.ts';
import type { FilePart, ImagePart, Part, ProviderPart, SourcePart, ToolCallPart, ToolResult, ToolResultPart } from '../messages/index.ts';
import { toolResultPart } from '../messages/index.ts';
import type { CallIds } from './call-ids.ts';
import { createCallIds } from './call-ids.ts';
import { cleanText } from './clean-text.ts';
import { FinishReason, toFinishReason } from './finish-reason.ts';
import { isLeakedArguments } from './leak-guard.ts';
import type { ModelDelta, ModelOutcome, ModelRequest, ModelResponse } from './model.ts';
import type { ParsedArguments } from './parse-arguments.ts';
import { parseArguments } from './parse-arguments.ts';
import type { ReportedUsage } from './reported-usage.ts';
import { toUsage } from './reported-usage.ts';
import { settleAnswer } from './settle-answer.ts';
import type { Speech } from './speech.ts';
import { createSpeech } from './speech.ts';
import type { Draft } from './spoken-parts.ts';
import { toFinishedPart } from './spoken-parts.ts';
import { emitActivity, emitDelta, emitNotice } from './emit-notice.ts';
import type { ToolInput, ToolInputs } from './tool-inputs.ts';
import { createToolInputs } from './tool-inputs.ts';

/** What a builder needs to know of the call. */
export interface ResponseBuilderOptions {
  /** For calls that come without an id of their own. @default systemIds */
  readonly ids?: IdSource;
  /** The model's name in warnings. @default 'model' */
  readonly model?: string;
  /** Where it offers tools and asks for no output format, text that only repeats a call's arguments is dropped. */
  readonly request?: Pick<ModelRequest, 'tools' | 'output' | 'onNotice' | 'onActivity'>;
  /** Hears each piece; left out where the answer comes as a whole. */
  readonly onDelta?: (delta: ModelDelta) => void;
}

/** A tool call as a provider sends it. */
export interface BuiltToolCall {
  readonly id?: string | undefined;
  readonly name: string;
  /** JSON text, or a value. Left out or empty: what came as pieces under this id. */
  readonly input?: unknown;
  readonly providerExecuted?: boolean | undefined;
  readonly providerMetadata?: JsonObject | undefined;
}

/** What a provider says about the answer as a whole. */
export interface AnswerFacts {
  readonly id?: string | undefined;
  readonly modelId?: string | undefined;
  readonly providerMetadata?: JsonObject | undefined;
}

/** Puts an answer together. Its methods may be called in any order; none of them throws. */
export interface ResponseBuilder {
  text(piece: string, id?: string, providerMetadata?: JsonObject): void;
  /** What comes under this id from now on is another part. */
  textEnd(id: string, providerMetadata?: JsonObject): void;
  reasoning(piece: string, id?: string, providerMetadata?: JsonObject): void;
  reasoningEnd(id: string, providerMetadata?: JsonObject): void;
  toolInputStart(id: string, name: string): void;
  toolInputDelta(id: string, piece: string): void;
  toolInputEnd(id: string): void;
  toolCall(call: BuiltToolCall): void;
  /** What came of a tool that the provider ran. A later result of the same call takes the place of an earlier one. */
  toolResult(result: ToolResult): void;
  part(part: SourcePart | FilePart | ImagePart | ProviderPart): void;
  /** Something about the answer as a whole; what is said later wins. */
  facts(facts: AnswerFacts): void;
  /** Token counts; what is said later wins, field by field. */
  usage(reported: ReportedUsage): void;
  /** The end, with the provider's word for its reason. An answer without an end, or with the word `interrupted`, broke off. */
  finish(word?: string | null, rawWord?: string): void;
  /** Something failed; the first failure counts. */
  error(failure: Failure): void;
  /** Something came that belongs to no part, such as a ping. */
  alive(): void;
  /** Something was odd, and nothing was harmed. */
  warn(message: string): void;
  /** Says what became of the answer. Call it once, when all has come. */
  outcome(options?: { readonly aborted?: boolean }): ModelOutcome;
}

// As in parse-arguments.ts: room for what stands around the value.
const limits = { maxDepth: 48, maxBytes: Number.POSITIVE_INFINITY };

type Facts = { -readonly [Key in 'id' | 'modelId' | 'providerMetadata' | 'finishReason' | 'rawFinishReason']?: ModelResponse[Key] };

const isWordless = (input: unknown): boolean => input === undefined || (typeof input === 'string' && input.trim() === '');

class AnswerBuilder implements ResponseBuilder {
  readonly #options: ResponseBuilderOptions;
  readonly #guardsLeaks: boolean;
  readonly #drafts: Draft[] = [];
  readonly #speech: Speech;
  readonly #callIds: CallIds;
  readonly #inputs: ToolInputs;
  readonly #results = new Map<string, number>();
  readonly #wordless = new Set<Draft>();
  readonly #facts: Facts = {};
  #usage: ReportedUsage = {};
  #error: Failure | undefined;
  #finished = false;
  #outcome: ModelOutcome | undefined;

  constructor(options: ResponseBuilderOptions) {
    const { ids = systemIds, request, onDelta } = options;
    this.#options = options;
    this.#guardsLeaks = (request?.tools?.length ?? 0) > 0 && request?.output === undefined;
    this.#speech = createSpeech({
      drafts: this.#drafts,
      holdsJson: this.#guardsLeaks,
      onDelta: (delta) => {
        emitDelta(onDelta, delta);
      },
    });
    this.#callIds = createCallIds({
      ids,
      warn: (message) => {
        this.warn(message);
      },
    });
    this.#inputs = createToolInputs(this.#callIds);
  }

  text(piece: string, id?: string, providerMetadata?: JsonObject): void {
    this.alive();
    this.#speech.text(piece, id, this.#metadata(providerMetadata));
  }

  textEnd(id: string, providerMetadata?: JsonObject): void {
    this.alive();
    this.#speech.textEnd(id, this.#metadata(providerMetadata));
  }

  reasoning(piece: string, id?: string, providerMetadata?: JsonObject): void {
    this.alive();
    this.#speech.reasoning(piece, id, this.#metadata(providerMetadata));
  }

  reasoningEnd(id: string, providerMetadata?: JsonObject): void {
    this.alive();
    this.#speech.reasoningEnd(id, this.#metadata(providerMetadata));
  }

  toolInputStart(id: string, name: string): void {
    this.alive();
    this.#speech.settle();
    this.#tellInput(this.#inputs.start(id, cleanText(name)), '');
  }

  toolInputDelta(id: string, piece: string): void {
    this.alive();
    const input = this.#inputs.newest(id) ?? this.#inputs.start(id, '');
    input.text += piece;
    if (piece !== '') this.#tellInput(input, piece);
  }

  toolInputEnd(id: string): void {
    this.alive();
    const input = this.#inputs.newest(id);
    if (input !== undefined) input.ended = true;
  }

  toolCall({ id = '', name, input, providerExecuted, providerMetadata }: BuiltToolCall): void {
    this.alive();
    this.#speech.settle();
    const begun = this.#inputs.take(id);
    const metadata = this.#metadata(providerMetadata);
    const given = input === undefined || input === '' ? begun?.text : input;
    const draft: ToolCallPart = {
      type: 'tool-call',
      toolCallId: begun?.id ?? this.#callIds.assign(id),
      toolName: cleanText(name),
      ...parseArguments(given),
      ...(providerExecuted === true && { providerExecuted }),
      ...(metadata !== undefined && { providerMetadata: metadata }),
    };
    this.#drafts.push(draft);
    if (providerExecuted !== true && isWordless(given)) this.#wordless.add(draft);
  }

  toolResult(result: ToolResult): void {
    this.alive();
    this.#speech.settle();
    const kept = this.#kept<ToolResultPart>(toolResultPart({ ...result, toolCallId: this.#callIds.resultFor(result.toolCallId) }));
    if (kept === undefined) return;
    const earlier = this.#results.get(kept.toolCallId);
    this.#results.set(kept.toolCallId, earlier ?? this.#drafts.length);
    this.#drafts[earlier ?? this.#drafts.length] = kept;
  }

  part(part: SourcePart | FilePart | ImagePart | ProviderPart): void {
    this.alive();
    this.#speech.settle();
    const kept = this.#kept(part);
    if (kept !== undefined) this.#drafts.push(kept);
  }

  facts({ id, modelId, providerMetadata }: AnswerFacts): void {
    this.alive();
    const metadata = this.#metadata(providerMetadata);
    if (id !== undefined) this.#facts.id = cleanText(id);
    if (modelId !== undefined) this.#facts.modelId = cleanText(modelId);
    if (metadata !== undefined) this.#facts.providerMetadata = metadata;
  }

  usage(reported: ReportedUsage): void {
    const known = Object.entries(reported).filter(([, value]) => value !== undefined && value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  finish(word?: string | null, rawWord?: string): void {
    this.alive();
    this.#finished = word !== 'interrupted';
    const [reason, raw] = [toFinishReason(word), rawWord ?? word ?? ''];
    if (reason !== undefined && this.#finished) this.#facts.finishReason = reason;
    if (raw !== '') this.#facts.rawFinishReason = cleanText(raw);
  }

  error(failure: Failure): void {
    this.#error ??= failure;
  }

  alive(): void {
    emitActivity(this.#options.request ?? {});
  }

  warn(message: string): void {
    emitNotice(this.#options.request ?? {}, { type: 'warning', model: this.#options.model ?? 'model', message });
  }

  outcome({ aborted = false }: { readonly aborted?: boolean } = {}): ModelOutcome {
    this.#outcome ??= settleAnswer(this.#response(), { aborted, error: this.#error, finished: this.#finished });
    return this.#outcome;
  }

  #response(): ModelResponse {
    this.#speech.settle();
    for (const input of this.#inputs.takeAll()) this.#leftCall(input);
    if (!this.#finished || this.#facts.finishReason === FinishReason.Length) this.#doubtWordless();
    const isLeak = this.#speech.isHolding() && this.#isLeak();
    if (!isLeak) this.#speech.release();
    const parts = this.#drafts.filter(({ type }) => !isLeak || type !== 'text').flatMap((draft) => toFinishedPart(draft) ?? []);
    return { parts, usage: toUsage(this.#usage), ...this.#facts };
  }

  #isLeak(): boolean {
    const text = this.#drafts.map((draft) => (draft.type === 'text' ? draft.text : '')).join('');
    return isLeakedArguments(
      text,
      this.#drafts.filter((draft): draft is ToolCallPart => draft.type === 'tool-call'),
    );
  }

  // Its arguments came, but the call itself never did. Where the answer broke off they may be half of what was meant.
  #leftCall({ id, name, text, ended }: ToolInput): void {
    const isWhole = ended || this.#finished;
    const parsed: ParsedArguments = isWhole ? parseArguments(text) : { args: null, rawArgs: cleanText(text) };
    const draft: ToolCallPart = { type: 'tool-call', toolCallId: id, toolName: name, ...parsed };
    this.#drafts.push(draft);
    if (isWordless(text)) this.#wordless.add(draft);
  }

  // The answer was cut short (A5): that no arguments came does not mean that none were meant.
  #doubtWordless(): void {
    for (const [index, draft] of this.#drafts.entries()) {
      if (draft.type !== 'tool-call' || !this.#wordless.has(draft)) continue;
      this.#drafts[index] = { ...draft, args: null, rawArgs: '' };
      this.warn(`The answer was cut short before any arguments of "${draft.toolName}" came; the call cannot be read.`);
    }
  }

  #tellInput({ id, name }: ToolInput, text: string): void {
    emitDelta(this.#options.onDelta, { type: 'tool-input', toolCallId: id, toolName: name, text });
  }

  #metadata(value: JsonObject | undefined): JsonObject | undefined {
    return value === undefined ? undefined : this.#kept(value);
  }

  #kept<Value extends JsonObject | Part>(value: Value): Value | undefined {
    const canonical = toCanonical(value, limits);
    // Holds: the canonical form of a value has the same fields.
    if (canonical.ok) return canonical.value as Value;
    this.warn(`Something that came with the answer could not be kept: ${canonical.path} ${canonical.problem}.`);
    return undefined;
  }
}

/** Starts to put an answer together; the one road for whole answers and for streams. */
export function createResponseBuilder(options: ResponseBuilderOptions = {}): ResponseBuilder {
  return new AnswerBuilder(options);
}
