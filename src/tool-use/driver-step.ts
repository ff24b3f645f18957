// The questions of one step to its model.
// Owns:     the way of a question: hooks, effect, events, usage, cost.
// Does not: read the answer: the driver does.
// Q1. A question never rejects, and an interrupted one keeps the text that had come.
// Q2. Time spent waiting for permission to ask counts as waiting.
// Q3. An answer that an earlier process got is read again, even if a hook or a function of the host fails or objects now: what its calls
//     have done is recorded, and the failure beside it.
import type { FailedModel } from './tool-use-step.ts';
import type { EffectOptions, EffectResult } from '../effects/index.ts';
import { createCancelledEffect, toFailure } from '../effects/index.ts';
import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { HookChain } from '../hooks/index.ts';
import { toCost, HookPoint } from '../hooks/index.ts';
import type {
  ModelDelta,
  ModelNotice,
  ModelOutcome,
  ModelRoute,
  ModelResponse,
  ModelSettings,
  OfferedTool,
  OpenRequest,
  PricedModel,
  RecordedOutcome,
  StoredRequest,
} from '../inference/index.ts';
import { askAbout, Conversation, leaveOutRefused, listCoolingDown, parseOutcome, sortByCoolDown, withSent } from '../inference/index.ts';
import { describeValue, InvalidArgumentError, omitUndefined } from '../lib/index.ts';
import type { Message } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import type { Cost, RunState, StepScope } from '../step-by-step/index.ts';
import { addCost } from '../step-by-step/index.ts';
import type { AnswerSchema } from '../tools/index.ts';
import { ToolSet } from '../tools/index.ts';
import type { ModelAnswer, AnswerFacts, Question, DriverContext } from './driver.ts';
import type { Instructions } from './options.ts';
import type { Setup } from './setup.ts';
import { InferenceStarted, ModelFallback, ModelSkipped, ReasoningDelta, TextDelta } from './tool-use-events.ts';
import type { ToolUseState } from './tool-use-state.ts';

const noTools: readonly OfferedTool[] = [];
const modelEffect: EffectOptions = Object.freeze({ effect: 'pure', failsAs: 'model', late: 'drop' });

type MutableFacts = { -readonly [Key in keyof AnswerFacts]: AnswerFacts[Key] };

/** An answer while it comes. */
interface IncomingAnswer {
  /** Usage of attempts that failed before another model was asked. */
  readonly attempts: { readonly who: PricedModel; readonly usage: Usage }[];
  text: string;
  hasStarted: boolean;
  leaveWait: (() => void) | undefined;
  /** The request, if it is recorded. */
  sent: StoredRequest | undefined;
}

/** `provider/model` as a price list knows it; a model's own name may hold a slash. */
function toPricedModel(name: string): PricedModel {
  const slash = name.indexOf('/');
  return { provider: name.slice(0, slash), modelId: name.slice(slash + 1) };
}

export class DriverStep implements DriverContext {
  readonly scope: StepScope;
  readonly orchestrator: string;
  readonly settings: ModelSettings;
  readonly output: AnswerSchema | undefined;
  /** Failures of hooks in a step that goes on all the same, because an earlier process had the answer. No further call starts. */
  readonly failures: Failure[] = [];
  /** The state before the step, with what hooks have changed since. */
  state: ToolUseState;
  readonly #setup: Setup;
  /** Instructions that were created for the last question. */
  #made: readonly string[] = [];
  /** Set if hooks left only some of the tools. */
  #narrowed: { readonly tools: ToolSet<unknown>; readonly offered: readonly OfferedTool[] } | undefined;

  constructor(setup: Setup, state: ToolUseState, scope: StepScope) {
    this.#setup = setup;
    this.scope = scope;
    this.state = state;
    this.orchestrator = setup.name;
    this.settings = setup.settings;
    this.output = setup.output;
  }

  get tools(): ToolSet<unknown> {
    return this.#narrowed?.tools ?? this.#setup.tools;
  }
  get offered(): readonly OfferedTool[] {
    return this.#narrowed?.offered ?? this.#setup.offered;
  }

  /** True if an earlier process had the answer to a question that is still to be asked here. */
  isAnswered(purpose?: string): boolean {
    const { effects, stepNumber } = this.scope;
    return effects.recall?.(purpose === undefined ? `model/${stepNumber}` : `model/${stepNumber}/${purpose}`) !== undefined;
  }

  conversation(more?: string): Conversation {
    const { messagesForInference: messages } = this.state;
    if (this.#setup.instructions.length === 0 && more === undefined) return new Conversation(messages);
    const own = this.#setup.instructions.map((each) => this.#readInstructions(each));
    if (this.scope.requests !== undefined) this.#made = own.filter((_, index) => typeof this.#setup.instructions[index] === 'function');
    const text = [...own, more].filter((each) => each !== undefined && each !== '').join('\n\n');
    return new Conversation(messages, text === '' ? [] : [this.#setup.systemMessage(text)]);
  }

  messages(more?: string): readonly Message[] {
    return this.conversation(more).toArray();
  }

  ask(question: Question): Promise<ModelAnswer> {
    const { hooks } = this.#setup;
    const isWatched = hooks?.has(HookPoint.BeforeInference) === true || hooks?.has(HookPoint.AfterInference) === true;
    return isWatched ? this.#askWithHooks(question, hooks) : this.#ask(question);
  }

  /** Shows the step to the hooks before it begins. Throws if one fails. */
  async applyBeforeStepHooks(hooks: HookChain): Promise<void> {
    try {
      const { state, tools } = await hooks.beforeStep({ state: this.state, scope: this.scope }, this.#setup.toolNames);
      this.keep(state);
      this.#narrow(tools);
    } catch (error) {
      if (!this.isAnswered()) throw error;
      this.failures.push(classifyError(error));
    }
  }

  /** Continues with a state that hooks have changed. */
  keep(state: RunState): void {
    // Calls run side by side: what each of their hooks left stands in the notes.
    const metadata = this.scope.notes.over(state.metadata);
    // Holds: hooks change the metadata and the conversation of a state, never its kind.
    this.state = (metadata === state.metadata ? state : state.evolve({ metadata })) as ToolUseState;
  }

  #narrow(names: readonly string[]): void {
    const { tools } = this;
    if (names.length === tools.names.length) return;
    const left = names.flatMap((name) => tools.get(name) ?? []);
    const offered = this.offered.filter(({ name }) => names.includes(name));
    this.#narrowed = { tools: ToolSet.from(left), offered };
  }

  #readInstructions(instructions: Instructions<unknown, ToolUseState>): string {
    if (typeof instructions !== 'function') return instructions;
    try {
      return this.#makeInstructions(instructions);
    } catch (error) {
      if (!this.isAnswered()) throw error;
      // Nobody reads them: the question was asked.
      this.failures.push(classifyError(error));
      return '';
    }
  }

  #makeInstructions(instructions: Extract<Instructions<unknown, ToolUseState>, CallableFunction>): string {
    const text: unknown = instructions({ context: this.scope.context, state: this.state });
    if (typeof text === 'string') return text;
    if (text === undefined) return '';
    throw new InvalidArgumentError(
      `instructions() returned ${describeValue(text)}. Return a string, not a promise: load what it needs before the run and pass it as context.`,
    );
  }

  async #ask(question: Question): Promise<ModelAnswer> {
    const incoming: IncomingAnswer = { attempts: [], text: '', hasStarted: false, leaveWait: undefined, sent: undefined };
    const answered = await this.#start(question, incoming);
    if (this.scope.requests !== undefined) this.#record(question, answered, incoming);
    if (answered.ok && answered.value.ok && !incoming.hasStarted) this.#emitReplayed(answered.value.response, question);
    return this.#read(answered, incoming);
  }

  async #askWithHooks(question: Question, hooks: HookChain): Promise<ModelAnswer> {
    const isAnswered = this.isAnswered(question.purpose);
    let asked: Question | undefined;
    try {
      asked = hooks.has(HookPoint.BeforeInference) ? await this.#applyBeforeHooks(question, hooks) : question;
    } catch (error) {
      const failure = classifyError(error, { readable: false });
      if (!isAnswered) return toUnasked(failure);
      this.failures.push(failure);
      asked = question;
    }
    const isEnding = asked === undefined || this.scope.control.forbidding !== undefined;
    // Interrupted, or ended by a vote: there is nothing to ask any more.
    if (isEnding && !isAnswered) return toUnasked(toFailure(createCancelledEffect()));
    const answered = await this.#ask(asked ?? question);
    if (!answered.ok || !hooks.has(HookPoint.AfterInference)) return answered;
    try {
      this.keep(await hooks.afterInference(this.#place(question), answered.response));
      return answered;
    } catch (error) {
      const failure = classifyError(error, { readable: false });
      if (!isAnswered) return { ok: false, failure, text: '', facts: answered.facts };
      this.failures.push(failure);
      return answered;
    }
  }

  /** Returns the question as hooks leave it; undefined if the run was interrupted meanwhile. */
  async #applyBeforeHooks(question: Question, hooks: HookChain): Promise<Question | undefined> {
    const { settings = this.settings, tools = noTools, purpose } = question;
    // Hooks change a request by what they return.
    const messages = Object.freeze(question.messages instanceof Conversation ? question.messages.toArray() : question.messages.slice());
    const changed = await hooks.beforeInference(this.#place(question), { messages, settings, tools: this.#listNames(tools), purpose });
    if (changed === undefined) return undefined;
    const { state, request } = changed;
    this.keep(state);
    const isSame = request.messages === messages;
    const asked = { ...question, messages: isSame ? question.messages : request.messages, settings: request.settings };
    if (request.tools.length === tools.length) return asked;
    this.#narrow(request.tools);
    return { ...asked, tools: tools.filter(({ name }) => request.tools.includes(name)) };
  }

  #listNames(tools: readonly OfferedTool[]): readonly string[] {
    return tools === this.#setup.offered ? this.#setup.toolNames : tools.map(({ name }) => name);
  }

  #place({ purpose }: Question): { readonly state: ToolUseState; readonly scope: StepScope; readonly detail: string | undefined } {
    return { state: this.state, scope: this.scope, detail: purpose };
  }

  #start(question: Question, incoming: IncomingAnswer): Promise<EffectResult<RecordedOutcome>> {
    const { scope } = this;
    const { name, model, row, isStreaming } = this.#setup;
    const { messages, tools = noTools, purpose } = question;
    const coolingDown = this.#coolingDown;
    const [first] = coolingDown === undefined ? row : sortByCoolDown(row, coolingDown);
    const facts = { model: first?.name ?? '', messageCount: messages.length, tools: this.#listNames(tools) };
    scope.events.emit((header) => new InferenceStarted(header, name, facts));
    const key = purpose === undefined ? `model/${scope.stepNumber}` : `model/${scope.stepNumber}/${purpose}`;
    const work = async (signal: AbortSignal): Promise<RecordedOutcome> => {
      incoming.hasStarted = true;
      const request = this.#toRequest(question, signal, incoming);
      const onDelta = isStreaming ? (delta: ModelDelta): void => this.#onDelta(delta, incoming, question) : undefined;
      if (scope.requests !== undefined) incoming.sent = this.#describe(question);
      const outcome = parseOutcome(await askAbout(model, request, onDelta), model);
      return incoming.sent === undefined ? outcome : withSent(outcome, incoming.sent);
    };
    return scope.effects.run(key, work, modelEffect);
  }

  #read(answered: EffectResult<ModelOutcome>, incoming: IncomingAnswer): ModelAnswer {
    incoming.leaveWait?.();
    const { text } = incoming;
    if (!answered.ok) return { ok: false, failure: toFailure(answered), text, facts: this.#toUnknownFacts(incoming) };
    const outcome = answered.value;
    // Read from the answer, which is stored, so that a replay keeps the same.
    if (outcome.ok && outcome.response.route !== undefined) this.scope.models.record(outcome.response.route);
    if (outcome.ok) return { ok: true, response: outcome.response, facts: this.#toFacts(outcome.response, incoming) };
    const { failure, partial } = outcome;
    if (failure.refusedParts !== undefined) this.scope.models.recordRefused(failure);
    // A call that was refused for its rate, before anything came, has used nothing.
    const wasRefused = failure.type === 'rate_limit' && partial.parts.length === 0;
    const { unknownCalls: _, ...reported } = partial.usage;
    return { ok: false, failure, text, facts: this.#toFacts(wasRefused ? { ...partial, usage: reported } : partial, incoming) };
  }

  /** Describes a request for an engine that stores it; undefined if nobody does. */
  #describe({ messages, tools, output, settings = this.settings, purpose }: Question): StoredRequest | undefined {
    const { requests, models } = this.scope;
    if (requests === undefined) return undefined;
    const request: OpenRequest = { messages: leaveOutRefused(messages, models.refusedParts), settings };
    if (tools !== undefined) request.tools = tools;
    if (output !== undefined) request.output = output;
    return requests.describe({ request, definition: this.#setup.define(), made: this.#made, purpose });
  }

  /** Records the request, whichever process sent it. */
  #record(question: Question, answered: EffectResult<RecordedOutcome>, { sent }: IncomingAnswer): void {
    const journaled = answered.ok ? answered.value.sent : undefined;
    const described = sent ?? (journaled && this.#describe(question));
    if (described !== undefined) this.scope.requests?.add(described, journaled);
  }

  #toRequest({ messages, tools, output, settings }: Question, signal: AbortSignal, incoming: IncomingAnswer): OpenRequest {
    const onNotice = (notice: ModelNotice): void => this.#onNotice(notice, incoming);
    // Field by field, in the same order each time: this runs for every step.
    const { refusedParts, sharedBy } = this.scope.models;
    const asked = leaveOutRefused(messages, refusedParts);
    const request: OpenRequest = { messages: asked, signal, settings: settings ?? this.settings, onNotice };
    const coolingDown = this.#coolingDown;
    if (coolingDown !== undefined) request.coolingDown = coolingDown;
    if (sharedBy !== undefined) request.sharedBy = sharedBy;
    if (tools !== undefined && tools.length > 0) request.tools = tools;
    if (output !== undefined) request.output = output;
    return request;
  }

  /** Names of the models that are cooling down; undefined if none has failed lately. */
  get #coolingDown(): readonly string[] | undefined {
    const { models, time } = this.scope;
    return models.coolDowns === undefined ? undefined : listCoolingDown(models.coolDowns, time.clock.now());
  }

  #onDelta(delta: ModelDelta, incoming: IncomingAnswer, { isForReaders = true }: Question): void {
    const { scope } = this;
    const { name } = this.#setup;
    if (delta.type === 'restart') incoming.text = '';
    if (!isForReaders) return;
    if (delta.type === 'text') {
      incoming.text += delta.text;
      scope.events.emitPiece((header) => new TextDelta(header, name, delta.text));
    }
    if (delta.type === 'reasoning') scope.events.emitPiece((header) => new ReasoningDelta(header, name, delta.text));
  }

  /** Emits the text of an answer that came in an earlier process: readers of the open step have lost it with that process. */
  #emitReplayed({ parts }: ModelResponse, { isForReaders = true }: Question): void {
    const { name, isStreaming } = this.#setup;
    if (!isForReaders || !isStreaming) return;
    for (const part of parts) {
      if (part.type === 'reasoning') this.scope.events.emitPiece((header) => new ReasoningDelta(header, name, part.text));
      if (part.type === 'text') this.scope.events.emitPiece((header) => new TextDelta(header, name, part.text));
    }
  }

  #onNotice(notice: ModelNotice, incoming: IncomingAnswer): void {
    if (notice.type === 'fallback') {
      incoming.attempts.push({ who: toPricedModel(notice.from), usage: notice.usage });
      this.scope.events.emit((header) => new ModelFallback(header, this.#setup.name, notice));
    }
    if (notice.type === 'skipped') {
      const { model } = notice;
      const { failures, until } = this.scope.models.coolDowns?.[model] ?? { failures: 0, until: 0 };
      this.scope.events.emit((header) => new ModelSkipped(header, this.#setup.name, { model, failures, until }));
    }
    if (notice.type === 'waiting') incoming.leaveWait ??= this.scope.time.beginWaiting();
    if (notice.type === 'waited') {
      incoming.leaveWait?.();
      incoming.leaveWait = undefined;
    }
  }

  #toFacts({ usage, modelId, provider, finishReason, route }: ModelResponse, { attempts }: IncomingAnswer): AnswerFacts {
    const { model, names } = this.#setup;
    const who = { provider: provider ?? model.provider, modelId: modelId ?? model.modelId };
    // Field by field, in the same order each time: this runs for every step.
    const facts: MutableFacts = { usage, model: names.join(who) };
    const cost = this.#watchesCost ? this.#toCost([{ who, usage: toOwnUsage(usage, attempts) }, ...attempts]) : undefined;
    if (cost !== undefined) facts.cost = cost;
    if (finishReason !== undefined) facts.finishReason = finishReason;
    const fallbacks = toFallbacks(route);
    if (fallbacks !== undefined) facts.fallbacks = fallbacks;
    return facts;
  }

  // The cost of an interrupted call is not known, unless it never started.
  #toUnknownFacts({ hasStarted, attempts }: IncomingAnswer): AnswerFacts {
    if (!hasStarted) return { usage: Usage.none() };
    const { provider, modelId } = this.#setup.model;
    const all = [{ who: { provider, modelId }, usage: Usage.unknown() }, ...attempts];
    const sum = all.reduce((total, { usage }) => Usage.add(total, usage), Usage.none());
    return omitUndefined({ usage: sum, cost: this.#toCost(all) });
  }

  get #watchesCost(): boolean {
    return this.#setup.watchesCost || this.scope.budget.watchesCost;
  }

  // Each attempt is paid for at its own model's price.
  #toCost(attempts: IncomingAnswer['attempts']): Cost | undefined {
    const { price = this.scope.budget.price } = this.#setup;
    const watchesCost = this.#watchesCost;
    if (!watchesCost) return undefined;
    const at = this.scope.time.clock.now();
    return attempts.map(({ who, usage }) => toCost(usage, { ...who, at }, { price, watchesCost })).reduce(addCost, undefined);
  }
}

/** Usage of the attempt that answered. */
const toOwnUsage = (usage: Usage, attempts: IncomingAnswer['attempts']): Usage =>
  attempts.reduce((left, { usage: spent }) => Usage.minus(left, spent), usage);

/** Lists the models that failed before one answered; undefined if the first one did. */
function toFallbacks(route: ModelRoute | undefined): readonly FailedModel[] | undefined {
  if (route === undefined || route.failed.length === 0) return undefined;
  return route.failed.map((model, index) => ({ model, problem: route.problems?.[index] ?? '' }));
}

// A question that was not asked has cost nothing.
const toUnasked = (failure: Failure): ModelAnswer => ({ ok: false, failure, text: '', facts: { usage: Usage.none() } });
