// Those who take part in a collaboration: the participants of a chat, with a board in their hands.
import type { Agent } from '../agent/index.ts';
import type {
  AgentParticipantOptions,
  FunctionParticipantOptions,
  HumanParticipantOptions,
  LlmParticipantOptions,
  Participant,
  ScriptedParticipantOptions,
} from '../chat/index.ts';
import {
  checkParticipant,
  createFunctionParticipant,
  createHumanParticipant,
  llmParticipant,
  createScriptedParticipant,
  createAgentParticipant,
} from '../chat/index.ts';
import type { Capability } from '../hooks/index.ts';
import { InvalidArgumentError, isRecord } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { ContextNeeded, Tools } from '../tools/index.ts';
import type { CollaborationState } from './collaboration-state.ts';
import type { Contribution } from './contribution.ts';

/** What somebody may say who is no model: words, or a whole contribution. */
export type ContributionInput = string | Contribution;

/** A model that works with the others; it has the tools of the board beside its own. */
export function llmCollaborator<Context = unknown, const Given extends Tools = readonly []>(
  options: LlmParticipantOptions<Context, Given>,
): Participant<NoInfer<Context & ContextNeeded<Given>>> {
  return llmParticipant(options);
}

/** The tools and the words of the board, for one turn. */
export type BoardCapability = Capability<readonly [], RunState, unknown>;

/** What an agent that works with the others is made from. */
export interface AgentCollaboratorOptions extends Omit<AgentParticipantOptions, 'agent'> {
  /** What it is given as its context. @default the context of the conversation */
  readonly context?: (outer: never) => unknown;
  /** Makes the agent for one turn: put `board` among its capabilities. */
  readonly agent: (board: BoardCapability) => Agent;
}

const isAgent = (given: unknown): boolean => isRecord(given) && typeof given['describe'] === 'function';

/** The agent with the board of a turn; one that left it out could neither read nor write it, and nobody would know why. */
function withBoard({ name, agent }: AgentCollaboratorOptions, board: Capability | undefined): Agent {
  // Holds: the tools of the board are put in by their names, and read no state.
  const made = agent(board as BoardCapability);
  // What is no agent is refused as such, where agents are checked.
  const isThere = !isAgent(made) || made.describe().capabilities.some((each) => each.name === board?.name);
  if (isThere) return made;
  throw new InvalidArgumentError(`agentCollaborator(): put the board into ${name}: (board) => createAgent({ …, capabilities: [board] }).`);
}

/** An agent that works with the others. It is made anew for each turn, with the board of that turn. */
export function agentCollaborator(options: AgentCollaboratorOptions): Participant {
  checkParticipant('agentCollaborator()', options, ['agent', 'context']);
  const { agent } = options;
  if (typeof agent !== 'function')
    throw new InvalidArgumentError('agentCollaborator() needs a function as agent: (board) => createAgent({ …, capabilities: [board] }).');
  return createAgentParticipant(options, (board) => withBoard(options, board), 'agentCollaborator()');
}

/** A person who works with the others. */
export function humanCollaborator(options: HumanParticipantOptions<ContributionInput, CollaborationState>): Participant {
  return createHumanParticipant('humanCollaborator()', options);
}

/** Somebody who contributes what was given, in turn. */
export function scriptedCollaborator(options: ScriptedParticipantOptions<ContributionInput>): Participant {
  return createScriptedParticipant('scriptedCollaborator()', options, (said) => typeof said === 'string' || isRecord(said));
}

/** A function of the host's that works with the others. */
export function functionCollaborator<Context = unknown>(
  options: FunctionParticipantOptions<Context, ContributionInput, CollaborationState>,
): Participant<NoInfer<Context>> {
  return createFunctionParticipant('functionCollaborator()', options);
}
