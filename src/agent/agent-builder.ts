import type { ContinuationCriterion } from '../continuation/index.ts';
import { ErrorHandlingDecision, ErrorPolicy } from '../errors/index.ts';
import type { EventBus } from '../events/index.ts';
import type { Hook } from '../hooks/index.ts';
import { InvalidArgumentError, isRecord } from '../lib/index.ts';
import type { Model, ModelSettings, PriceOf } from '../inference/index.ts';
import type { Driver, Instructions, ToolEvent, ToolUseEvent, ToolUseLimits } from '../tool-use/index.ts';
import { withDefaultLimits } from '../tool-use/index.ts';
import type { ContextType, Tool, ToolInput, Tools } from '../tools/index.ts';
import type { Agent, AgentEvent, AgentOptions, AnyAgent, OutputOf } from './agent.ts';
import { createAgent } from './agent.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentCapability, ContextOfCapabilities, Merged, TypesOf, WithCapabilities } from './agent-types.ts';

/** Tools as a builder takes them: one, a list, or a record by name. */
type GivenTools = Tool | Tools;

type AsTools<Given extends GivenTools> = Given extends Tool ? readonly [Given] : Given extends Tools ? Given : never;

type OnBuild = (agent: never) => unknown;

type MergedAll<Before extends Tools, Added extends readonly GivenTools[]> = Added extends readonly [
  infer First extends GivenTools,
  ...infer Rest extends readonly GivenTools[],
]
  ? MergedAll<Merged<Before, AsTools<First>>, Rest>
  : number extends Added['length']
    ? Merged<Before, AsTools<Added[number]>>
    : Before;

interface Parts {
  readonly options: Partial<AgentOptions<never>>;
  readonly tools: Readonly<Record<string, Tool>>;
  /** Set where active time takes the place of the wall clock. */
  readonly activeMs?: number;
  readonly maxRetries?: number;
  readonly onBuild: readonly OnBuild[];
}

const isTool = (given: GivenTools): given is Tool =>
  isRecord(given) && typeof given['type'] === 'string' && typeof given['name'] === 'string';

function byName(given: GivenTools): Readonly<Record<string, Tool>> {
  if (isTool(given)) return { [given.name]: given };
  return Array.isArray(given)
    ? Object.fromEntries((given as readonly Tool[]).map((tool) => [tool.name, tool]))
    : (given as Record<string, Tool>);
}

const { Retry } = ErrorHandlingDecision;

/** Careful: any failure ends the run, unless the model may be asked again. */
function policyOf({ options: { errors }, maxRetries }: Parts): ErrorPolicy {
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
 * Builds an agent step by step. Immutable: every method returns a new builder. Unless told otherwise the agent stops after 20 steps,
 * 32,768 tokens or 300 seconds, and at any failure.
 */
export class AgentBuilder<Context = unknown, Given extends Tools = readonly [], Output extends ToolInput = ToolInput> {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  static base(): AgentBuilder {
    return new AgentBuilder(careful);
  }
  static new(): AgentBuilder {
    return AgentBuilder.base();
  }

  /** Who it is, in what is stored. */
  withId(id: string, version?: string): this {
    return this.#with({ id, ...(version !== undefined && { version }) });
  }
  withModel(model: Model): this {
    return this.#with({ model });
  }
  withModelSettings(settings: ModelSettings): this {
    return this.#with({ settings });
  }
  /** Asked in turn where the model is busy, slow or broken. */
  withFallbackModels(...fallback: readonly Model[]): this {
    return this.#with({ fallback });
  }
  withDriver(driver: Driver): this {
    return this.#with({ driver });
  }
  /** What usage costs. */
  withPrices(price: PriceOf): this {
    return this.#with({ price });
  }

  /** Says what the host gives with each run: `contextOf<{ db: Db }>()`. */
  withContext<Added>(context: ContextType<Added>): AgentBuilder<Context & Added, Given, Output> {
    return this.#retyped({ context: context as never });
  }
  /** Adds tools: one, a list, or a record by name. Of two with the same name the later stands. */
  withTools<const Added extends readonly GivenTools[]>(...tools: Added): AgentBuilder<Context, MergedAll<Given, Added>, Output> {
    return new AgentBuilder({ ...this.#parts, tools: Object.assign({}, this.#parts.tools, ...tools.map(byName)) as Parts['tools'] });
  }
  /** The form of the final answer. */
  withResponseFormat<const Added extends ToolInput>(output: Added): AgentBuilder<Context, Given, Added> {
    return this.#retyped({ output });
  }
  /** What the model is told to be. Empty text is ignored. */
  withSystemPrompt(instructions: Instructions<TypesOf<Context, Given, unknown>['context'], AgentState>): this {
    const given = typeof instructions === 'string' ? instructions.trim() : instructions;
    return given === '' ? this : this.#with({ instructions: given });
  }

  withMaxSteps(steps: number): this {
    return this.withLimits({ steps });
  }
  withMaxTokens(tokens: number): this {
    return this.withLimits({ tokens });
  }
  /** Seconds on the wall clock. */
  withTimeout(seconds: number): this {
    return this.withLimits({ wallMs: seconds * 1000 });
  }
  /** Seconds of active time, in place of the wall clock: waiting and pauses do not count. */
  withCumulativeTimeout(seconds: number): this {
    return this.#same({ ...this.#parts, activeMs: seconds * 1000 });
  }
  /** Any limits, and what happens when one is reached. */
  withLimits(limits: ToolUseLimits): this {
    return this.#with({ limits: withDefaultLimits(this.#parts.options.limits ?? {}, limits) });
  }
  withErrorPolicy(errors: ErrorPolicy): this {
    return this.#with({ errors });
  }
  /** How many failures in a row end the run. Without a policy of your own it is the model that is asked again; tools are not. */
  withMaxRetries(maxRetries: number): this {
    return this.#same({ ...this.#parts, maxRetries });
  }
  /** Finish reasons that end the run. */
  withFinishReasons(...finishReasons: readonly string[]): this {
    return this.#with({ finishReasons });
  }
  /** Adds rules behind the built-in ones. */
  addContinuationCriteria(...criteria: readonly ContinuationCriterion<AgentState>[]): this {
    return this.#with({ criteria: [...(this.#parts.options.criteria ?? []), ...criteria] });
  }

  /** Adds functions of your own at the points of a step. */
  withHooks(...hooks: readonly Hook<AgentState, TypesOf<Context, Given, unknown>['context']>[]): this {
    return this.#with({ hooks: [...(this.#parts.options.hooks ?? []), ...hooks] as never });
  }
  /** Puts in a bundle of tools, hooks, rules and words. Each can be put in once. */
  withCapability<const Added extends AgentCapability>(
    capability: Added,
  ): AgentBuilder<Context & ContextOfCapabilities<readonly [Added]>, WithCapabilities<Given, readonly [Added]>, Output> {
    return this.#retyped({ capabilities: [...(this.#parts.options.capabilities ?? []), capability] });
  }

  /** Sends the events to this bus. */
  withEvents(events: EventBus<AgentEvent<TypesOf<Context, Given, OutputOf<Output>>>> | EventBus<ToolEvent> | EventBus<ToolUseEvent>): this {
    return this.#with({ events: events });
  }
  /** Where time, ids and chance come from, and who hears of problems. */
  withPorts(ports: NonNullable<AgentOptions['ports']>): this {
    return this.#with({ ports });
  }
  /** Changes the agent when it is built; callbacks run in order, each on what the one before returned. */
  onBuild<Types extends TypesOf<Context, Given, OutputOf<Output>>>(change: (agent: Agent<Types>) => Agent<Types>): this {
    return this.#same({ ...this.#parts, onBuild: [...this.#parts.onBuild, change] });
  }

  build(): Agent<TypesOf<Context, Given, OutputOf<Output>>> {
    const { options, tools, activeMs, onBuild } = this.#parts;
    const errors = policyOf(this.#parts);
    const limits = activeMs === undefined ? options.limits : { ...options.limits, wallMs: Infinity, activeMs };
    const built: unknown = createAgent({ ...options, tools, errors, ...(limits !== undefined && { limits }) } as unknown as AgentOptions);
    const changed = onBuild.reduce((agent, change) => checkedAgent(change(agent as never)), built as AnyAgent);
    // Holds: the types follow what was put in.
    return changed as never;
  }

  #with(options: Parts['options']): this {
    return this.#same({ ...this.#parts, options: { ...this.#parts.options, ...options } });
  }
  // Holds: nothing that a type parameter speaks of has changed.
  #same(parts: Parts): this {
    return new AgentBuilder(parts) as this;
  }
  #retyped(options: Parts['options']): never {
    return new AgentBuilder({ ...this.#parts, options: { ...this.#parts.options, ...options } }) as never;
  }
}

function checkedAgent(given: unknown): AnyAgent {
  if (isRecord(given) && typeof given['run'] === 'function' && typeof given['start'] === 'function') return given as unknown as AnyAgent;
  throw new InvalidArgumentError('A callback of onBuild() must return an agent: the one it was given, or one made from it.');
}
