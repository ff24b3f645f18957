import type { Soon } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Participant, ParticipantOptions, Turn, TurnResult } from '../participant.ts';
import { checkParticipant, createParticipant } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import type { TurnState } from '../turn-state.ts';
import type { TurnFacts } from './function.ts';
import { askFunction, toTurnResult } from './function.ts';

/** Options of a person who takes part. */
export interface HumanParticipantOptions<Said = string, State extends TurnState = TurnState> extends ParticipantOptions {
  /**
   * Asks the person and returns the words. Without it the run ends with status `waiting`, and resumes after
   * `state.answer(id, words)`: today or next week, here or on another machine.
   */
  readonly reply?: (turn: TurnFacts<unknown, State>) => Soon<Said | undefined | null>;
  /** Time limit of `reply`. @default Infinity */
  readonly timeoutMs?: number;
  /** Prompt for the person while the run waits. */
  readonly prompt?: string;
}

/** Creates a participant for a person. */
export function humanParticipant(options: HumanParticipantOptions): Participant {
  return createHumanParticipant('humanParticipant()', options);
}

/** Counts the turns of the whole conversation, with this one: a question in another turn has another id. */
const getTurnNumber = ({ state, scope }: Turn): number =>
  state.data.past.toArray().reduce((sum, { results }) => sum + results.length, scope.stepNumber);

/** Takes the words that the person gave while the run waited, or waits if there are none or they cannot be used. */
function takeAnswer(turn: Turn, name: string, prompt: string | undefined = turn.hint): TurnResult {
  const id = `${name}/${getTurnNumber(turn)}`;
  const answer = turn.answers.find((each) => each.id === id);
  const parsed = answer?.type === 'answered' ? turn.parse(answer.value) : undefined;
  if (parsed?.ok === true && answer?.type === 'answered') return toTurnResult(turn, answer.value, 'user');
  // Words that cannot be used are asked for again: a slip of the hand does not fail the turn.
  const problem = parsed === undefined || parsed.ok ? undefined : parsed.problem;
  return {
    type: 'waiting',
    memo: omitUndefined({ round: 1, kind: ParticipantKind.Human, state: turn.shown }),
    waits: [omitUndefined({ type: 'person' as const, id, problem, prompt, participant: name })],
  };
}

export function createHumanParticipant<Said, State extends TurnState>(
  maker: string,
  options: HumanParticipantOptions<Said, State>,
): Participant {
  checkParticipant(maker, options, ['reply', 'timeoutMs', 'prompt']);
  const { name, reply, timeoutMs = Infinity, prompt } = options;
  return createParticipant(ParticipantKind.Human, options, () => ({
    needsContext: false,
    configuration: omitUndefined({ waits: reply === undefined, prompt }),
    speak: async (turn) => {
      // A person who was asked already is not asked again by other means.
      if (reply === undefined || turn.parked !== undefined) return takeAnswer(turn, name, prompt);
      // Time that a person takes does not count as the run's own.
      const leave = turn.scope.time.beginWaiting({ forPerson: true });
      try {
        return await askFunction(turn, reply, { role: 'user', name, timeoutMs });
      } finally {
        leave();
      }
    },
  }));
}
