import type { ContinuationCriterion } from '../continuation/index.ts';
import type { Capability, Hook, HookChain } from '../hooks/index.ts';
import { createChain, checkCapabilities, numberHooks } from '../hooks/index.ts';
import type { AgentDefinition, Model, ModelSettings, OfferedTool, PricedModel, PriceSource, RowMember } from '../inference/index.ts';
import { toRow, withFallback, withTimeouts } from '../inference/index.ts';
import { Message } from '../messages/index.ts';
import type { AnswerSchema, Tool, Tools } from '../tools/index.ts';
import { toAnswerSchema, ToolSet } from '../tools/index.ts';
import type { Driver } from './driver.ts';
import { toolCallingDriver } from './drivers/tool-calling.ts';
import type { AnyToolUseOptions, Instructions } from './options.ts';
import type { ToolUseState } from './tool-use-state.ts';

/** The options, checked and prepared for the steps. */
export interface Setup {
  /** Kind of orchestrator in events. */
  readonly name: string;
  readonly model: Model;
  /** The model and its fallbacks, in their order. */
  readonly row: readonly RowMember[];
  readonly settings: ModelSettings;
  readonly tools: ToolSet<unknown>;
  /** Criteria of the host, of capabilities and of guards. */
  readonly criteria: readonly ContinuationCriterion<ToolUseState>[];
  readonly offered: readonly OfferedTool[];
  readonly toolNames: readonly string[];
  /** In the order in which the model reads them. */
  readonly instructions: readonly Instructions<unknown, ToolUseState>[];
  /** Undefined if there are none: a step without hooks pays nothing for them. */
  readonly hooks: HookChain | undefined;
  readonly capabilities: readonly Capability[];
  readonly output: AnswerSchema | undefined;
  readonly driver: Driver;
  readonly price: PriceSource | undefined;
  readonly watchesCost: boolean;
  readonly onUnknown: 'tell' | 'ask';
  readonly toolConcurrency: number | undefined;
  readonly isStreaming: boolean;
  /** Returns the message that instructions are sent as. The same text gives the same message: it is converted for a provider once. */
  readonly systemMessage: (text: string) => Message;
  /** Names of the models that answer. */
  readonly names: ModelNames;
  /** True if a tool, a hook or the options ask for a context. */
  readonly needsContext: boolean;
  /** Returns what all requests have in common. The same object each time. */
  readonly define: () => AgentDefinition;
}

/** Parts of an orchestrator that capabilities add to. */
interface Parts {
  readonly tools?: Tools | undefined;
  readonly hooks?: readonly Hook<never>[] | undefined;
  readonly criteria?: readonly ContinuationCriterion<never>[] | undefined;
  readonly instructions?: Instructions<never, never> | undefined;
}

function listTools(given: Tools): readonly Tool[] {
  const set = ToolSet.from(given);
  return set.names.flatMap((name) => set.get(name) ?? []);
}

/** Adds the parts of capabilities after the orchestrator's own, in the order in which they were given. */
function addCapabilities(own: Parts, capabilities: readonly Capability[]) {
  checkCapabilities(capabilities);
  const all: readonly Parts[] = [own, ...capabilities];
  return {
    tools: all.flatMap(({ tools = [] }) => listTools(tools)),
    hooks: all.flatMap(({ hooks = [] }) => hooks),
    criteria: all.flatMap(({ criteria = [] }) => criteria),
    instructions: all.flatMap(({ instructions }) => instructions ?? []),
  };
}

function toModel({ model, fallback = [], timeouts, ports }: AnyToolUseOptions<never>): Model {
  const each = (one: Model): Model => (timeouts === undefined ? one : withTimeouts(one, timeouts, ports?.clock));
  return fallback.length === 0 ? each(model) : withFallback(each(model), fallback.map(each));
}

/** Keeps the message of the last text. */
function createSystemMessages(): Setup['systemMessage'] {
  let last: Message | undefined;
  return (text) => {
    if (last?.text !== text) last = Message.system(text, { id: 'instructions' });
    return last;
  };
}

/** Names of models as `provider/model`. Every step has one, so equal names are one string. */
class ModelNames {
  #last = { provider: '', modelId: '', name: '/' };

  join({ provider, modelId }: PricedModel): string {
    if (this.#last.provider !== provider || this.#last.modelId !== modelId)
      this.#last = { provider, modelId, name: `${provider}/${modelId}` };
    return this.#last.name;
  }
}

const asksForContext = (tool: Tool): boolean => tool.type === 'function' && tool.needsContext === true;

type Criteria = readonly ContinuationCriterion<never>[];

/** Checks the options and prepares what every step needs. `listCriteria` names all criteria, given those of the host and of capabilities. */
export function toSetup<State extends ToolUseState>(
  name: string,
  options: AnyToolUseOptions<State>,
  listCriteria: (own: Criteria) => readonly string[] = (own) => own.map((criterion) => criterion.name),
): Omit<Setup, 'define'> {
  const { output, driver = toolCallingDriver(), price, limits, toolConcurrency, capabilities = [] } = options;
  const { tools, instructions, criteria, ...given } = addCapabilities(
    { ...options, criteria: options.onlyCriteria ?? options.criteria },
    capabilities,
  );
  const hooks = given.hooks.length === 0 ? given.hooks : numberHooks(given.hooks, listCriteria(criteria));
  const set: ToolSet<unknown> = ToolSet.from(tools);
  const watchesCost = price !== undefined || limits?.costUsd !== undefined;
  return {
    name,
    model: toModel(options),
    row: toRow([options.model, ...(options.fallback ?? [])]),
    settings: options.settings ?? {},
    tools: set,
    offered: set.schemas(),
    toolNames: set.names,
    // Holds, here and below: an orchestrator only runs states of its own kind, with the context that its parts need.
    instructions: instructions as readonly Instructions<unknown, ToolUseState>[],
    hooks: createChain({ name, hooks, price, watchesCost }),
    capabilities,
    criteria: [...criteria, ...hooks.flatMap(({ guard }) => guard ?? [])] as Setup['criteria'],
    output: output === undefined ? undefined : toAnswerSchema(output),
    driver,
    price,
    watchesCost,
    onUnknown: options.onUnknown ?? 'tell',
    toolConcurrency,
    isStreaming: options.streaming ?? true,
    systemMessage: createSystemMessages(),
    names: new ModelNames(),
    needsContext: options.context !== undefined || tools.some(asksForContext) || hooks.some(({ needsContext }) => needsContext),
  };
}
