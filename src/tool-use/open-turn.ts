// One step's dealings with its model.
// Owns:     the road of a question: hooks, effect, events, usage, cost.
// Does not: read the answer: the driver does.
// Q1. A question never rejects, and a cut-off one keeps the words that had come.
// Q2. Time spent waiting for permission to ask counts as waiting.
import type { EffectResult } from '../effects/index.ts';
import { cancelledEffect, toFailure } from '../effects/index.ts';
import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { HookChain, InferenceRequestFacts } from '../hooks/index.ts';
import { costOf, HookPoint } from '../hooks/index.ts';
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

/** What was heard of an answer while it came. */
interface Heard {
  /** What attempts cost that failed before another model was asked. */
  readonly attempts: { readonly who: PricedModel; readonly usage: Usage }[];
  text: string;
  begun: boolean;
  leaveWait: (() => void) | undefined;
}

/** `provider/model` as a price list knows it; a model's own name may hold a slash. */
function toPricedModel(name: string): PricedModel {
  const slash = name.indexOf('/');
  return { provider: name.slice(0, slash), modelId: name.slice(slash + 1) };
}

const reported = ({ unknownCalls: _, ...known }: Usage): Usage => known;

export class OpenTurn<Context> implements Turn {
  readonly scope: StepScope<Context>;
  readonly #setup: Setup<Context>;
  #state: ToolUseState;
  /** Set where hooks left only some of the tools. */
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
    const own = this.#setup.instructions.map((each) => this.#words(each));
    const words = [...own, more].filter((text) => text !== undefined && text !== '').join('\n\n');
    const conversation = state.messagesForInference.toArray();
    return words === '' ? conversation : [Message.system(words, { id: 'instructions' }), ...conversation];
  }

  ask(question: Question): Promise<Answered> {
    const { hooks } = this.#setup;
    const isWatched = hooks?.has(HookPoint.BeforeInference) === true || hooks?.has(HookPoint.AfterInference) === true;
    return isWatched ? this.#askWithHooks(question, hooks) : this.#ask(question);
  }

  /** Lets hooks look at a step before it begins. Throws where one fails. */
  beginWithHooks(hooks: HookChain): Promise<void> | undefined {
    const settle = ({ state, tools }: { readonly state: RunState; readonly tools: readonly string[] }): void => {
      this.keep(state);
      this.#narrow(tools);
    };
    const begun = hooks.beforeStep({ state: this.state, scope: this.scope }, this.#setup.toolNames);
    if (begun instanceof Promise) return begun.then(settle);
    settle(begun);
    return undefined;
  }

  /** Goes on with a state that hooks have changed. */
  keep(state: RunState): void {
    // Calls run side by side: what each of their hooks left stands in the notes.
    const metadata = this.scope.noted(state.metadata);
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

  #words(instructions: Instructions<Context, ToolUseState>): string {
    const words: unknown =
      typeof instructions === 'function' ? instructions({ context: this.scope.context, state: this.state }) : instructions;
    if (typeof words === 'string') return words;
    if (words === undefined) return '';
    throw new InvalidArgumentError('instructions() must return text at once; load what it needs before the run, into its context.');
  }

  async #ask(question: Question): Promise<Answered> {
    const heard: Heard = { attempts: [], text: '', begun: false, leaveWait: undefined };
    return this.#read(await this.#begin(question, heard), heard);
  }

  async #askWithHooks(question: Question, hooks: HookChain): Promise<Answered> {
    let asked: Question | undefined;
    try {
      const changed = hooks.has(HookPoint.BeforeInference) ? this.#changed(question, hooks) : question;
      asked = changed instanceof Promise ? await changed : changed;
    } catch (error) {
      return unasked(classifyError(error, { readable: false }));
    }
    // Cut off, or ended by a vote: there is nothing to ask any more.
    if (asked === undefined || this.scope.forbidding !== undefined) return unasked(toFailure(cancelledEffect()));
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

  /** The question as hooks leave it; undefined where the run was cut off meanwhile. */
  #changed(question: Question, hooks: HookChain): Question | undefined | Promise<Question | undefined> {
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

  #begin(question: Question, heard: Heard): Promise<EffectResult<ModelOutcome>> {
    const { scope } = this;
    const { name, model, isStreaming, toolNames } = this.#setup;
    const { messages, tools = noTools, purpose } = question;
    scope.emit(
      (header) =>
        new InferenceStarted(header, name, {
          model: `${model.provider}/${model.modelId}`,
          messageCount: messages.length,
          tools: tools === this.#setup.offered ? toolNames : tools.map((tool) => tool.name),
        }),
    );
    const key = purpose === undefined ? `model/${scope.stepNumber}` : `model/${scope.stepNumber}/${purpose}`;
    const work = (signal: AbortSignal): Promise<ModelOutcome> => {
      heard.begun = true;
      const request = this.#request(question, signal, heard);
      return isStreaming ? model.stream(request, (delta) => this.#hear(delta, heard, question)) : model.generate(request);
    };
    return scope.effects.run(key, work, { effect: 'pure', failsAs: 'model', late: 'drop' });
  }

  #read(answered: EffectResult<ModelOutcome>, heard: Heard): Answered {
    heard.leaveWait?.();
    if (!answered.ok) return { ok: false, failure: toFailure(answered), text: heard.text, facts: this.#unknownFacts(heard) };
    const outcome = answered.value;
    if (outcome.ok) return { ok: true, response: outcome.response, facts: this.#facts(outcome.response, heard) };
    // A call that was refused for its rate, before anything came, has used nothing.
    const wasRefused = outcome.failure.type === 'rate_limit' && outcome.partial.parts.length === 0;
    const partial = wasRefused ? { ...outcome.partial, usage: reported(outcome.partial.usage) } : outcome.partial;
    return { ok: false, failure: outcome.failure, text: heard.text, facts: this.#facts(partial, heard) };
  }

  #request({ messages, tools, output, settings }: Question, signal: AbortSignal, heard: Heard): ModelRequest {
    return {
      messages,
      signal,
      settings: settings ?? this.settings,
      onNotice: (notice) => this.#notice(notice, heard),
      ...(tools !== undefined && tools.length > 0 && { tools }),
      ...(output !== undefined && { output }),
    };
  }

  #hear(delta: ModelDelta, heard: Heard, { isForReaders = true }: Question): void {
    const { scope } = this;
    const { name } = this.#setup;
    if (delta.type === 'restart') heard.text = '';
    if (!isForReaders) return;
    if (delta.type === 'text') {
      heard.text += delta.text;
      scope.emit((header) => new TextDelta(header, name, delta.text), { numbered: false });
    }
    if (delta.type === 'reasoning') scope.emit((header) => new ReasoningDelta(header, name, delta.text), { numbered: false });
  }

  #notice(notice: ModelNotice, heard: Heard): void {
    if (notice.type === 'fallback') {
      heard.attempts.push({ who: toPricedModel(notice.from), usage: notice.usage });
      this.scope.emit((header) => new ModelFallback(header, this.#setup.name, notice));
    }
    if (notice.type === 'waiting') heard.leaveWait ??= this.scope.beginWaiting();
    if (notice.type === 'waited') {
      heard.leaveWait?.();
      heard.leaveWait = undefined;
    }
  }

  #facts({ usage, modelId, provider, finishReason }: ModelResponse, { attempts }: Heard): AnswerFacts {
    const { model } = this.#setup;
    const who = { provider: provider ?? model.provider, modelId: modelId ?? model.modelId };
    // Each attempt is paid for at its own model's price.
    const own = attempts.reduce((left, { usage: spent }) => Usage.minus(left, spent), usage);
    const cost = attempts.reduce((sum, attempt) => addCost(sum, this.#cost(attempt.usage, attempt.who)), this.#cost(own, who));
    return {
      usage,
      model: `${who.provider}/${who.modelId}`,
      ...(cost !== undefined && { cost }),
      ...(finishReason !== undefined && { finishReason }),
    };
  }

  // What a call cost that was cut off is not known, unless it never began.
  #unknownFacts({ begun, attempts }: Heard): AnswerFacts {
    if (!begun) return { usage: Usage.none() };
    const { provider, modelId } = this.#setup.model;
    const own = this.#cost(Usage.unknown(), { provider, modelId });
    const cost = attempts.reduce((sum, attempt) => addCost(sum, this.#cost(attempt.usage, attempt.who)), own);
    const usage = attempts.reduce((sum, attempt) => Usage.add(sum, attempt.usage), Usage.unknown());
    return { usage, ...(cost !== undefined && { cost }) };
  }

  #cost(usage: Usage, who: PricedModel): Cost | undefined {
    const { price = this.scope.price } = this.#setup;
    const watchesCost = this.#setup.watchesCost || this.scope.watchesCost;
    return watchesCost ? costOf(usage, { ...who, at: this.scope.clock.now() }, { price, watchesCost }) : undefined;
  }
}

// What was not asked has cost nothing.
const unasked = (failure: Failure): Answered => ({ ok: false, failure, text: '', facts: { usage: Usage.none() } });
