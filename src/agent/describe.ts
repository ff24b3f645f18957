import type { ErrorPolicy } from '../errors/index.ts';
import type { HookChange, HookPoint } from '../hooks/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { Rules, Setup, ToolUseLimits, ToolUseOrchestrator } from '../tool-use/index.ts';
import type { Tool, Tools } from '../tools/index.ts';
import { ToolSet } from '../tools/index.ts';

/** Summary of a tool in an agent's description. */
export interface ToolSummary {
  readonly name: string;
  readonly description?: string;
  /** Kind of tool: run by the agent, by the client, as a nested run, or by the provider. */
  readonly type: Tool['type'];
  /** True, or `by-arguments`, if a person has to approve. */
  readonly needsApproval?: true | 'by-arguments';
  /** Capability that added it; absent for the agent's own. */
  readonly from?: string;
}

/** Summary of a hook in an agent's description. */
export interface HookSummary {
  readonly name: string;
  readonly order: number;
  readonly points: readonly HookPoint[];
  readonly changes: readonly HookChange[];
  readonly from?: string;
}

/** Description of an agent. Plain data. */
export interface AgentDescription {
  readonly id: string;
  readonly version?: string;
  readonly fingerprint: string;
  /** As `provider/model`. */
  readonly model: string;
  readonly driver: string;
  /** Fixed instructions; those created for each step are only counted. */
  readonly instructions: { readonly text: string; readonly madeForEachStep: number };
  readonly tools: readonly ToolSummary[];
  /** In the order in which they are called. */
  readonly hooks: readonly HookSummary[];
  /** In the order in which they are asked. */
  readonly criteria: readonly string[];
  readonly limits: ToolUseLimits;
  /** Handling of failures. */
  readonly errors: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly { readonly name: string; readonly description?: string }[];
  /** True if the final answer has a schema. */
  readonly hasOutput: boolean;
}

interface Parts {
  readonly orchestrator: Pick<ToolUseOrchestrator, 'id' | 'version' | 'fingerprint'>;
  readonly setup: Setup;
  readonly rules: Pick<Rules<never>, 'limits'>;
  readonly policy: ErrorPolicy;
  readonly criteria: readonly string[];
}

type Capabilities = Setup['capabilities'];

const listNames = (tools: Tools | undefined): readonly string[] => (tools === undefined ? [] : ToolSet.from(tools).names);

function describeTool(tool: Tool, capabilities: Capabilities): ToolSummary {
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
export function describeAgent({ orchestrator, setup, rules, policy, criteria }: Parts): AgentDescription {
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
    hooks: (hooks?.hooks ?? []).map(({ name, order, points, changes, handlers }) => {
      // A hook may have got a number; its handlers are the same.
      const from = capabilities.find((each) => each.hooks?.some((hook) => hook.handlers === handlers) === true)?.name;
      return omitUndefined({ name, order, points, changes, from });
    }),
    criteria,
    limits: rules.limits,
    errors: policy.toJSON(),
    capabilities: capabilities.map(({ name, description }) => omitUndefined({ name, description })),
    hasOutput: output !== undefined,
  });
}
