import type { ContinuationCriterion } from '../continuation/index.ts';
import { ErrorHandlingDecision, ErrorPolicy } from '../errors/index.ts';
import type { EventBus } from '../events/index.ts';
import type { Hook } from '../hooks/index.ts';
import { describeValue, InvalidArgumentError, isRecord, omitUndefined } from '../lib/index.ts';
import type { Model, ModelSettings, PriceSource } from '../inference/index.ts';
import type { Driver, Instructions, ParsedOutput, ToolEvent, ToolUseEvent, ToolUseLimits } from '../tool-use/index.ts';
import { withDefaultLimits } from '../tool-use/index.ts';
import type { ContextNeeded, ContextType, Tool, ToolInput, Tools } from '../tools/index.ts';
import type { Agent, AgentOptions, AnyAgentOptions } from './agent.ts';
import { createAnyAgent } from './agent.ts';
import type { AgentCapability, ContextOfCapabilities, MergedTools, WithCapabilities } from './agent-capability.ts';
import type { AgentState } from './agent-state.ts';

/** Tools as a builder takes them: one, a list, or a record by name. */
type GivenTools = Tool | Tools;

type AsTools<Given extends GivenTools> = Given extends Tool ? readonly [Given] : Given extends Tools ? Given : never;

type MergedAll<Before extends Tools, Added extends readonly GivenTools[]> = Added extends readonly [
  infer First extends GivenTools,
  ...infer Rest extends readonly GivenTools[],
]
  ? MergedAll<MergedTools<Before, AsTools<First>>, Rest>
  : number extends Added['length']
    ? MergedTools<Before, AsTools<Added[number]>>
    : Before;

type OnBuild = (agent: Agent) => Agent;
type BuiltAgent<Context, Given extends Tools, Output> = Agent<Given, ParsedOutput<Output>, Context & ContextNeeded<Given>>;

interface Parts {
  readonly options: Partial<AnyAgentOptions>;
  readonly tools: Readonly<Record<string, Tool>>;
  /** True if `wallMs` is a limit of active time, in place of the wall clock. */
  readonly isCumulative?: boolean;
  readonly maxRetries?: number;
  readonly onBuild: readonly OnBuild[];
}

const isTool = (given: GivenTools): given is Tool =>
  isRecord(given) && typeof given['type'] === 'string' && typeof given['name'] === 'string';
const isList = (given: Tools): given is readonly Tool[] => Array.isArray(given);

function toRecord(given: GivenTools): Readonly<Record<string, Tool>> {
  if (isTool(given)) return { [given.name]: given };
  return isList(given) ? Object.fromEntries(given.map((tool) => [tool.name, tool])) : given;
}

const { Retry } = ErrorHandlingDecision;

/** Careful: any failure ends the run, unless the model may be asked again. */
function toPolicy({ options: { errors }, maxRetries }: Parts): ErrorPolicy {
  const careful = ErrorPolicy.stopOnAnyError();
  if (maxRetries === undefined) return errors ?? careful;
  const patient = careful.withModelErrorHandling(Retry).withRateLimitErrorHandling(Retry).withTimeoutErrorHandling(Retry);
  return (errors ?? patient).withMaxRetries(maxRetries);
}

/** The documents' defaults: careful ones. */
const careful: Parts = {
  options: { limits: { steps: 20, tokens: 32_768, wallMs: 300_000 } },
  tools: {},
  onBuild: [],
};

/**
 * Builds an agent from settings. Every method changes the builder and returns it, so both statements and chains work; in a chain the
 * types follow what was added. An agent that was built stays as it is. Unless configured otherwise the agent stops after 20 steps,
 * 32,768 tokens or 300 seconds, and at any failure.
 */
export class AgentBuilder<Context = unknown, Given extends Tools = readonly [], Output extends ToolInput = ToolInput> {
  // Replaced as a whole: agents that were built share nothing with it.
  #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  static base(): AgentBuilder {
    return new AgentBuilder(careful);
  }
  static new(): AgentBuilder {
    return AgentBuilder.base();
  }

  /** Sets the name of the agent in stored records, and its release. */
  withId(id: string, version?: string): this {
    return this.#with(omitUndefined({ id, version }));
  }
  withModel(model: Model): this {
    return this.#with({ model });
  }
  withModelSettings(settings: ModelSettings): this {
    return this.#with({ settings });
  }
  /** Models to try in turn if the model is busy, slow or broken. */
  withFallbackModels(...fallback: readonly Model[]): this {
    return this.#with({ fallback });
  }
  withDriver(driver: Driver): this {
    return this.#with({ driver });
  }
  /** Prices of models, for costs and cost limits. */
  withPrices(price: PriceSource): this {
    return this.#with({ price });
  }

  /** Declares the context that the host passes with each run: `defineContext<{ db: Db }>()`. */
  withContext<Added>(context: ContextType<Added>): AgentBuilder<Context & Added, Given, Output> {
    return this.#with({ context });
  }
  /** Adds tools: one, a list, or a record by name. If two have the same name, the later one is used. */
  withTools<const Added extends readonly GivenTools[]>(...tools: Added): AgentBuilder<Context, MergedAll<Given, Added>, Output> {
    const merged = tools.reduce<Parts['tools']>((all, each) => ({ ...all, ...toRecord(each) }), this.#parts.tools);
    return this.#change({ tools: merged });
  }
  /** Schema of the final answer. */
  withResponseFormat<const Added extends ToolInput>(output: Added): AgentBuilder<Context, Given, Added> {
    return this.#with({ output });
  }
  /** System prompt. Empty text is ignored. */
  withSystemPrompt(instructions: Instructions<Context & ContextNeeded<Given>, AgentState>): this {
    const given = typeof instructions === 'string' ? instructions.trim() : instructions;
    return given === '' ? this : this.#with({ instructions: given });
  }

  withMaxSteps(steps: number): this {
    return this.withLimits({ steps: parseLimit('withMaxSteps', steps, 'of 0 or more') });
  }
  withMaxTokens(tokens: number): this {
    return this.withLimits({ tokens: parseLimit('withMaxTokens', tokens, 'of 0 or more') });
  }
  /** Seconds on the wall clock; of active time after `withCumulativeTimeout`. */
  withTimeout(seconds: number): this {
    return this.withLimits({ wallMs: parseLimit('withTimeout', seconds, 'above 0') * 1000 });
  }
  /**
   * Seconds of active time, in place of the wall clock: waiting and pauses do not count. Both methods set the same number: the later
   * call wins.
   */
  withCumulativeTimeout(seconds: number): this {
    const wallMs = parseLimit('withCumulativeTimeout', seconds, 'above 0') * 1000;
    this.#change({ isCumulative: true });
    return this.withLimits({ wallMs });
  }
  /** Any limits, and what happens when one is reached. */
  withLimits(limits: ToolUseLimits): this {
    return this.#with({ limits: withDefaultLimits(this.#parts.options.limits ?? {}, limits) });
  }
  withErrorPolicy(errors: ErrorPolicy): this {
    return this.#with({ errors });
  }
  /** Number of failures in a row that end the run. Without a policy of your own, model calls are retried and tools are not. */
  withMaxRetries(maxRetries: number): this {
    return this.#change({ maxRetries });
  }
  /** Finish reasons that end the run. */
  withFinishReasons(...finishReasons: readonly string[]): this {
    return this.#with({ finishReasons });
  }
  /** Adds rules after the built-in ones. */
  addContinuationCriteria(...criteria: readonly ContinuationCriterion<AgentState>[]): this {
    return this.#with({ criteria: [...(this.#parts.options.criteria ?? []), ...criteria] });
  }

  /** Adds functions of your own at the points of a step. */
  withHooks(...hooks: readonly Hook<AgentState, Context & ContextNeeded<Given>>[]): this {
    return this.#with({ hooks: [...(this.#parts.options.hooks ?? []), ...hooks] });
  }
  /** Adds a bundle of tools, hooks, rules and instructions. Each can be added once. */
  withCapability<const Added extends AgentCapability>(
    capability: Added,
  ): AgentBuilder<Context & ContextOfCapabilities<readonly [Added]>, WithCapabilities<Given, readonly [Added]>, Output> {
    return this.#with({ capabilities: [...(this.#parts.options.capabilities ?? []), capability] });
  }

  /** Sends the events to this bus. */
  withEvents(events: EventBus<ToolEvent<Given>> | EventBus<ToolEvent> | EventBus<ToolUseEvent>): this {
    return this.#with({ events });
  }
  /** Sources of time, ids and random numbers, and the reporter of problems. */
  withPorts(ports: NonNullable<AgentOptions['ports']>): this {
    return this.#with({ ports });
  }
  /** Changes the agent when it is built; callbacks run in order, each on what the one before returned. */
  onBuild(change: (agent: BuiltAgent<Context, Given, Output>) => BuiltAgent<Context, Given, Output>): this {
    // Holds: build() calls it with an agent of these types.
    return this.#change({ onBuild: [...this.#parts.onBuild, change as unknown as OnBuild] });
  }

  build(): BuiltAgent<Context, Given, Output> {
    const { options, tools, onBuild } = this.#parts;
    const limits = toBuiltLimits(this.#parts);
    // Holds: options without a model are refused when the agent is created.
    const given = omitUndefined({ ...options, limits, tools, errors: toPolicy(this.#parts) }) as AnyAgentOptions;
    const agent = onBuild.reduce((built, change) => assertAgent(change(built)), createAnyAgent(given, 'AgentBuilder'));
    // Holds: the types follow what was put in.
    return agent as unknown as BuiltAgent<Context, Given, Output>;
  }

  #with<Changed = this>(options: Parts['options']): Changed {
    return this.#change({ options: { ...this.#parts.options, ...options } });
  }

  #change<Changed = this>(parts: Partial<Parts>): Changed {
    this.#parts = { ...this.#parts, ...parts };
    // Holds: the type parameters are not part of the stored data, so a method may declare them again.
    return this as unknown as Changed;
  }
}

function toBuiltLimits({ options: { limits = {} }, isCumulative = false }: Parts): ToolUseLimits {
  const { wallMs = Infinity, activeMs = Infinity } = limits;
  return isCumulative ? { ...limits, wallMs: Infinity, activeMs: Math.min(wallMs, activeMs) } : limits;
}

function parseLimit(method: string, given: unknown, least: 'above 0' | 'of 0 or more'): number {
  if (typeof given === 'number' && (least === 'above 0' ? given > 0 : given >= 0)) return given;
  throw new InvalidArgumentError(`${method}() needs a number ${least}, or Infinity, not ${describeValue(given)}.`);
}

function assertAgent(given: Agent): Agent {
  const value: unknown = given;
  if (isRecord(value) && typeof value['run'] === 'function' && typeof value['start'] === 'function') return given;
  throw new InvalidArgumentError(
    `The callback of onBuild() returned ${describeValue(value)}. Return the agent it was given, or one derived from it.`,
  );
}
