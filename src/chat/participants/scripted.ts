import { describeValue, InvalidArgumentError, toCanonical } from '../../lib/index.ts';
import type { Participant, ParticipantOptions } from '../participant.ts';
import { checkParticipant, createParticipant } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import type { TurnState } from '../turn-state.ts';
import { listStepsBackwards } from '../turn-state.ts';
import { toTurnResult } from './function.ts';

/** Options of a participant with a script. */
export interface ScriptedParticipantOptions<Said = string> extends ParticipantOptions {
  /** Said in turn, from the beginning again after the last. */
  readonly says: readonly Said[];
}

/** Creates a participant that says the given texts in order; its place in the script is read from the conversation. */
export function scriptedParticipant(options: ScriptedParticipantOptions): Participant {
  return createScriptedParticipant('scriptedParticipant()', options, (said) => typeof said === 'string');
}

// A turn that failed said nothing, and its words are still to come.
function countTurns(state: TurnState, name: string): number {
  let taken = 0;
  for (const { participant, outputMessages } of listStepsBackwards(state))
    if (participant === name && outputMessages.length > 0) taken += 1;
  return taken;
}

export function createScriptedParticipant<Said>(
  maker: string,
  options: ScriptedParticipantOptions<Said>,
  isValid: (said: unknown) => boolean,
): Participant {
  checkParticipant(maker, options, ['says']);
  const { name, says } = options;
  const wrong = says.findIndex((said) => !isValid(said));
  if (wrong !== -1) throw new InvalidArgumentError(`${maker}: says[${wrong}] must be a string, not ${describeValue(says[wrong])}.`);
  const words = says.map((said, index) => {
    const canonical = toCanonical(said);
    if (canonical.ok) return canonical.value;
    throw new InvalidArgumentError(`${maker}: says[${index}]${canonical.path} cannot be stored: it ${canonical.problem}.`);
  });
  return createParticipant(ParticipantKind.Scripted, options, () => ({
    needsContext: false,
    configuration: { says: words },
    speak: async (turn) => toTurnResult(turn, words[countTurns(turn.state, name) % words.length], 'user'),
  }));
}
