import type { ContinuationCriterion } from '../continuation/index.ts';
import { ErrorHandlingDecision, ErrorPolicy } from '../errors/index.ts';
import type { EventBus } from '../events/index.ts';
import type { Hook } from '../hooks/index.ts';
import { InvalidArgumentError, isRecord, omitUndefined } from '../lib/index.ts';
import type { Model, ModelSettings, PriceOf } from '../inference/index.ts';
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
  /** Set if active time takes the place of the wall clock. */
  readonly activeMs?: number;
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

  /** Sets the name of the agent in stored records, and its release. */
  withId(id: string, version?: string): AgentBuilder<Context, Given, Output> {
    return this.#with(omitUndefined({ id, version }));
  }
  withModel(model: Model): AgentBuilder<Context, Given, Output> {
    return this.#with({ model });
  }
  withModelSettings(settings: ModelSettings): AgentBuilder<Context, Given, Output> {
    return this.#with({ settings });
  }
  /** Asked in turn where the model is busy, slow or broken. */
  withFallbackModels(...fallback: readonly Model[]): AgentBuilder<Context, Given, Output> {
    return this.#with({ fallback });
  }
  withDriver(driver: Driver): AgentBuilder<Context, Given, Output> {
    return this.#with({ driver });
  }
  /** What usage costs. */
  withPrices(price: PriceOf): AgentBuilder<Context, Given, Output> {
    return this.#with({ price });
  }

  /** Says what the host gives with each run: `contextOf<{ db: Db }>()`. */
  withContext<Added>(context: ContextType<Added>): AgentBuilder<Context & Added, Given, Output> {
    return this.#with({ context });
  }
  /** Adds tools: one, a list, or a record by name. Of two with the same name the later stands. */
  withTools<const Added extends readonly GivenTools[]>(...tools: Added): AgentBuilder<Context, MergedAll<Given, Added>, Output> {
    const merged = tools.reduce<Parts['tools']>((all, each) => ({ ...all, ...toRecord(each) }), this.#parts.tools);
    return new AgentBuilder({ ...this.#parts, tools: merged });
  }
  /** The form of the final answer. */
  withResponseFormat<const Added extends ToolInput>(output: Added): AgentBuilder<Context, Given, Added> {
    return this.#with({ output });
  }
  /** What the model is told to be. Empty text is ignored. */
  withSystemPrompt(instructions: Instructions<Context & ContextNeeded<Given>, AgentState>): AgentBuilder<Context, Given, Output> {
    const given = typeof instructions === 'string' ? instructions.trim() : instructions;
    return given === '' ? this : this.#with({ instructions: given });
  }

  withMaxSteps(steps: number): AgentBuilder<Context, Given, Output> {
    return this.withLimits({ steps });
  }
  withMaxTokens(tokens: number): AgentBuilder<Context, Given, Output> {
    return this.withLimits({ tokens });
  }
  /** Seconds on the wall clock. */
  withTimeout(seconds: number): AgentBuilder<Context, Given, Output> {
    return this.withLimits({ wallMs: seconds * 1000 });
  }
  /** Seconds of active time, in place of the wall clock: waiting and pauses do not count. */
  withCumulativeTimeout(seconds: number): AgentBuilder<Context, Given, Output> {
    return new AgentBuilder({ ...this.#parts, activeMs: seconds * 1000 });
  }
  /** Any limits, and what happens when one is reached. */
  withLimits(limits: ToolUseLimits): AgentBuilder<Context, Given, Output> {
    return this.#with({ limits: withDefaultLimits(this.#parts.options.limits ?? {}, limits) });
  }
  withErrorPolicy(errors: ErrorPolicy): AgentBuilder<Context, Given, Output> {
    return this.#with({ errors });
  }
  /** How many failures in a row end the run. Without a policy of your own it is the model that is asked again; tools are not. */
  withMaxRetries(maxRetries: number): AgentBuilder<Context, Given, Output> {
    return new AgentBuilder({ ...this.#parts, maxRetries });
  }
  /** Finish reasons that end the run. */
  withFinishReasons(...finishReasons: readonly string[]): AgentBuilder<Context, Given, Output> {
    return this.#with({ finishReasons });
  }
  /** Adds rules behind the built-in ones. */
  addContinuationCriteria(...criteria: readonly ContinuationCriterion<AgentState>[]): AgentBuilder<Context, Given, Output> {
    return this.#with({ criteria: [...(this.#parts.options.criteria ?? []), ...criteria] });
  }

  /** Adds functions of your own at the points of a step. */
  withHooks(...hooks: readonly Hook<AgentState, Context & ContextNeeded<Given>>[]): AgentBuilder<Context, Given, Output> {
    return this.#with({ hooks: [...(this.#parts.options.hooks ?? []), ...hooks] });
  }
  /** Puts in a bundle of tools, hooks, rules and words. Each can be put in once. */
  withCapability<const Added extends AgentCapability>(
    capability: Added,
  ): AgentBuilder<Context & ContextOfCapabilities<readonly [Added]>, WithCapabilities<Given, readonly [Added]>, Output> {
    return this.#with({ capabilities: [...(this.#parts.options.capabilities ?? []), capability] });
  }

  /** Sends the events to this bus. */
  withEvents(events: EventBus<ToolEvent<Given>> | EventBus<ToolEvent> | EventBus<ToolUseEvent>): AgentBuilder<Context, Given, Output> {
    return this.#with({ events });
  }
  /** Where time, ids and chance come from, and who hears of problems. */
  withPorts(ports: NonNullable<AgentOptions['ports']>): AgentBuilder<Context, Given, Output> {
    return this.#with({ ports });
  }
  /** Changes the agent when it is built; callbacks run in order, each on what the one before returned. */
  onBuild(change: (agent: BuiltAgent<Context, Given, Output>) => BuiltAgent<Context, Given, Output>): AgentBuilder<Context, Given, Output> {
    // Holds: build() calls it with an agent of these types.
    return new AgentBuilder({ ...this.#parts, onBuild: [...this.#parts.onBuild, change as unknown as OnBuild] });
  }

  build(): BuiltAgent<Context, Given, Output> {
    const { options, tools, activeMs, onBuild } = this.#parts;
    const limits = activeMs === undefined ? options.limits : { ...options.limits, wallMs: Infinity, activeMs };
    // Holds: options without a model are refused when the agent is created.
    const given = omitUndefined({ ...options, tools, limits, errors: toPolicy(this.#parts) }) as AnyAgentOptions;
    const agent = onBuild.reduce((built, change) => assertAgent(change(built)), createAnyAgent(given));
    // Holds: the types follow what was put in.
    return agent as unknown as BuiltAgent<Context, Given, Output>;
  }

  // The type parameters are no part of what is held, so a caller may declare them anew.
  #with<NewContext, NewGiven extends Tools, NewOutput extends ToolInput>(
    options: Parts['options'],
  ): AgentBuilder<NewContext, NewGiven, NewOutput> {
    return new AgentBuilder({ ...this.#parts, options: { ...this.#parts.options, ...options } });
  }
}

function assertAgent(given: Agent): Agent {
  const value: unknown = given;
  if (isRecord(value) && typeof value['run'] === 'function' && typeof value['start'] === 'function') return given;
  throw new InvalidArgumentError('A callback of onBuild() must return an agent: the one it was given, or one made from it.');
}
