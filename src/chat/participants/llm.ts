import { defineAnyCapability } from '../../hooks/index.ts';
import type { Capability } from '../../hooks/index.ts';
import { ErrorPolicy } from '../../errors/index.ts';
import { checkModel } from '../../inference/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { AnyToolUseOptions, ToolUseLimits, ToolUseOptions, ToolUseState } from '../../tool-use/index.ts';
import { createPlainToolUse, toolUseOptionNames, withDefaultLimits } from '../../tool-use/index.ts';
import type { ContextNeeded, Tools } from '../../tools/index.ts';
import type { Participant, ParticipantInfo, ParticipantOptions } from '../participant.ts';
import { checkParticipant } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import { createRunParticipant } from './by-run.ts';

/**
 * Options of a model that takes part. Its turn is a run of a model with its tools: 8 steps and 60 seconds by default, and no
 * limit of tokens beside the conversation's. A tool that fails goes back to the model: three failures in a row end the turn.
 */
export interface LlmParticipantOptions<Context = unknown, Given extends Tools = Tools>
  extends ParticipantOptions, Omit<ToolUseOptions<ToolUseState, Context, Given>, 'events' | 'ports' | 'output'> {}

const turnLimits: ToolUseLimits = { steps: 8, tokens: Infinity, wallMs: 60_000 };

const known = toolUseOptionNames.filter((name) => !['output', 'events', 'ports'].includes(name));

const listOthers = (others: readonly ParticipantInfo[]): string =>
  others.map(({ name, description }) => (description === undefined ? name : `${name} (${description})`)).join(', ');

/** Creates the instructions that tell a model that it is in a conversation, and with whom. */
function createIntroduction(name: string, participants: readonly ParticipantInfo[]): Capability {
  const others = participants.filter((each) => each.name !== name);
  const company =
    others.length === 0 ? '' : ` The others are: ${listOthers(others)}. What one of them said has that name in brackets before it.`;
  return defineAnyCapability({
    name: 'stepline-introduction',
    instructions: `You take part in a conversation under the name ${name}.${company} Speak for yourself alone, and do not put a name before your words.`,
  });
}

/** Creates a participant from a model, with tools or without. It reads its own messages as the assistant's, and everybody else's as the user's. */
export function llmParticipant<Context = unknown, const Given extends Tools = readonly []>(
  options: LlmParticipantOptions<Context, Given>,
  // NoInfer: a list of any participants, in which it is declared, must not decide what it needs.
): Participant<NoInfer<Context & ContextNeeded<Given>>>;
export function llmParticipant(options: AnyToolUseOptions<ToolUseState> & ParticipantOptions): Participant {
  checkParticipant('llmParticipant()', options, known);
  const { name, description: _, ...given } = options;
  checkModel(`llmParticipant({ name: "${name}" })`, given.model);
  return createRunParticipant(ParticipantKind.Llm, options, {
    watchesCost: given.price !== undefined || given.limits?.costUsd !== undefined,
    configuration: () => ({}),
    create: (equipment, { participants, ports, price, introduces }) =>
      createPlainToolUse({
        errors: ErrorPolicy.retryToolErrors(3),
        ...omitUndefined({ price }),
        ...given,
        limits: withDefaultLimits(turnLimits, given.limits),
        ports,
        capabilities: [
          ...(given.capabilities ?? []),
          ...(introduces ? [createIntroduction(name, participants)] : []),
          ...(equipment ? [equipment] : []),
        ],
      }),
  });
}
