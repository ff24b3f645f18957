// An agent: a model, its tools and its rules under one name.
// Owns:     its configuration, and the bus that its events go to.
// Does not: hold a conversation. States come in and go out; one agent serves any number of them side by side.
import { ErrorHandlingDecision, ErrorPolicy } from '../errors/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { StateType } from '../step-by-step/index.ts';
import type { AnyToolUseOptions, ParsedOutput, ToolEvent, ToolUseLimits, ToolUseOptions, ToolUseOrchestrator } from '../tool-use/index.ts';
import { createToolUse } from '../tool-use/index.ts';
import type { ContextNeeded, ToolInput, Tools } from '../tools/index.ts';
import type { AgentCapability, ContextOfCapabilities, WithCapabilities } from './agent-capability.ts';
import { AgentState } from './agent-state.ts';
import type { AgentDescription } from './describe.ts';
import { describeAgent } from './describe.ts';

/** An event of an agent with these tools. */
export type AgentEvent<Given extends Tools = Tools> = ToolEvent<Given>;

/** An agent. Stateless and reusable: one may run any number of states side by side. */
export interface Agent<Given extends Tools = Tools, Output = unknown, Context = unknown> extends ToolUseOrchestrator<
  AgentState,
  Given,
  Output,
  Context
> {
  /** Describes the model, tools, hooks, rules and capabilities as plain data. */
  describe(): AgentDescription;
}

/** Kind of state, for programs that read stored states without running them. */
export const agentStates: StateType<AgentState> = {
  ...AgentState.codec,
  empty: (options) => AgentState.empty(options),
  is: (value) => value instanceof AgentState,
};

/** Options of an agent. */
export interface AgentOptions<
  Context = unknown,
  Given extends Tools = Tools,
  Output extends ToolInput = ToolInput,
  Added extends readonly AgentCapability[] = readonly AgentCapability[],
> extends ToolUseOptions<AgentState, Context, Given, Output, Added> {
  /** Name of the agent in stored records. @default 'agent' */
  readonly id?: string;
  /** Release of the agent; stored with each execution. */
  readonly version?: string;
}

/** Options of any agent, without their types. */
export interface AnyAgentOptions extends AnyToolUseOptions<AgentState>, Pick<AgentOptions, 'id' | 'version'> {}

/** Span of failures in a row before they end a run: most hiccups of a provider pass within it. */
const defaultRetrySpanMs = 10_000;
const defaultPolicy = (): ErrorPolicy =>
  ErrorPolicy.retryToolErrors(3).withModelErrorHandling(ErrorHandlingDecision.Retry).withMinRetrySpanMs(defaultRetrySpanMs);
const defaultLimits: ToolUseLimits = { steps: 20, tokens: 500_000, wallMs: 300_000 };

/**
 * Creates an agent. Unless configured otherwise it stops after 20 steps, 500,000 tokens or 300 seconds, gives failed tools back to the
 * model, and retries what may pass: three failures in a row end it. Rate limits, time-outs and failures of the model end it only if they
 * also span 10 seconds.
 */
export function createAgent<
  Context = unknown,
  const Given extends Tools = readonly [],
  const Output extends ToolInput = ToolInput,
  const Added extends readonly AgentCapability[] = readonly [],
>(
  options: AgentOptions<Context, Given, Output, Added>,
): Agent<
  WithCapabilities<Given, Added>,
  ParsedOutput<Output>,
  Context & ContextOfCapabilities<Added> & ContextNeeded<WithCapabilities<Given, Added>>
>;
export function createAgent(options: AnyAgentOptions): Agent {
  return createAnyAgent(options);
}

/** Creates an agent of options whose types are not known. */
export function createAnyAgent(options: AnyAgentOptions, maker = 'createAgent()'): Agent {
  // Options that are missing altogether are refused below.
  const { id = 'agent', version } = (options as AnyAgentOptions | undefined) ?? {};
  const identity = omitUndefined({ id, version });
  const kind = { maker, name: 'agent', states: agentStates, limits: defaultLimits, policy: defaultPolicy, identity };
  const parts = createToolUse(options, kind);
  return { ...parts.orchestrator, describe: () => describeAgent(parts) };
}
