import type { Agent } from '../../agent/index.ts';
import type { Capability } from '../../hooks/index.ts';
import { InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { InferContext } from '../../step-by-step/index.ts';
import type { Participant } from '../participant.ts';
import { checkParticipant, toInfo } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import { createRunParticipant } from './by-run.ts';

/** What an agent that takes part is made from. */
export interface AgentParticipantOptions<Given extends Agent = Agent> {
  /** Letters, digits, "_", "-" or "."; others address it by this name. */
  readonly name: string;
  /** What it is good for, in words for whoever chooses. */
  readonly description?: string;
  readonly agent: Given;
}

/** Makes the context of an agent of that of the conversation. */
interface WithContext<Outer, Context> {
  /** What it is given as its context. @default the context of the conversation */
  readonly context: (outer: Outer) => Context;
}

interface AnyAgentParticipantOptions {
  readonly name: string;
  readonly description?: string;
  readonly context?: ((outer: never) => unknown) | undefined;
}

function assertAgent(given: unknown, maker: string): void {
  if (isRecord(given) && typeof given['run'] === 'function' && typeof given['describe'] === 'function' && isRecord(given['states'])) return;
  throw new InvalidArgumentError(`${maker}() needs an agent, as createAgent() makes.`);
}

/** Creates a participant of an agent, which is created for each turn that has equipment. */
export function createAgentParticipant(
  { name, description, context }: AnyAgentParticipantOptions,
  createAgent: (equipment: Capability | undefined) => Agent,
  maker: string,
): Participant {
  if (context !== undefined && typeof context !== 'function')
    throw new InvalidArgumentError(`${maker}() needs a function as context, which makes the agent's context of the conversation's.`);
  return createRunParticipant(toInfo({ name, kind: ParticipantKind.Agent, description }), {
    toContext: context,
    configuration: ({ id }) => ({ agent: id }),
    create: (equipment) => {
      const agent = createAgent(equipment);
      assertAgent(agent, maker);
      return agent;
    },
  });
}

/** An agent that takes part. Each of its turns is a conversation of its own, linked by `parentAgentId`, that begins with what was said. */
export function agentParticipant<Given extends Agent, Outer>(
  options: AgentParticipantOptions<Given> & WithContext<Outer, InferContext<Given>>,
): Participant<NoInfer<Outer>>;
export function agentParticipant<Given extends Agent>(
  options: AgentParticipantOptions<Given> & { readonly context?: undefined },
): Participant<NoInfer<InferContext<Given>>>;
export function agentParticipant(options: AgentParticipantOptions & Pick<AnyAgentParticipantOptions, 'context'>): Participant<never> {
  checkParticipant('agentParticipant', options, ['agent', 'context']);
  assertAgent(options.agent, 'agentParticipant');
  return { ...createAgentParticipant(options, () => options.agent, 'agentParticipant'), takesEquipment: false };
}
