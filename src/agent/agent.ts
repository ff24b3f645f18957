// An agent: a model, its tools and its rules under one name.
// Owns:     its configuration, and the bus that its events go to.
// Does not: hold a conversation. States come in and go out; one agent serves any number of them side by side.
import { ErrorHandlingDecision, ErrorPolicy } from '../errors/index.ts';
import type { EventBus, EventOfType, EventSink, Unsubscribe } from '../events/index.ts';
import { createEventBus } from '../events/index.ts';
import { InvalidArgumentError, systemIds } from '../lib/index.ts';
import type { MessageContent } from '../messages/index.ts';
import type { Message } from '../messages/index.ts';
import { isMessageContent } from '../messages/index.ts';
import type { NewStateOptions, RunArgs, Runnable, RunOptions, StateCodec } from '../step-by-step/index.ts';
import { createStepByStep, settledAs } from '../step-by-step/index.ts';
import type { Rules, ToolEvent, ToolUseLimits, ToolUseOptions } from '../tool-use/index.ts';
import { argsProblem, checkOptions, createToolUseProcess, fingerprintOf, toSetup, withDefaultLimits } from '../tool-use/index.ts';
import type { AfterParsing, ToolInput, Tools } from '../tools/index.ts';
import type { AgentResult } from './agent-result.ts';
import { AgentState } from './agent-state.ts';
import type { AgentDescription } from './describe.ts';
import { describeAgent } from './describe.ts';
import type { AgentCapability, AgentTypes, ContextOfCapabilities, TypesOf, WithCapabilities } from './agent-types.ts';
import { toResult } from './to-result.ts';

/** Every event of an agent with these types. */
export type AgentEvent<Types extends AgentTypes = AgentTypes> = ToolEvent<Types['tools']>;

/** What a run is started with: what the user says, or a state to go on with. */
export type AgentInput = MessageContent | Message | AgentState;

/** A run that is under way. Iterate it for its events; leaving the loop detaches and stops nothing. */
export interface AgentRun<Types extends AgentTypes = AgentTypes> extends AsyncIterable<AgentEvent<Types>> {
  /** How it ended. Settles without a reader; rejects only for misuse or a failing store. */
  readonly result: Promise<AgentResult<Types>>;
  /** Ends the run at the next boundary; the step under way is finished first. */
  requestStop(reason?: string): void;
}

/** What one run of an agent is given. */
export type AgentRunOptions<Types extends AgentTypes = AgentTypes> = RunOptions<AgentState, Types['context'], AgentEvent<Types>>;

/** An agent. Stateless and reusable: one may carry on any number of states side by side. */
export interface Agent<Types extends AgentTypes> extends Runnable<AgentState, Types['context'], AgentEvent<Types>> {
  readonly id: string;
  readonly version: string | undefined;
  /** The same for two agents with the same instructions, tools, limits and policy. Each execution keeps it. */
  readonly fingerprint: string;
  /** Begins at once: with words of the user, or with a state. */
  start(input: AgentInput, ...args: RunArgs<AgentState, Types['context'], AgentEvent<Types>>): AgentRun<Types>;
  /** Reads a stored state. */
  restore(stored: unknown): AgentState;
  /** How its conversations begin, and how they are stored. */
  readonly states: AgentStates;
  /**
   * What is wrong with the arguments for one of its tools; undefined where they fit, or where the tool is not its own. `agent` is who
   * asks, where that is a run inside: its tools are not known here.
   */
  checkArgs(toolName: string, args: unknown, agent?: string): Promise<string | undefined>;
  /** True where a run has to be given a context. */
  readonly needsContext: boolean;
  /** What it is made of: model, tools, hooks, rules, capabilities. Plain data. */
  describe(): AgentDescription;
  /** Hears one kind of event of every run; returns its unsubscribe. */
  readonly onEvent: EventBus<AgentEvent<Types>>['on'];
  /** Hears every event of every run; returns its unsubscribe. */
  wiretap(listener: (event: AgentEvent<Types>) => unknown): Unsubscribe;
}

/** How the conversations of agents begin, and how they are stored. */
export interface AgentStates extends StateCodec<AgentState> {
  empty(options?: NewStateOptions): AgentState;
}

const agentStates: AgentStates = { ...AgentState.codec, empty: (options) => AgentState.empty(options) };

/** The types that an agent carries: `AgentTypesOf<typeof agent>`. */
export type AgentTypesOf<Given> = Given extends Agent<infer Types> ? Types : never;

/** What one run is given by a host that does not know the agent's types. */
export interface AnyRunOptions extends Omit<RunOptions<AgentState>, 'onEvent'> {
  readonly onEvent?: ((event: never) => unknown) | undefined;
}

/** A run of an agent of any types. */
export interface AnyRun extends AsyncIterable<ToolEvent> {
  readonly result: Promise<AgentResult>;
  requestStop(reason?: string): void;
}

/** An agent of any types: for hosts that hold many. What it needs as context is theirs to know. */
export interface AnyAgent {
  readonly name: string;
  readonly id: string;
  readonly version: string | undefined;
  readonly fingerprint: string;
  readonly needsContext: boolean;
  hasNextStep(state: AgentState): boolean;
  nextStep(state: AgentState, options?: AnyRunOptions): Promise<AgentState>;
  run(state: AgentState, options?: AnyRunOptions): Promise<AgentState>;
  iterate(state: AgentState, options?: AnyRunOptions): AsyncGenerator<AgentState, void, undefined>;
  start(input: AgentInput, options?: AnyRunOptions): AnyRun;
  restore(stored: unknown): AgentState;
  readonly states: AgentStates;
  checkArgs(toolName: string, args: unknown, agent?: string): Promise<string | undefined>;
  describe(): AgentDescription;
  onEvent<Type extends ToolEvent['type']>(type: Type, listener: (event: EventOfType<ToolEvent, Type>) => unknown): Unsubscribe;
  wiretap(listener: (event: ToolEvent) => unknown): Unsubscribe;
}

/** What an agent is made from. */
export interface AgentOptions<
  Context = unknown,
  Given extends Tools = Tools,
  Output extends ToolInput = ToolInput,
  Added extends readonly AgentCapability[] = readonly AgentCapability[],
> extends ToolUseOptions<AgentState, Context, Given, Output, Added> {
  /** Who it is, in what is stored. @default 'agent' */
  readonly id?: string;
  /** Kept with each execution, so that one can tell which release of an agent did what. */
  readonly version?: string;
}

/** The parsed type of an output schema; undefined where none was given. */
export type OutputOf<Output> = [ToolInput] extends [Output] ? undefined : AfterParsing<Output>;

/** Working defaults: failed tools go back to the model, and what may pass is tried again. */
const workingPolicy = (): ErrorPolicy => ErrorPolicy.retryToolErrors(3).withModelErrorHandling(ErrorHandlingDecision.Retry);
const workingLimits: ToolUseLimits = { steps: 20, tokens: 500_000, wallMs: 300_000 };

function stateOf(input: AgentInput, { clock, ids = systemIds }: NonNullable<AgentOptions['ports']> = {}): AgentState {
  if (input instanceof AgentState) return input;
  if (!isMessageContent(input))
    throw new InvalidArgumentError('start() takes text, a message, parts or an AgentState. Read stored data with agent.restore() first.');
  return AgentState.empty({ ids, ...(clock !== undefined && { clock }) }).withUserMessage(input, { ids });
}

/**
 * Makes an agent. Unless told otherwise it stops after 20 steps, 500,000 tokens or 300 seconds, gives failed tools back to the model,
 * and tries again what may pass: three failures in a row end it.
 */
export function createAgent<
  Context = unknown,
  const Given extends Tools = readonly [],
  const Output extends ToolInput = ToolInput,
  const Added extends readonly AgentCapability[] = readonly [],
>(
  options: AgentOptions<Context, Given, Output, Added>,
): Agent<TypesOf<Context & ContextOfCapabilities<Added>, WithCapabilities<Given, Added>, OutputOf<Output>>> {
  type Types = TypesOf<Context & ContextOfCapabilities<Added>, WithCapabilities<Given, Added>, OutputOf<Output>>;
  checkOptions(options, ['id', 'version']);
  const { id = 'agent', version, limits, errors: policy = workingPolicy(), finishReasons, ports } = options;
  const setup = toSetup<AgentState, Types['context'], Given, Output>('agent', options as never);
  const rules: Rules<AgentState> = {
    limits: withDefaultLimits(workingLimits, limits),
    policy,
    criteria: setup.criteria,
    ...(finishReasons !== undefined && { finishReasons }),
  };
  const fingerprint = fingerprintOf(setup, rules);
  const identity = { id, ...(version !== undefined && { version }), fingerprint };
  const process = createToolUseProcess<AgentState, Types['context']>(setup, rules, identity);
  // Holds: a bus of wider events takes these, and its listeners hear them.
  const events = (options.events as EventBus<AgentEvent<Types>> | undefined) ?? createEventBus<AgentEvent<Types>>(ports?.onProblem);
  // Holds: the loop and the rooms below tell no other events than these.
  const sink = events as EventBus<never> as EventSink;
  const runnable = createStepByStep<AgentState, Types['context'], AgentEvent<Types>>(process, { ...ports, events: sink });

  return {
    ...runnable,
    id,
    version,
    fingerprint,
    onEvent: events.on,
    wiretap: events.wiretap,
    restore: (stored) => AgentState.fromJSON(stored),
    states: agentStates,
    needsContext: setup.needsContext,
    checkArgs: async (toolName, args, asking) => (asking === undefined ? argsProblem(setup.tools, toolName, args) : undefined),
    describe: () => describeAgent({ id, version, fingerprint, setup, rules, process }),
    start: (input, ...args) => settledAs(runnable.stream(stateOf(input, ports), ...args), (state) => toResult<Types>(state, setup.output)),
  };
}
