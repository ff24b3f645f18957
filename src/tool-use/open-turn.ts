// The questions of one step to its model.
// Owns:     the way of a question: hooks, effect, events, usage, cost.
// Does not: read the answer: the driver does.
// Q1. A question never rejects, and an interrupted one keeps the text that had come.
// Q2. Time spent waiting for permission to ask counts as waiting.
import type { EffectResult } from '../effects/index.ts';
import { cancelledEffect, toFailure } from '../effects/index.ts';
import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { HookChain, InferenceRequestFacts } from '../hooks/index.ts';
import { toCost, HookPoint } from '../hooks/index.ts';
import type {
  ModelDelta,
  ModelNotice,
  ModelOutcome,
  ModelRequest,
  ModelResponse,
  ModelSettings,
  OfferedTool,
  PricedModel,
} from '../inference/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import { Message, Usage } from '../messages/index.ts';
import type { Cost, RunState, StepScope } from '../step-by-step/index.ts';
import { addCost } from '../step-by-step/index.ts';
import type { AnswerSchema } from '../tools/index.ts';
import { ToolSet } from '../tools/index.ts';
import type { Answered, AnswerFacts, Question, Turn } from './driver.ts';
import type { Instructions } from './options.ts';
import type { Setup } from './setup.ts';
import { InferenceStarted, ModelFallback, ReasoningDelta, TextDelta } from './tool-use-events.ts';
import type { ToolUseState } from './tool-use-state.ts';

const noTools: readonly OfferedTool[] = [];

/** An answer while it comes. */
interface IncomingAnswer {
  /** Usage of attempts that failed before another model was asked. */
  readonly attempts: { readonly who: PricedModel; readonly usage: Usage }[];
  text: string;
  hasStarted: boolean;
  leaveWait: (() => void) | undefined;
}

/** `provider/model` as a price list knows it; a model's own name may hold a slash. */
function toPricedModel(name: string): PricedModel {
  const slash = name.indexOf('/');
  return { provider: name.slice(0, slash), modelId: name.slice(slash + 1) };
}

export class OpenTurn<Context> implements Turn {
  readonly scope: StepScope<Context>;
  readonly #setup: Setup<Context>;
  #state: ToolUseState;
  /** Set if hooks left only some of the tools. */
  #narrowed: { readonly tools: ToolSet<Context>; readonly offered: readonly OfferedTool[] } | undefined;

  constructor(setup: Setup<Context>, state: ToolUseState, scope: StepScope<Context>) {
    this.#setup = setup;
    this.#state = state;
    this.scope = scope;
  }

  /** The state before the step, with what hooks have changed since. */
  get state(): ToolUseState {
    return this.#state;
  }

  get orchestrator(): string {
    return this.#setup.name;
  }
  get tools(): ToolSet<Context> {
    return this.#narrowed?.tools ?? this.#setup.tools;
  }
  get offered(): readonly OfferedTool[] {
    return this.#narrowed?.offered ?? this.#setup.offered;
  }
  get settings(): ModelSettings {
    return this.#setup.settings;
  }
  get output(): AnswerSchema | undefined {
    return this.#setup.output;
  }

  messages(more?: string): readonly Message[] {
    const { state } = this;
    const own = this.#setup.instructions.map((each) => this.#readInstructions(each));
    const text = [...own, more].filter((each) => each !== undefined && each !== '').join('\n\n');
    const conversation = state.messagesForInference.toArray();
    return text === '' ? conversation : [Message.system(text, { id: 'instructions' }), ...conversation];
  }

  ask(question: Question): Promise<Answered> {
    const { hooks } = this.#setup;
    const isWatched = hooks?.has(HookPoint.BeforeInference) === true || hooks?.has(HookPoint.AfterInference) === true;
    return isWatched ? this.#askWithHooks(question, hooks) : this.#ask(question);
  }

  /** Shows the step to the hooks before it begins. Throws if one fails. */
  applyBeforeStepHooks(hooks: HookChain): Promise<void> | undefined {
    const apply = ({ state, tools }: { readonly state: RunState; readonly tools: readonly string[] }): void => {
      this.keep(state);
      this.#narrow(tools);
    };
    const shown = hooks.beforeStep({ state: this.state, scope: this.scope }, this.#setup.toolNames);
    if (shown instanceof Promise) return shown.then(apply);
    apply(shown);
    return undefined;
  }

  /** Continues with a state that hooks have changed. */
  keep(state: RunState): void {
    // Calls run side by side: what each of their hooks left stands in the notes.
    const metadata = this.scope.notes.over(state.metadata);
    // Holds: hooks change the metadata and the conversation of a state, never its kind.
    this.#state = (metadata === state.metadata ? state : state.evolve({ metadata })) as ToolUseState;
  }

  #narrow(names: readonly string[]): void {
    const { tools } = this;
    if (names.length === tools.names.length) return;
    const left = names.flatMap((name) => tools.get(name) ?? []);
    const offered = this.offered.filter(({ name }) => names.includes(name));
    this.#narrowed = { tools: ToolSet.from(left), offered };
  }

  #readInstructions(instructions: Instructions<Context, ToolUseState>): string {
    const text: unknown =
      typeof instructions === 'function' ? instructions({ context: this.scope.context, state: this.state }) : instructions;
    if (typeof text === 'string') return text;
    if (text === undefined) return '';
    throw new InvalidArgumentError('instructions() must return text at once; load what it needs before the run, into its context.');
  }

  async #ask(question: Question): Promise<Answered> {
    const incoming: IncomingAnswer = { attempts: [], text: '', hasStarted: false, leaveWait: undefined };
    return this.#read(await this.#start(question, incoming), incoming);
  }

  async #askWithHooks(question: Question, hooks: HookChain): Promise<Answered> {
    let asked: Question | undefined;
    try {
      const changed = hooks.has(HookPoint.BeforeInference) ? this.#applyBeforeHooks(question, hooks) : question;
      asked = changed instanceof Promise ? await changed : changed;
    } catch (error) {
      return toUnasked(classifyError(error, { readable: false }));
    }
    // Interrupted, or ended by a vote: there is nothing to ask any more.
    if (asked === undefined || this.scope.control.forbidding !== undefined) return toUnasked(toFailure(cancelledEffect()));
    const answered = await this.#ask(asked);
    if (!answered.ok || !hooks.has(HookPoint.AfterInference)) return answered;
    try {
      const state = hooks.afterInference(this.#place(question), answered.response);
      this.keep(state instanceof Promise ? await state : state);
      return answered;
    } catch (error) {
      return { ok: false, failure: classifyError(error, { readable: false }), text: '', facts: answered.facts };
    }
  }

  /** The question as hooks leave it; undefined if the run was interrupted meanwhile. */
  #applyBeforeHooks(question: Question, hooks: HookChain): Question | undefined | Promise<Question | undefined> {
    const { messages, settings = this.settings, tools = noTools, purpose } = question;
    const names = tools === this.#setup.offered ? this.#setup.toolNames : tools.map(({ name }) => name);
    const settle = (changed: { readonly state: RunState; readonly request: InferenceRequestFacts } | undefined): Question | undefined => {
      if (changed === undefined) return undefined;
      const { request } = changed;
      this.keep(changed.state);
      if (request.tools.length === names.length) return { ...question, messages: request.messages, settings: request.settings };
      this.#narrow(request.tools);
      const left = tools.filter(({ name }) => request.tools.includes(name));
      return { ...question, messages: request.messages, settings: request.settings, tools: left };
    };
    const changed = hooks.beforeInference(this.#place(question), { messages, settings, tools: names, purpose });
    return changed instanceof Promise ? changed.then(settle) : settle(changed);
  }

  #place({ purpose }: Question): { readonly state: ToolUseState; readonly scope: StepScope<Context>; readonly detail: string | undefined } {
    return { state: this.state, scope: this.scope, detail: purpose };
  }

  #start(question: Question, incoming: IncomingAnswer): Promise<EffectResult<ModelOutcome>> {
    const { scope } = this;
    const { name, model, isStreaming, toolNames } = this.#setup;
    const { messages, tools = noTools, purpose } = question;
    scope.events.emit(
      (header) =>
        new InferenceStarted(header, name, {
          model: `${model.provider}/${model.modelId}`,
          messageCount: messages.length,
          tools: tools === this.#setup.offered ? toolNames : tools.map((tool) => tool.name),
        }),
    );
    const key = purpose === undefined ? `model/${scope.stepNumber}` : `model/${scope.stepNumber}/${purpose}`;
    const work = (signal: AbortSignal): Promise<ModelOutcome> => {
      incoming.hasStarted = true;
      const request = this.#toRequest(question, signal, incoming);
      return isStreaming ? model.stream(request, (delta) => this.#onDelta(delta, incoming, question)) : model.generate(request);
    };
    return scope.effects.run(key, work, { effect: 'pure', failsAs: 'model', late: 'drop' });
  }

  #read(answered: EffectResult<ModelOutcome>, incoming: IncomingAnswer): Answered {
    incoming.leaveWait?.();
    const { text } = incoming;
    if (!answered.ok) return { ok: false, failure: toFailure(answered), text, facts: this.#toUnknownFacts(incoming) };
    const outcome = answered.value;
    if (outcome.ok) return { ok: true, response: outcome.response, facts: this.#toFacts(outcome.response, incoming) };
    const { failure, partial } = outcome;
    // A call that was refused for its rate, before anything came, has used nothing.
    const wasRefused = failure.type === 'rate_limit' && partial.parts.length === 0;
    const { unknownCalls: _, ...reported } = partial.usage;
    return { ok: false, failure, text, facts: this.#toFacts(wasRefused ? { ...partial, usage: reported } : partial, incoming) };
  }

  #toRequest({ messages, tools, output, settings }: Question, signal: AbortSignal, incoming: IncomingAnswer): ModelRequest {
    return {
      messages,
      signal,
      settings: settings ?? this.settings,
      onNotice: (notice) => this.#onNotice(notice, incoming),
      ...(tools !== undefined && tools.length > 0 && { tools }),
      ...(output !== undefined && { output }),
    };
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

  #onNotice(notice: ModelNotice, incoming: IncomingAnswer): void {
    if (notice.type === 'fallback') {
      incoming.attempts.push({ who: toPricedModel(notice.from), usage: notice.usage });
      this.scope.events.emit((header) => new ModelFallback(header, this.#setup.name, notice));
    }
    if (notice.type === 'waiting') incoming.leaveWait ??= this.scope.time.beginWaiting();
    if (notice.type === 'waited') {
      incoming.leaveWait?.();
      incoming.leaveWait = undefined;
    }
  }

  #toFacts({ usage, modelId, provider, finishReason }: ModelResponse, { attempts }: IncomingAnswer): AnswerFacts {
    const { model } = this.#setup;
    const who = { provider: provider ?? model.provider, modelId: modelId ?? model.modelId };
    const own = attempts.reduce((left, { usage: spent }) => Usage.minus(left, spent), usage);
    return {
      usage,
      model: `${who.provider}/${who.modelId}`,
      ...this.#toCost([{ who, usage: own }, ...attempts]),
      ...(finishReason !== undefined && { finishReason }),
    };
  }

  // The cost of an interrupted call is not known, unless it never started.
  #toUnknownFacts({ hasStarted, attempts }: IncomingAnswer): AnswerFacts {
    if (!hasStarted) return { usage: Usage.none() };
    const { provider, modelId } = this.#setup.model;
    const all = [{ who: { provider, modelId }, usage: Usage.unknown() }, ...attempts];
    return { usage: all.reduce((sum, { usage }) => Usage.add(sum, usage), Usage.none()), ...this.#toCost(all) };
  }

  // Each attempt is paid for at its own model's price.
  #toCost(attempts: IncomingAnswer['attempts']): { readonly cost?: Cost } {
    const { price = this.scope.budget.price } = this.#setup;
    const watchesCost = this.#setup.watchesCost || this.scope.budget.watchesCost;
    if (!watchesCost) return {};
    const at = this.scope.time.clock.now();
    const costs = attempts.map(({ who, usage }) => toCost(usage, { ...who, at }, { price, watchesCost }));
    const cost = costs.reduce(addCost, undefined);
    return cost === undefined ? {} : { cost };
  }
}

// A question that was not asked has cost nothing.
const toUnasked = (failure: Failure): Answered => ({ ok: false, failure, text: '', facts: { usage: Usage.none() } });
