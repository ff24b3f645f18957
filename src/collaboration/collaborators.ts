// Collaborators: the participants of a chat, equipped with a board.
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

/** Input of a collaborator who is not a model: words, or a whole contribution. */
export type ContributionInput = string | Contribution;

/** Creates a collaborator from a model, with the tools of the board in addition to its own. */
export function llmCollaborator<Context = unknown, const Given extends Tools = readonly []>(
  options: LlmParticipantOptions<Context, Given>,
): Participant<NoInfer<Context & ContextNeeded<Given>>> {
  return llmParticipant(options);
}

/** Tools and instructions of the board, for one turn. */
export type BoardCapability = Capability<readonly [], RunState, unknown>;

/** Options of an agent that collaborates. */
export interface AgentCollaboratorOptions extends Omit<AgentParticipantOptions, 'agent'> {
  /** Maps the context of the conversation to that of the agent. @default the same context */
  readonly context?: (outer: never) => unknown;
  /** Creates the agent for one turn: put `board` among its capabilities. */
  readonly agent: (board: BoardCapability) => Agent;
}

const isAgent = (given: unknown): boolean => isRecord(given) && typeof given['describe'] === 'function';

/** Creates the agent with the board of a turn; without it the agent could neither read nor write, and nobody would know why. */
function withBoard({ name, agent }: AgentCollaboratorOptions, board: Capability | undefined): Agent {
  // Holds: the tools of the board are put in by their names, and read no state.
  const made = agent(board as BoardCapability);
  // A value that is not an agent is refused when agents are checked.
  const isThere = !isAgent(made) || made.describe().capabilities.some((each) => each.name === board?.name);
  if (isThere) return made;
  throw new InvalidArgumentError(
    `agentCollaborator(): the agent of ${name} lacks the board. Use (board) => createAgent({ …, capabilities: [board] }).`,
  );
}

/** Creates a collaborator from an agent, which is created again for each turn, with the board of that turn. */
export function agentCollaborator(options: AgentCollaboratorOptions): Participant {
  checkParticipant('agentCollaborator()', options, ['agent', 'context']);
  const { agent } = options;
  if (typeof agent !== 'function')
    throw new InvalidArgumentError(
      'agentCollaborator(): agent must be a function. Use (board) => createAgent({ …, capabilities: [board] }).',
    );
  return createAgentParticipant(options, (board) => withBoard(options, board), 'agentCollaborator()');
}

/** Creates a collaborator for a person. */
export function humanCollaborator(options: HumanParticipantOptions<ContributionInput, CollaborationState>): Participant {
  return createHumanParticipant('humanCollaborator()', options);
}

/** Creates a collaborator that makes the given contributions in order. */
export function scriptedCollaborator(options: ScriptedParticipantOptions<ContributionInput>): Participant {
  return createScriptedParticipant('scriptedCollaborator()', options, (said) => typeof said === 'string' || isRecord(said));
}

/** Creates a collaborator that contributes through a function of the host. */
export function functionCollaborator<Context = unknown>(
  options: FunctionParticipantOptions<Context, ContributionInput, CollaborationState>,
): Participant<NoInfer<Context>> {
  return createFunctionParticipant('functionCollaborator()', options);
}
