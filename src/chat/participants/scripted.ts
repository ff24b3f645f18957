import { InvalidArgumentError, toCanonical } from '../../lib/index.ts';
import type { Participant } from '../participant.ts';
import { checkParticipant, createParticipant, toInfo } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import type { TurnState } from '../turn-state.ts';
import { stepsBackwards } from '../turn-state.ts';
import { spoken } from './given-words.ts';

/** What somebody who says given words is made from. */
export interface ScriptedParticipantOptions<Said = string> {
  readonly name: string;
  readonly description?: string;
  /** Said in turn, from the beginning again after the last. */
  readonly says: readonly Said[];
}

/** Somebody who says given words in turn; which ones are next is found in the conversation. */
export function scriptedParticipant(options: ScriptedParticipantOptions): Participant {
  return createScriptedParticipant('scriptedParticipant', options, (said) => typeof said === 'string');
}

// A turn that failed said nothing, and its words are still to come.
function turnsTaken(state: TurnState, name: string): number {
  let taken = 0;
  for (const { participant, outputMessages } of stepsBackwards(state)) if (participant === name && outputMessages.length > 0) taken += 1;
  return taken;
}

export function createScriptedParticipant<Said>(
  maker: string,
  options: ScriptedParticipantOptions<Said>,
  isRight: (said: unknown) => boolean,
): Participant {
  checkParticipant(maker, options, ['says']);
  const { name, description, says } = options;
  if (!Array.isArray(says) || says.length === 0)
    throw new InvalidArgumentError(`${maker}() needs a list of what is said, with at least one entry.`);
  const wrong = says.findIndex((said) => !isRight(said));
  if (wrong !== -1)
    throw new InvalidArgumentError(`${maker}(): number ${wrong + 1} of what is said is nothing that can be said here; give text.`);
  const words = says.map((said, index) => {
    const canonical = toCanonical(said);
    if (canonical.ok) return canonical.value;
    throw new InvalidArgumentError(`${maker}(): what is said cannot be stored: [${index}]${canonical.path} ${canonical.problem}.`);
  });
  return createParticipant(toInfo({ name, kind: ParticipantKind.Scripted, description }), () => ({
    needsContext: false,
    configuration: { says: words },
    speak: async (turn) => spoken(turn, words[turnsTaken(turn.state, name) % words.length], 'user'),
  }));
}
