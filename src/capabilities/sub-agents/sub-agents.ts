// Sub-agents: an agent hands a task to another one, and reads what came of it.
// Owns:     the tool by which that is done, and the way of a task into a conversation of its own and back.
// Does not: run anything itself: the task is a run inside the call.
// A1. One budget: tokens, cost and time spent inside count outside at once, and what ends the outer run ends the inner one.
// A2. Whoever is asked inside is asked at the top, under an id that leads back.
// A3. A task that did not come to its end gives what it has, and says so.
import type { Agent } from '../../agent/index.ts';
import { AgentState } from '../../agent/index.ts';
import { ToolFailedError } from '../../errors/index.ts';
import type { Capability } from '../../hooks/index.ts';
import { defineAnyCapability } from '../../hooks/index.ts';
import type { Json } from '../../lib/index.ts';
import { assertNever, checkKeys, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { RunState, Wait } from '../../step-by-step/index.ts';
import type { NestedHost, NestedResult } from '../../tool-use/index.ts';
import { defineNestedTool } from '../../tool-use/index.ts';
import type { NestedTool } from '../../tools/index.ts';
import { clipText } from '../../tools/index.ts';

/** An agent that tasks can be handed to. */
export interface SubAgent {
  /** A function where the agents refer to each other. */
  readonly agent: Agent | (() => Agent);
  /** What it is good for, in words for the model that chooses. */
  readonly description: string;
  /** What it is given as its context. @default the context of the run around it */
  readonly context?: (outer: unknown) => unknown;
}

/** What sub-agents are made from. */
export interface SubAgentsOptions {
  /** By the names under which the model knows them. */
  readonly agents: Readonly<Record<string, SubAgent>>;
  /** How many runs may stand inside one another. @default 3 */
  readonly maxDepth?: number;
  /** How many characters of an answer the model reads. @default 8000 */
  readonly maxTextLength?: number;
  /** Sees the conversation of each task when it has ended; to keep it, for instance. */
  readonly onEnd?: (state: AgentState, name: string) => void;
}

/** What came of a task. */
export interface SubAgentResult {
  readonly text: string;
  readonly stop_reason: string;
  /** True where it did not come to its end by itself. */
  readonly partial: boolean;
  /** What went wrong, where it failed. */
  readonly error?: string;
  /** The answer as data, where the agent's answers have a form. */
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

const knownOptions: readonly string[] = ['agents', 'maxDepth', 'maxTextLength', 'onEnd'];
const isCount = (given: unknown): boolean => given === undefined || (typeof given === 'number' && Number.isInteger(given) && given > 0);
const isAgent = (given: unknown): boolean =>
  typeof given === 'function' || (isRecord(given) && typeof given['run'] === 'function' && typeof given['fingerprint'] === 'string');

function findProblem(options: Readonly<Record<string, unknown>>): string | undefined {
  const { agents, maxDepth, maxTextLength, onEnd } = options;
  checkKeys('subAgents()', options, { known: knownOptions });
  if (!isRecord(agents) || Object.keys(agents).length === 0)
    return 'needs at least one agent: { agents: { name: { agent, description } } }.';
  if (!isCount(maxDepth) || !isCount(maxTextLength)) return 'needs whole numbers above 0 as maxDepth and maxTextLength.';
  if (onEnd !== undefined && typeof onEnd !== 'function') return 'needs a function as onEnd.';
  return Object.entries(agents)
    .map(([name, each]) => entryProblem(name, each))
    .find((problem) => problem !== undefined);
}

function entryProblem(name: string, each: unknown): string | undefined {
  if (!/^[a-z][a-z0-9_-]*$/i.test(name)) return `cannot use the name ${JSON.stringify(name)}: letters, digits, - and _, a letter first.`;
  if (!isRecord(each) || !isAgent(each['agent'])) return `needs an agent under agents.${name}.agent, as createAgent() makes.`;
  return typeof each['description'] === 'string' && each['description'] !== ''
    ? undefined
    : `needs words under agents.${name}.description: the model chooses by them.`;
}

// A limit inside that could be raised ends the task: whoever is outside raises the limits outside.
function withoutGrants(state: AgentState): AgentState {
  const awaited = state.waitingFor.find(({ type }) => type === 'grant');
  // Refusing one refuses all.
  return awaited === undefined ? state : state.reject(awaited.id, 'nobody raises the limits of a run inside another');
}

function begun(task: Task, { ids, clock, state }: NestedHost): AgentState {
  return AgentState.empty({ ids, clock, parentAgentId: state.agentId }).withUserMessage(task.prompt, { ids });
}

function answered({ memo, answers }: NestedHost): AgentState {
  return answers.reduce((state, answer) => {
    switch (answer.type) {
      case 'approved':
        return state.approve(answer.id, answer.args === undefined ? {} : { args: answer.args });
      case 'rejected':
        return state.reject(answer.id, answer.reason);
      case 'answered':
        return state.answer(answer.id, answer.value);
      default:
        return assertNever(answer);
    }
  }, AgentState.fromJSON(memo));
}

// What may have happened inside must be known outside, or it would be done twice.
function unknownCalls({ steps }: AgentState): string | undefined {
  const names = steps.flatMap(({ executions }) =>
    executions.filter(({ status }) => status === 'unknown').map(({ toolName }) => `"${toolName}"`),
  );
  if (names.length === 0) return undefined;
  return `The call of ${names.join(', ')} was cut off, and may or may not have taken effect: find out before it is repeated.`;
}

function resultOf(state: AgentState, maxTextLength: number): SubAgentResult {
  const { status, text, stopReason = 'completed', errors, output } = state;
  const reason =
    status === 'failed' ? state.continuationOutcome?.evaluations.find(({ decision }) => decision === 'forbid')?.reason : undefined;
  const error =
    status === 'completed' ? undefined : [unknownCalls(state), errors[0]?.message ?? reason].filter((text) => text !== undefined).join(' ');
  return {
    text: clipText(text, maxTextLength),
    stop_reason: stopReason,
    partial: status !== 'completed',
    ...(error !== undefined && error !== '' && { error: clipText(error, maxTextLength) }),
    ...(output !== undefined && { output }),
  };
}

const taskSchema = (names: readonly string[]) =>
  ({
    type: 'object',
    properties: { subagent: { type: 'string', enum: names }, prompt: { type: 'string', minLength: 1 } },
    required: ['subagent', 'prompt'],
    additionalProperties: false,
  }) as const;

/** A wait as whoever is outside sees it: with the name of who asks. */
const askedBy =
  (name: string) =>
  (wait: Wait): Wait => ({ ...wait, agent: wait.agent === undefined ? name : `${name}/${wait.agent}` });

/** Lets an agent hand tasks to others, by the tool `spawn_subagent`. Each task is a conversation of its own. */
export function subAgents(options: SubAgentsOptions): Capability<SubAgentTools, RunState, unknown> {
  const given: unknown = options;
  const problem = isRecord(given) ? findProblem(given) : 'needs options: { agents: { name: { agent, description } } }.';
  if (problem !== undefined) throw new InvalidArgumentError(`subAgents() ${problem}`);
  const { agents, maxDepth = 3, maxTextLength = 8000, onEnd } = options;
  const names = Object.keys(agents);
  const list = names.map((name) => `- ${name}: ${agents[name]?.description ?? ''}`).join('\n');

  const run = async (task: Task, host: NestedHost): Promise<NestedResult> => {
    const chosen = agents[task.subagent];
    if (chosen === undefined) throw new ToolFailedError(`There is no sub-agent "${task.subagent}"; there are ${names.join(', ')}.`);
    if (host.outer.depth > maxDepth)
      throw new ToolFailedError(`Sub-agents may stand ${maxDepth} deep, and this would be one deeper. Do the task yourself.`, {
        retryable: true,
      });
    const agent = typeof chosen.agent === 'function' ? chosen.agent() : chosen.agent;
    const context = chosen.context === undefined ? host.context : chosen.context(host.context);
    const start = host.memo === undefined ? begun(task, host) : answered(host);
    const state = withoutGrants(await agent.run(start, { context, inside: host.outer }));
    if (state.waitingFor.length > 0)
      return { type: 'waiting', waits: state.waitingFor.map(askedBy(task.subagent)), memo: state.toJSON() as Json };
    try {
      onEnd?.(state, task.subagent);
    } catch (error) {
      host.report(error, 'onEnd of subAgents()');
    }
    return { type: 'ended', value: resultOf(state, maxTextLength) };
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
  });
  return defineAnyCapability({
    name: 'sub-agents',
    description: `Hands tasks to ${names.join(', ')}.`,
    tools: { spawn_subagent: spawn },
  });
}
