import type { ContinuationCriteria } from '../continuation/index.ts';
import type { HookChange, HookPoint } from '../hooks/index.ts';
import type { Rules, Setup, ToolUseLimits } from '../tool-use/index.ts';
import type { Tool, Tools } from '../tools/index.ts';
import { ToolSet } from '../tools/index.ts';
import type { AgentState } from './agent-state.ts';

/** A tool as a description lists it. */
export interface DescribedTool {
  readonly name: string;
  readonly description?: string;
  /** Who carries it out: the agent here, somebody outside, a run of its own, or the provider. */
  readonly type: Tool['type'];
  /** True, or `by-arguments`, where a person has to agree. */
  readonly needsApproval?: true | 'by-arguments';
  /** The capability that brought it; absent for the agent's own. */
  readonly from?: string;
}

/** A hook as a description lists it. */
export interface DescribedHook {
  readonly name: string;
  readonly order: number;
  readonly points: readonly HookPoint[];
  readonly changes: readonly HookChange[];
  readonly from?: string;
}

/** What an agent is made of. Plain data. */
export interface AgentDescription {
  readonly id: string;
  readonly version?: string;
  readonly fingerprint: string;
  /** As `provider/model`. */
  readonly model: string;
  readonly driver: string;
  /** The words that do not change; those that are made for each step are only counted. */
  readonly instructions: { readonly text: string; readonly madeForEachStep: number };
  readonly tools: readonly DescribedTool[];
  /** In the order in which they are called. */
  readonly hooks: readonly DescribedHook[];
  /** In the order in which they are asked. */
  readonly criteria: readonly string[];
  readonly limits: ToolUseLimits;
  /** How failures are handled. */
  readonly errors: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly { readonly name: string; readonly description?: string }[];
  /** True where the final answer has a form. */
  readonly hasOutput: boolean;
}

interface Parts<Context> {
  readonly id: string;
  readonly version: string | undefined;
  readonly fingerprint: string;
  readonly setup: Setup<Context>;
  readonly rules: Rules<AgentState>;
  readonly process: { readonly criteria: ContinuationCriteria<AgentState> };
}

type Brought = Setup<unknown>['capabilities'][number];

const namesIn = (tools: Tools | undefined): readonly string[] => (tools === undefined ? [] : ToolSet.from(tools).names);

function describedTool(tool: Tool, capabilities: readonly Brought[]): DescribedTool {
  const from = capabilities.find(({ tools }) => namesIn(tools).includes(tool.name))?.name;
  const gate = tool.type === 'function' ? tool.needsApproval : false;
  return {
    name: tool.name,
    ...(tool.type !== 'provider' && { description: tool.description }),
    type: tool.type,
    ...(gate !== false && { needsApproval: gate === true ? true : 'by-arguments' }),
    ...(from !== undefined && { from }),
  };
}

/** Lists what an agent is made of. */
export function describeAgent<Context>({ id, version, fingerprint, setup, rules, process }: Parts<Context>): AgentDescription {
  const { model, driver, instructions, tools, hooks, capabilities, output } = setup;
  const words = instructions.filter((each) => typeof each === 'string');
  return {
    id,
    ...(version !== undefined && { version }),
    fingerprint,
    model: `${model.provider}/${model.modelId}`,
    driver: driver.name,
    instructions: { text: words.join('\n\n'), madeForEachStep: instructions.length - words.length },
    tools: tools.names.flatMap((name) => tools.get(name) ?? []).map((tool) => describedTool(tool, capabilities)),
    hooks: (hooks?.hooks ?? []).map(({ name, order, points, changes }) => {
      const from = capabilities.find((each) => each.hooks?.some((hook) => hook.name === name) === true)?.name;
      return { name, order, points, changes, ...(from !== undefined && { from }) };
    }),
    criteria: process.criteria.names,
    limits: rules.limits,
    errors: rules.policy.toJSON(),
    capabilities: capabilities.map(({ name, description }) => ({ name, ...(description !== undefined && { description }) })),
    hasOutput: output !== undefined,
  };
}
