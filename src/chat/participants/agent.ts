import type { Agent } from '../../agent/index.ts';
import type { Capability } from '../../hooks/index.ts';
import type { Callback } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { InferContext } from '../../step-by-step/index.ts';
import type { Participant, ParticipantOptions } from '../participant.ts';
import { checkParticipant } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import { createRunParticipant } from './by-run.ts';

/** Options of an agent that takes part. */
export interface AgentParticipantOptions<Given extends Agent = Agent> extends ParticipantOptions {
  readonly agent: Given;
}

interface WithContext<Outer, Context> {
  /** Maps the context of the conversation to that of the agent. @default the same context */
  readonly context: (outer: Outer) => Context;
}

interface AnyAgentParticipantOptions extends ParticipantOptions {
  readonly context?: Callback<[outer: unknown], unknown> | undefined;
}

function assertAgent(given: unknown, maker: string): void {
  if (isRecord(given) && typeof given['run'] === 'function' && typeof given['describe'] === 'function' && isRecord(given['states'])) return;
  throw new InvalidArgumentError(`${maker} needs an agent, not ${describeValue(given)}. Create it with createAgent().`);
}

/** Creates a participant of an agent, which is created for each turn that has equipment. */
export function createAgentParticipant(
  options: AnyAgentParticipantOptions,
  createAgent: (equipment: Capability | undefined) => Agent,
  maker: string,
): Participant {
  const { context } = options;
  if (context !== undefined && typeof context !== 'function')
    throw new InvalidArgumentError(
      `${maker}: context must be a function that maps the context of the conversation to that of the agent, not ${describeValue(context)}.`,
    );
  return createRunParticipant(ParticipantKind.Agent, options, {
    toContext: context,
    configuration: ({ id }) => ({ agent: id }),
    create: (equipment) => {
      const agent = createAgent(equipment);
      assertAgent(agent, maker);
      return agent;
    },
  });
}

/** Creates a participant from an agent. Each of its turns is a conversation of its own, linked by `parentAgentId`, that begins with what was said. */
export function agentParticipant<Given extends Agent, Outer>(
  options: AgentParticipantOptions<Given> & WithContext<Outer, InferContext<Given>>,
): Participant<NoInfer<Outer>>;
export function agentParticipant<Given extends Agent>(
  options: AgentParticipantOptions<Given> & { readonly context?: undefined },
): Participant<NoInfer<InferContext<Given>>>;
export function agentParticipant(options: AgentParticipantOptions & Pick<AnyAgentParticipantOptions, 'context'>): Participant<never> {
  checkParticipant('agentParticipant()', options, ['agent', 'context']);
  assertAgent(options.agent, 'agentParticipant()');
  return { ...createAgentParticipant(options, () => options.agent, 'agentParticipant()'), takesEquipment: false };
}
