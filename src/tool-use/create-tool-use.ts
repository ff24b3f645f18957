import { ContinuationCriteria } from '../continuation/index.ts';
import { checkModel, checkSettings, omitHeaders } from '../inference/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { EventBus } from '../events/index.ts';
import { omitUndefined, stableStringify, TextHash, toCanonical } from '../lib/index.ts';
import type { Orchestrator, StateType } from '../step-by-step/index.ts';
import { createOrchestrator } from '../step-by-step/index.ts';
import type { Tools, ToolSet } from '../tools/index.ts';
import { findArgsProblem, unknownToolText } from '../tools/index.ts';
import type { AnyToolUseOptions, ToolUseLimits } from './options.ts';
import { checkCostLimit, checkOptions, checkOwnCriteria, toolUseOptionNames, withDefaultLimits } from './options.ts';
import { readOutput } from './output.ts';
import type { Rules } from './process.ts';
import { createToolUseProcess, toCriteria } from './process.ts';
import type { AgentDefinition } from '../inference/index.ts';
import type { Setup } from './setup.ts';
import { toSetup } from './setup.ts';
import type { ToolEvent } from './tool-use-events.ts';
import type { ToolUseState } from './tool-use-state.ts';

/** An orchestrator of a model with tools. */
export interface ToolUseOrchestrator<
  State extends ToolUseState = ToolUseState,
  Given extends Tools = Tools,
  Output = unknown,
  Context = unknown,
> extends Orchestrator<State, Output, Context, ToolEvent<Given>> {
  readonly toolNames: readonly string[];
  /** Tools that the model is offered, those of capabilities included. */
  readonly tools: ToolSet;
}

/** Kind of orchestrator: an agent, or a tool loop without an identity. */
interface Kind<State extends ToolUseState> {
  /** Name in errors. */
  readonly maker: string;
  /** Name in events. */
  readonly name: string;
  readonly states: StateType<State>;
  readonly limits: ToolUseLimits;
  readonly policy: () => ErrorPolicy;
  /** Stored with each execution, together with the fingerprint. */
  readonly identity?: { readonly id: string; readonly version?: string };
}

interface ToolUseParts<State extends ToolUseState> {
  readonly orchestrator: ToolUseOrchestrator<State>;
  readonly setup: Setup;
  readonly rules: Rules<State>;
  readonly policy: ErrorPolicy;
  /** Names of all criteria, in their order. */
  readonly criteria: readonly string[];
}

/** Computes the fingerprint of these values, whatever their order. */
export function hashConfiguration(parts: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(parts).map(([name, part]) => {
    const canonical = toCanonical(part);
    // A value that is not JSON cannot be compared; it must not take the rest with it.
    return [name, canonical.ok ? canonical.value : canonical.problem] as const;
  });
  return new TextHash().add(stableStringify(Object.fromEntries(entries))).toString();
}

/** Finds the policy that handles failures. The loop stops at any if no criterion has one. */
const findPolicy = ({ policy, criteria = [] }: Rules<never>): ErrorPolicy =>
  policy ?? ContinuationCriteria.from(...criteria).errorPolicy ?? ErrorPolicy.stopOnAnyError();

/** Two orchestrators with the same fingerprint have the same instructions, tools, limits, policy and answers. */
function computeFingerprint(
  { instructions, tools, driver, output, settings, hooks, capabilities }: Omit<Setup, 'define'>,
  rules: Rules<never>,
): string {
  const words = instructions.map((each) => (typeof each === 'function' ? String(each) : each));
  const { onLimit = 'stop', ...limits } = rules.limits;
  return hashConfiguration({
    instructions: words.length > 1 ? words : words[0],
    ...(hooks !== undefined && { hooks: hooks.hooks.map(({ name, order, points, changes }) => ({ name, order, points, changes })) }),
    ...(capabilities.length > 0 && { capabilities: capabilities.map(({ name }) => name) }),
    tools: tools.fingerprint(),
    limits: Object.fromEntries(Object.entries({ ...limits, onLimit }).map(([name, limit]) => [name, String(limit)])),
    policy: findPolicy(rules).toJSON(),
    ...(rules.replacesDefaults === true && { replacesDefaults: true }),
    criteria: rules.criteria?.map(({ name }) => name) ?? [],
    finishReasons: rules.finishReasons ?? [],
    driver: driver.name,
    output: output?.json,
    settings: { ...settings, headers: undefined },
  });
}

/** Collects what all requests of an agent have in common. */
function toDefinition(
  { row, driver, instructions, offered, settings, output }: Omit<Setup, 'define'>,
  agent: AgentDefinition['agent'],
): AgentDefinition {
  const [model = '', ...fallbacks] = row.map((each) => each.name);
  const given = { offered, settings, output };
  const usual = driver.toTemplate?.(given) ?? { tools: offered, ...(output !== undefined && { output: { schema: output.json } }) };
  const { more, tools = [], output: form } = usual;
  return omitUndefined({
    agent,
    model,
    fallbacks: fallbacks.length === 0 ? undefined : fallbacks,
    driver: driver.name,
    instructions: [...instructions.map((each) => (typeof each === 'function' ? null : each)), ...(more === undefined ? [] : [more])],
    tools,
    settings: omitHeaders(usual.settings ?? settings),
    output: form,
  });
}

/** Describes why a tool cannot run with these arguments; undefined if it can. `agent` is the path of the run inside whose tool it is. */
async function describeArgsProblem(
  tools: ToolSet,
  ...[name, args, agent]: Parameters<Orchestrator['checkArgs']>
): ReturnType<Orchestrator['checkArgs']> {
  if (agent !== undefined) {
    for (const tool of tools.names.map((each) => tools.get(each))) {
      const problem = tool?.type === 'nested' ? await tool.checkInner?.(name, args, agent) : undefined;
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const canonical = toCanonical(args);
  if (!canonical.ok) return `The arguments cannot be stored: ${canonical.path === '' ? 'the whole' : canonical.path} ${canonical.problem}.`;
  const tool = tools.get(name);
  return tool === undefined ? unknownToolText(name, tools.names) : findArgsProblem(tool, canonical.value);
}

/** Creates an orchestrator of a model with tools. */
export function createToolUse<State extends ToolUseState>(
  options: AnyToolUseOptions<State>,
  { maker, name, states, limits, policy, identity }: Kind<State>,
): ToolUseParts<State> {
  checkOptions(maker, options, { known: [...(identity === undefined ? [] : ['id', 'version']), ...toolUseOptionNames] });
  checkOwnCriteria(maker, options);
  checkModel(maker, options.model);
  for (const [index, other] of (options.fallback ?? []).entries()) checkModel(maker, other, `fallback[${index}]`);
  if (options.settings !== undefined) checkSettings(options.settings);
  const replacesDefaults = options.onlyCriteria !== undefined;
  checkCostLimit(maker, options);
  const defaults: Rules<State> = omitUndefined({
    limits: withDefaultLimits(replacesDefaults ? {} : limits, options.limits),
    policy: options.errors ?? (replacesDefaults ? undefined : policy()),
    finishReasons: options.finishReasons,
    replacesDefaults,
  });
  const prepared = toSetup(name, options, (criteria) => toCriteria({ ...defaults, criteria }).names);
  const rules: Rules<State> = { ...defaults, criteria: prepared.criteria };
  const fingerprint = computeFingerprint(prepared, rules);
  let definition: AgentDefinition | undefined;
  const setup: Setup = { ...prepared, define: () => (definition ??= toDefinition(prepared, { ...identity, fingerprint })) };
  const process = createToolUseProcess(setup, rules, identity && { ...identity, fingerprint });
  const orchestrator = createOrchestrator<State, unknown, ToolEvent, unknown>(process, {
    ...options.ports,
    ...identity,
    states,
    fingerprint,
    // Holds: a bus of wider events takes these, and its listeners get them.
    events: options.events as EventBus<ToolEvent> | undefined,
    needsContext: setup.needsContext,
    readOutput: (state) => readOutput(state.output, setup.output),
    checkArgs: (...call) => describeArgsProblem(setup.tools, ...call),
  });
  return {
    orchestrator: { ...orchestrator, toolNames: setup.toolNames, tools: setup.tools },
    setup,
    rules,
    policy: findPolicy(rules),
    criteria: process.criteria.names,
  };
}
