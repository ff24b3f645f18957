// The response builder
// Owns:     putting one answer together from what a provider sends, in one piece or in many, and its outcome.
// Does not: know a provider, wait, or throw.
// A1. Parts stand in the order in which they began; pieces of one id are one part.
// A2. What onDelta gets, joined, is the text and the reasoning of the answer; arguments are never part of either.
// A3. Every call is kept, under an id of its own; arguments that are not JSON are kept as text.
// A4. Whatever is kept is canonical JSON.
// A5. No arguments at all mean {} only if the answer is complete; if it was cut short they are text that is not JSON.
import type { Failure } from '../errors/index.ts';
import type { IdSource, JsonObject } from '../lib/index.ts';
import { cleanText, copyFrozen, isRecord, systemIds, toCanonical } from '../lib/index.ts';
import type { Part, ReportedUsage, ToolCallPart, ToolResult, ToolResultPart } from '../messages/index.ts';
import { findUnreadable, toolResultPart, toUsage, withoutUnreadable } from '../messages/index.ts';
import type { ToolInput } from './answer-calls.ts';
import { AnswerCalls } from './answer-calls.ts';
import type { Draft } from './answer-text.ts';
import { AnswerText, toFinishedPart } from './answer-text.ts';
import { markBuiltOutcome } from './built-outcome.ts';
import { emitActivity, emitDelta, emitNotice } from './emit-notice.ts';
import { FinishReason, toFinishReason } from './finish-reason.ts';
import type { ModelDelta, ModelOutcome, ModelRequest, ModelResponse } from './model.ts';
import { limits, measureJsonText, parseArguments } from './parse-arguments.ts';
import { settleAnswer } from './settle-answer.ts';

/** Facts about the call that an answer belongs to. */
export interface ResponseBuilderOptions {
  /** For calls that come without an id of their own. @default systemIds */
  readonly ids?: IdSource;
  /** The model's name in warnings. @default 'model' */
  readonly model?: string;
  /** If it offers tools and asks for no output format, text beside calls that only repeats them is dropped: JSON and the markup of calls. */
  readonly request?: Pick<ModelRequest, 'tools' | 'output' | 'onNotice' | 'onActivity'>;
  /** Called with each piece; left out if the answer comes as a whole. */
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
}

/** A tool call as a provider sends it. */
export interface BuiltToolCall {
  readonly id?: string | undefined;
  readonly name: string;
  /** JSON text, or a value. If left out or empty, the pieces that came under this id. */
  readonly input?: unknown;
  readonly providerExecuted?: boolean | undefined;
  readonly providerMetadata?: JsonObject | undefined;
}

/** A provider's facts about the answer as a whole. */
export interface ResponseFacts {
  readonly id?: string | undefined;
  readonly modelId?: string | undefined;
  readonly providerMetadata?: JsonObject | undefined;
}

/** An object while its fields are written one by one: a spread for each that may be absent would cost every answer. */
type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** Most bytes that a UTF-16 code unit of a JSON text takes. */
const bytesPerUnit = 3;

type Facts = Mutable<Pick<ModelResponse, 'id' | 'modelId' | 'providerMetadata' | 'finishReason' | 'rawFinishReason'>>;

/** Puts an answer together. Its methods may be called in any order; none of them throws. */
export class ResponseBuilder {
  readonly #options: ResponseBuilderOptions;
  readonly #drafts: Draft[] = [];
  #madeText: AnswerText | undefined;
  #madeCalls: AnswerCalls | undefined;
  /** Index of the part that holds a call's result. */
  #results: Map<string, number> | undefined;
  /** Calls that came without arguments. */
  #bareCalls: Set<Draft> | undefined;
  readonly #facts: Facts = {};
  #usage: ReportedUsage = {};
  #error: Failure | undefined;
  #finished = false;
  /** Most bytes that arguments and metadata take; infinite if the answer holds an object of the provider's. */
  #givenBytes = 0;
  #outcome: ModelOutcome | undefined;

  constructor(options: ResponseBuilderOptions) {
    this.#options = options;
  }

  text(piece: string, id?: string, providerMetadata?: JsonObject): void {
    this.alive();
    this.#text.addText(piece, id, this.#toMetadata(providerMetadata));
  }

  /** Ends a part; later text with this id starts a new one. */
  textEnd(id: string, providerMetadata?: JsonObject): void {
    this.alive();
    this.#text.endText(id, this.#toMetadata(providerMetadata));
  }

  reasoning(piece: string, id?: string, providerMetadata?: JsonObject): void {
    this.alive();
    this.#text.addReasoning(piece, id, this.#toMetadata(providerMetadata));
  }

  reasoningEnd(id: string, providerMetadata?: JsonObject): void {
    this.alive();
    this.#text.endReasoning(id, this.#toMetadata(providerMetadata));
  }

  /** Starts the arguments of a call. If the provider runs the tool, they become a call only when that comes. */
  toolInputStart(id: string, name: string, { providerExecuted = false }: Pick<BuiltToolCall, 'providerExecuted'> = {}): void {
    if (providerExecuted) this.alive();
    else this.#startPart();
    this.#emitInput(this.#calls.startInput(id, cleanText(name), providerExecuted), '');
  }

  /** Takes a piece of a call's arguments; one that comes after the call itself is dropped. */
  toolInputDelta(id: string, piece: string): void {
    this.alive();
    if (this.#calls.isCalled(id)) return;
    const input = this.#calls.findInput(id) ?? this.#calls.startInput(id, '');
    input.text += piece;
    if (piece !== '') this.#emitInput(input, piece);
  }

  toolInputEnd(id: string): void {
    this.alive();
    const input = this.#calls.findInput(id);
    if (input !== undefined) input.ended = true;
  }

  toolCall({ id = '', name, input, providerExecuted = false, providerMetadata }: BuiltToolCall): void {
    this.#startPart();
    const begun = this.#calls.takeInput(id);
    const isProviders = providerExecuted || begun?.isProviders === true;
    const given = input === undefined || input === '' ? begun?.text : input;
    const toolCallId = begun === undefined || begun.isProviders ? this.#calls.assignId(id) : begun.id;
    const { args, rawArgs } = parseArguments(given);
    const call: Mutable<ToolCallPart> = { type: 'tool-call', toolCallId, toolName: cleanText(name), args };
    const metadata = this.#toMetadata(providerMetadata);
    if (rawArgs !== undefined) call.rawArgs = rawArgs;
    if (isProviders) call.providerExecuted = true;
    if (metadata !== undefined) call.providerMetadata = metadata;
    // Frozen here, the part need not be copied into its message.
    this.#addCall(Object.freeze(call), given);
  }

  /** Takes the result of a tool that the provider ran. A later result of the same call takes the place of an earlier one. */
  toolResult(result: ToolResult): void {
    this.#startPart();
    const toolCallId = this.#calls.takeId(result.toolCallId);
    const output = withoutUnreadable(result.output, (problem) => this.#warnUnreadable(`the result of "${result.toolName}": ${problem}`));
    const part = this.#toStored<ToolResultPart>(toolResultPart({ ...result, toolCallId, output }));
    if (part === undefined) return;
    this.#results ??= new Map<string, number>();
    const index = this.#results.get(part.toolCallId) ?? this.#drafts.length;
    this.#results.set(part.toolCallId, index);
    this.#drafts[index] = part;
  }

  part(part: Extract<Part, { readonly type: 'source' | 'file' | 'image' | 'provider' }>): void {
    this.#startPart();
    const problem = findUnreadable([part]);
    if (problem !== undefined) {
      this.#warnUnreadable(problem);
      return;
    }
    const stored = this.#toStored(part);
    if (stored !== undefined) this.#drafts.push(stored);
  }

  /** Takes facts about the answer as a whole; later ones win. */
  facts({ id, modelId, providerMetadata }: ResponseFacts): void {
    this.alive();
    const metadata = this.#toMetadata(providerMetadata);
    if (id !== undefined) this.#facts.id = cleanText(id);
    if (modelId !== undefined) this.#facts.modelId = cleanText(modelId);
    if (metadata !== undefined) this.#facts.providerMetadata = metadata;
  }

  /** Takes token counts; later ones win, field by field. */
  usage({ input, output, cacheRead, cacheWrite, reasoning }: ReportedUsage): void {
    const before = this.#usage;
    this.#usage = {
      input: input ?? before.input,
      output: output ?? before.output,
      cacheRead: cacheRead ?? before.cacheRead,
      cacheWrite: cacheWrite ?? before.cacheWrite,
      reasoning: reasoning ?? before.reasoning,
    };
  }

  /** Ends the answer, with the provider's word for the reason. An answer without an end, or with the word `interrupted`, broke off. */
  finish(word?: string | null, rawWord?: string): void {
    this.alive();
    this.#finished = word !== 'interrupted';
    const reason = toFinishReason(word);
    const raw = rawWord ?? word ?? '';
    if (reason !== undefined && this.#finished) this.#facts.finishReason = reason;
    if (raw !== '') this.#facts.rawFinishReason = cleanText(raw);
  }

  /** Notes that something failed; the first failure counts. */
  error(failure: Failure): void {
    this.#error ??= failure;
  }

  /** Notes that something came that belongs to no part, such as a ping. */
  alive(): void {
    const { request } = this.#options;
    if (request?.onActivity !== undefined) emitActivity(request);
  }

  /** Emits a warning: something was odd, and nothing was harmed. */
  warn(message: string): void {
    emitNotice(this.#options.request ?? {}, { type: 'warning', model: this.#options.model ?? 'model', message });
  }

  /** Returns the outcome of the answer. Call it once, when everything has come. */
  outcome({ aborted = false }: { readonly aborted?: boolean } = {}): ModelOutcome {
    this.#outcome ??= this.#settle(aborted);
    return this.#outcome;
  }

  get #text(): AnswerText {
    const { request } = this.#options;
    this.#madeText ??= new AnswerText({
      drafts: this.#drafts,
      holdsCalls: (request?.tools?.length ?? 0) > 0 && request?.output === undefined,
      emit: (delta) => this.#emit(delta),
    });
    return this.#madeText;
  }

  get #calls(): AnswerCalls {
    this.#madeCalls ??= new AnswerCalls(this.#options.ids ?? systemIds, this);
    return this.#madeCalls;
  }

  #startPart(): void {
    this.alive();
    this.#madeText?.settle();
  }

  #toResponse(): ModelResponse {
    const text = this.#madeText;
    text?.settle();
    if (this.#madeCalls?.hasInputs === true) for (const input of this.#madeCalls.takeInputs()) this.#addUnfinishedCall(input);
    if (!this.#finished || this.#facts.finishReason === FinishReason.Length) this.#markBareCalls();
    // Beside a call of ours, JSON and markup repeat the call; beside the provider's own calls they may be the answer.
    text?.end({ hasCall: this.#drafts.some((draft) => draft.type === 'tool-call' && this.#isOurs(draft)) });
    const parts: Part[] = [];
    for (const draft of this.#drafts) {
      const part = toFinishedPart(draft);
      if (part !== undefined) parts.push(part);
    }
    // A copy, because a list that grew reserves room for more items, and this one is stored.
    return this.#withFacts({ parts: parts.slice(), usage: toUsage(this.#usage) });
  }

  #settle(aborted: boolean): ModelOutcome {
    const settled = settleAnswer(this.#toResponse(), { aborted, error: this.#error, finished: this.#finished });
    return markBuiltOutcome(settled, this.#givenBytes);
  }

  #withFacts(response: Mutable<ModelResponse>): ModelResponse {
    const { id, modelId, providerMetadata, finishReason, rawFinishReason } = this.#facts;
    if (finishReason !== undefined) response.finishReason = finishReason;
    if (rawFinishReason !== undefined) response.rawFinishReason = rawFinishReason;
    if (id !== undefined) response.id = id;
    if (modelId !== undefined) response.modelId = modelId;
    if (providerMetadata !== undefined) response.providerMetadata = providerMetadata;
    return response;
  }

  #isOurs({ toolCallId, providerExecuted }: ToolCallPart): boolean {
    return providerExecuted !== true && this.#results?.has(toolCallId) !== true;
  }

  #addCall(call: ToolCallPart, given: unknown): void {
    this.#drafts.push(call);
    if (given !== undefined) this.#givenBytes += typeof given === 'string' ? measureJsonText(given) : Infinity;
    const isBare = given === undefined || (typeof given === 'string' && given.trim() === '');
    if (isBare && call.providerExecuted !== true) (this.#bareCalls ??= new Set()).add(call);
  }

  // Its arguments came, but the call itself never did. If the answer broke off they may be half of what was meant.
  #addUnfinishedCall({ id, name, text, ended }: ToolInput): void {
    const args = ended || this.#finished ? parseArguments(text) : { args: null, rawArgs: cleanText(text) };
    this.#addCall({ type: 'tool-call', toolCallId: id, toolName: name, ...args }, text);
  }

  // The answer was cut short (A5): that no arguments came does not mean that none were meant.
  #markBareCalls(): void {
    for (const [index, draft] of this.#drafts.entries()) {
      if (draft.type !== 'tool-call' || this.#bareCalls?.has(draft) !== true) continue;
      this.#drafts[index] = { ...draft, args: null, rawArgs: '' };
      this.warn(`The answer was cut short before any arguments of "${draft.toolName}" came; the call cannot be read.`);
    }
  }

  #emit(delta: ModelDelta): void {
    const { onDelta } = this.#options;
    if (onDelta !== undefined) emitDelta(onDelta, delta);
  }

  #emitInput({ id, name }: ToolInput, text: string): void {
    if (id !== '') this.#emit({ type: 'tool-input', toolCallId: id, toolName: name, text });
  }

  /** Copies metadata: the provider's object stays its own, and the answer can be frozen. */
  #toMetadata(value: JsonObject | undefined): JsonObject | undefined {
    const metadata = value === undefined ? undefined : copyFrozen(this.#toCanonical(value));
    if (metadata !== undefined) this.#givenBytes += isRecord(metadata) ? bytesPerUnit * JSON.stringify(metadata).length : Infinity;
    return metadata;
  }

  #toStored<Value extends Part>(value: Value): Value | undefined {
    this.#givenBytes = Infinity;
    return this.#toCanonical(value);
  }

  #warnUnreadable(problem: string): void {
    this.warn(`An attachment that came with the answer could not be kept, because no model could read it again: ${problem}.`);
  }

  #toCanonical<Value extends JsonObject | Part>(value: Value): Value | undefined {
    const canonical = toCanonical(value, limits);
    // Holds: the canonical form of a value has the same fields.
    if (canonical.ok) return canonical.value as Value;
    this.warn(`Something that came with the answer could not be kept: ${canonical.path} ${canonical.problem}.`);
    return undefined;
  }
}

/** Creates the builder of an answer, for whole answers and for streams. */
export function createResponseBuilder(options: ResponseBuilderOptions = {}): ResponseBuilder {
  return new ResponseBuilder(options);
}
