import type { Agent, AnyAgent } from '../../agent/index.ts';
import { AgentState } from '../../agent/index.ts';
import type { Capability } from '../../hooks/index.ts';
import { InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { Participant } from '../participant.ts';
import { checkParticipant, infoOf } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import type { Inner } from '../run-inside.ts';
import { speakByRun } from '../run-inside.ts';

type Taking<Given> = Given extends Agent<infer Types> ? (context: Types['context']) => void : never;

/** What an agent needs as its context; of several, what each of them needs. */
export type ContextOfAgent<Given> = [Taking<Given>] extends [(context: infer Context) => void] ? Context : unknown;

/** What an agent that takes part is made from. */
export interface AgentParticipantOptions<Given extends AnyAgent = AnyAgent> {
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

interface SeatOptions {
  readonly name: string;
  readonly description?: string;
  readonly context?: ((outer: never) => unknown) | undefined;
}

const isAgent = (given: unknown): given is AnyAgent =>
  isRecord(given) && typeof given['run'] === 'function' && typeof given['fingerprint'] === 'string' && isRecord(given['states']);

function checkedAgent(given: unknown, maker: string): AnyAgent {
  if (isAgent(given)) return given;
  throw new InvalidArgumentError(`${maker}() needs an agent, as createAgent() makes.`);
}

const innerOf = (agent: AnyAgent): Inner<AgentState> => ({
  orchestrator: 'agent',
  empty: (options) => AgentState.empty(options),
  restore: (stored) => AgentState.fromJSON(stored),
  run: (state, options) => agent.run(state, options),
});

/** An agent in its place, made anew with the equipment of each turn where there is any. */
export function seatOfAgent(options: SeatOptions, makeAgent: (equipment: Capability | undefined) => unknown, maker: string): Participant {
  const { name, description, context } = options;
  if (context !== undefined && typeof context !== 'function')
    throw new InvalidArgumentError(`${maker}() needs a function as context, which makes the agent's context of the conversation's.`);
  const info = infoOf({ name, kind: ParticipantKind.Agent, ...(description !== undefined && { description }) });
  return {
    ...info,
    join: ({ watchesCost, price, sample }) => {
      const own = checkedAgent(makeAgent(sample(name)), maker);
      return {
        ...info,
        needsContext: own.needsContext && context === undefined,
        configuration: { ...info, agent: own.id, fingerprint: own.fingerprint },
        toolNames: own.describe().tools.map((tool) => tool.name),
        checkArgs: (toolName, args, inside) => own.checkArgs(toolName, args, inside),
        speak: (turn) =>
          speakByRun(turn, innerOf(turn.equipment === undefined ? own : checkedAgent(makeAgent(turn.equipment), maker)), {
            name,
            kind: info.kind,
            price,
            context: context === undefined ? turn.scope.context : context(turn.scope.context as never),
            watchesCost,
          }),
      };
    },
  };
}

/** An agent that takes part. Each of its turns is a conversation of its own, linked by `parentAgentId`, that begins with what was said. */
export function agentParticipant<Given extends AnyAgent, Outer>(
  options: AgentParticipantOptions<Given> & WithContext<Outer, ContextOfAgent<Given>>,
): Participant<NoInfer<Outer>>;
export function agentParticipant<Given extends AnyAgent>(
  options: AgentParticipantOptions<Given> & { readonly context?: undefined },
): Participant<NoInfer<ContextOfAgent<Given>>>;
export function agentParticipant(
  options: AgentParticipantOptions & { readonly context?: ((outer: never) => unknown) | undefined },
): Participant<never> {
  checkParticipant('agentParticipant', options, ['agent', 'context']);
  const agent = checkedAgent(options.agent, 'agentParticipant');
  return { ...seatOfAgent(options, () => agent, 'agentParticipant'), takesEquipment: false };
}
