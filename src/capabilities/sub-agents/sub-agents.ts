// Sub-agents: an agent hands a task to another one, and reads the result.
// Owns:     the tool for it, and the way of a task into a conversation of its own and back.
// Does not: run anything itself: the task is a run inside the call.
// A1. One budget: tokens, cost and time spent inside count outside at once, and what ends the outer run ends the inner one.
// A2. Waits inside are waits at the top, under an id that leads back.
// A3. A task that did not complete returns what it has, and says so.
import type { Agent } from '../../agent/index.ts';
import { AgentState } from '../../agent/index.ts';
import { ToolFailedError } from '../../errors/index.ts';
import type { Capability } from '../../hooks/index.ts';
import { defineAnyCapability } from '../../hooks/index.ts';
import type { Json } from '../../lib/index.ts';
import { findKeyProblem, InvalidArgumentError, isRecord, omitUndefined, readJson } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import { withInnerName } from '../../step-by-step/index.ts';
import type { NestedHost, NestedResult } from '../../tool-use/index.ts';
import { checkOptions, defineNestedTool, optionRule, withAnswers, withAsker, withoutGrants } from '../../tool-use/index.ts';
import type { NestedTool } from '../../tools/index.ts';
import { clipText } from '../../tools/index.ts';

/** An agent that tasks can be handed to. */
export interface SubAgent {
  /** The agent, or a function that returns it if agents refer to each other. */
  readonly agent: Agent | (() => Agent);
  /** Purpose of the sub-agent, for the model that chooses. */
  readonly description: string;
  /** Maps the context of the outer run to its own. @default the same context */
  readonly context?: (outer: unknown) => unknown;
}

/** Options of sub-agents. */
export interface SubAgentsOptions {
  /** By the names under which the model knows them. */
  readonly agents: Readonly<Record<string, SubAgent>>;
  /** Number of runs that may be nested. @default 3 */
  readonly maxDepth?: number;
  /** Number of characters of an answer that the model reads. @default 8000 */
  readonly maxTextLength?: number;
  /** Called with the conversation of each task when it has ended; to store it, for instance. */
  readonly onEnd?: (state: AgentState, name: string) => void;
}

/** Result of a task. */
export interface SubAgentResult {
  readonly text: string;
  readonly stop_reason: string;
  /** True if it did not complete by itself. */
  readonly partial: boolean;
  /** Calls that it made before it ended, if it did not complete by itself, such as `pay({"amount":5})`. */
  readonly done?: readonly string[];
  /** The problem, if it failed. */
  readonly error?: string;
  /** The answer as data, if the agent has an output schema. */
  readonly output?: Json;
}

interface Task {
  readonly subagent: string;
  readonly prompt: string;
}

/** The capability's tools, by name. */
export interface SubAgentTools extends Readonly<Record<string, NestedTool<Task, SubAgentResult, NestedHost>>> {
  readonly spawn_subagent: NestedTool<Task, SubAgentResult, NestedHost>;
}

const rules = {
  agents: [
    (value: unknown) => isRecord(value) && Object.keys(value).length > 0,
    'an object with at least one agent by name, such as { researcher: { agent, description } }',
  ],
  maxDepth: optionRule.count,
  maxTextLength: optionRule.count,
  onEnd: optionRule.callback,
} as const;
const getAgent = ({ agent }: SubAgent): Agent => (typeof agent === 'function' ? agent() : agent);
const isAgent = (value: unknown): boolean =>
  typeof value === 'function' || (isRecord(value) && typeof value['run'] === 'function' && typeof value['fingerprint'] === 'string');

function findEntryProblem(name: string, each: unknown): string | undefined {
  if (!/^[a-z][a-z0-9_-]*$/i.test(name))
    return `cannot use ${JSON.stringify(name)} as the name of an agent. Use letters, digits, "-" and "_", and start with a letter.`;
  if (!isRecord(each) || !isAgent(each['agent'])) return `needs an agent as agents.${name}.agent. Create it with createAgent().`;
  const unknown = findKeyProblem(`agents.${name} of subAgents()`, each, ['agent', 'description', 'context']);
  if (unknown !== undefined) throw new InvalidArgumentError(unknown);
  return typeof each['description'] === 'string' && each['description'] !== ''
    ? undefined
    : `needs a string as agents.${name}.description: the model chooses an agent by its description.`;
}

// What has happened or may have happened inside must be known outside, or it would be done twice.
function listDone({ steps }: AgentState): readonly string[] {
  return steps
    .flatMap(({ executions }) => executions.filter(({ status }) => status === 'succeeded'))
    .map(({ toolName, args }) => `${toolName}(${clipText(JSON.stringify(args), 200)})`);
}

function describeUnknownCalls({ steps }: AgentState): string | undefined {
  const names = steps.flatMap(({ executions }) =>
    executions.filter(({ status }) => status === 'unknown').map(({ toolName }) => `"${toolName}"`),
  );
  if (names.length === 0) return undefined;
  return `The call of ${names.join(', ')} was cut off, and may or may not have taken effect: find out before it is repeated.`;
}

/** Describes the failure that ended a task; a failed tool is named. */
function describeFirstFailure({ errors: [failure] }: AgentState): string | undefined {
  if (failure?.toolName === undefined || failure.message.includes(failure.toolName)) return failure?.message;
  return `"${failure.toolName}" failed: ${failure.message}`;
}

function toResult(state: AgentState, maxTextLength: number): SubAgentResult {
  const { status, text, stopReason = 'completed', output } = state;
  const reason =
    status === 'failed' ? state.lastContinuationOutcome?.evaluations.find(({ decision }) => decision === 'forbid')?.reason : undefined;
  const error =
    status === 'completed'
      ? undefined
      : [describeUnknownCalls(state), describeFirstFailure(state) ?? reason].filter((text) => text !== undefined).join(' ');
  const done = status === 'completed' ? [] : listDone(state);
  return omitUndefined({
    text: clipText(text, maxTextLength),
    stop_reason: stopReason,
    partial: status !== 'completed',
    done: done.length === 0 ? undefined : done.slice(-50),
    error: error === undefined || error === '' ? undefined : clipText(error, maxTextLength),
    output,
  });
}

const taskSchema = (names: readonly string[]) =>
  ({
    type: 'object',
    properties: { subagent: { type: 'string', enum: names }, prompt: { type: 'string', minLength: 1 } },
    required: ['subagent', 'prompt'],
    additionalProperties: false,
  }) as const;

/** Lets an agent hand tasks to others, by the tool `spawn_subagent`. Each task is a conversation of its own. */
export function subAgents(options: SubAgentsOptions): Capability<SubAgentTools, RunState, unknown> {
  checkOptions('subAgents()', options, { rules, required: ['agents'] });
  const { agents, maxDepth = 3, maxTextLength = 8000, onEnd } = options;
  for (const [name, each] of Object.entries(agents)) {
    const problem = findEntryProblem(name, each);
    if (problem !== undefined) throw new InvalidArgumentError(`subAgents() ${problem}`);
  }
  const names = Object.keys(agents);
  const list = names.map((name) => `- ${name}: ${agents[name]?.description ?? ''}`).join('\n');

  const run = async (task: Task, host: NestedHost): Promise<NestedResult> => {
    const chosen = agents[task.subagent];
    if (chosen === undefined) throw new ToolFailedError(`Unknown sub-agent "${task.subagent}". Use one of ${names.join(', ')}.`);
    if (host.outer.depth > maxDepth)
      throw new ToolFailedError(`Sub-agents may be nested ${maxDepth} deep, and this would be one level deeper. Do the task yourself.`, {
        retryable: true,
      });
    const agent = getAgent(chosen);
    const context = chosen.context === undefined ? host.context : chosen.context(host.context);
    const { ids, clock, memo, outer } = host;
    const start =
      memo === undefined
        ? AgentState.empty({ ids, clock, parentAgentId: host.state.agentId }).withUserMessage(task.prompt, { ids })
        : withAnswers(AgentState.fromJSON(memo), host.answers);
    const state = withoutGrants(await agent.run(start, { context, inside: withInnerName(outer, task.subagent) }));
    if (state.waitingFor.length > 0) {
      const waits = state.waitingFor.map((wait) => withAsker(wait, task.subagent));
      return { type: 'waiting', waits, memo: readJson(state.toJSON(), '') };
    }
    try {
      onEnd?.(state, task.subagent);
    } catch (error) {
      host.report(error, 'onEnd of subAgents()');
    }
    return { type: 'ended', value: toResult(state, maxTextLength) };
  };

  const spawn = defineNestedTool<SubAgentResult, ReturnType<typeof taskSchema>>({
    name: 'spawn_subagent',
    description: [
      'Hands a task to another agent, which works on it by itself and gives back its answer.',
      'It knows nothing of this conversation: put all that it needs into the prompt.',
      'Call it several times at once for tasks that do not depend on each other. The agents are:',
      list,
    ].join('\n'),
    input: taskSchema(names),
    run,
    checkInner: async (toolName, args, path) => {
      const [name = '', ...inside] = path.split('/');
      const chosen = agents[name];
      if (chosen === undefined) return `There is no sub-agent named "${name}".`;
      return getAgent(chosen).checkArgs(toolName, args, inside.length === 0 ? undefined : inside.join('/'));
    },
  });
  return defineAnyCapability({
    name: 'sub-agents',
    description: `Hands tasks to ${names.join(', ')}.`,
    tools: { spawn_subagent: spawn },
  });
}
