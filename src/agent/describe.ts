import type { HookChange, HookPoint } from '../hooks/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { Rules, Setup, ToolUseLimits, ToolUseOrchestrator } from '../tool-use/index.ts';
import type { Tool, Tools } from '../tools/index.ts';
import { ToolSet } from '../tools/index.ts';

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

interface Parts {
  readonly orchestrator: Pick<ToolUseOrchestrator, 'id' | 'version' | 'fingerprint'>;
  readonly setup: Setup;
  readonly rules: Pick<Rules<never>, 'limits' | 'policy'>;
  readonly criteria: readonly string[];
}

type Capabilities = Setup['capabilities'];

const listNames = (tools: Tools | undefined): readonly string[] => (tools === undefined ? [] : ToolSet.from(tools).names);

function describeTool(tool: Tool, capabilities: Capabilities): DescribedTool {
  const gate = tool.type === 'function' && tool.needsApproval;
  return omitUndefined({
    name: tool.name,
    description: tool.type === 'provider' ? undefined : tool.description,
    type: tool.type,
    needsApproval: gate === false ? undefined : gate === true ? gate : ('by-arguments' as const),
    from: capabilities.find(({ tools }) => listNames(tools).includes(tool.name))?.name,
  });
}

/** Describes an agent as plain data. */
export function describeAgent({ orchestrator, setup, rules, criteria }: Parts): AgentDescription {
  const { id, version, fingerprint } = orchestrator;
  const { model, driver, instructions, tools, hooks, capabilities, output } = setup;
  const words = instructions.filter((each) => typeof each === 'string');
  return omitUndefined({
    id,
    version,
    fingerprint,
    model: `${model.provider}/${model.modelId}`,
    driver: driver.name,
    instructions: { text: words.join('\n\n'), madeForEachStep: instructions.length - words.length },
    tools: tools.names.flatMap((name) => tools.get(name) ?? []).map((tool) => describeTool(tool, capabilities)),
    hooks: (hooks?.hooks ?? []).map(({ name, order, points, changes }) => {
      const from = capabilities.find((each) => each.hooks?.some((hook) => hook.name === name) === true)?.name;
      return omitUndefined({ name, order, points, changes, from });
    }),
    criteria,
    limits: rules.limits,
    errors: rules.policy.toJSON(),
    capabilities: capabilities.map(({ name, description }) => omitUndefined({ name, description })),
    hasOutput: output !== undefined,
  });
}
