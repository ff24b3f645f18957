import type { Soon } from '../../lib/index.ts';
import { InvalidArgumentError } from '../../lib/index.ts';
import type { Participant, Spoken, Turn } from '../participant.ts';
import { checkParticipant, infoOf, ParticipantKind } from '../participant.ts';
import type { TurnState } from '../turn-state.ts';
import type { TurnFacts } from './function.ts';
import { checkTimeout, factsOf, within } from './function.ts';
import { askFunction, spoken } from './given-words.ts';

/** What a person who takes part is made from. */
export interface HumanParticipantOptions<Said = string, State extends TurnState = TurnState> {
  readonly name: string;
  readonly description?: string;
  /**
   * Asks the person and gives the words. Without it the run ends with status `waiting`, and goes on when the words were given by
   * `state.answer(id, words)`: today or next week, here or on another machine.
   */
  readonly reply?: (turn: TurnFacts<unknown, State>) => Soon<Said | undefined | null>;
  /** How long `reply` may take. @default Infinity */
  readonly timeoutMs?: number;
  /** What the person is asked while the run waits. */
  readonly prompt?: string;
}

/** A person who takes part. */
export function humanParticipant(options: HumanParticipantOptions): Participant {
  return humanSeat('humanParticipant', options);
}

function waitFor(turn: Turn, { name, prompt }: { readonly name: string; readonly prompt: string | undefined }): Spoken {
  const { scope, parked, answers } = turn;
  const id = `${name}/${scope.stepNumber}`;
  const wait = { type: 'person', id, participant: name, ...(prompt !== undefined && { prompt }) } as const;
  const answer = answers.find((each) => each.id === id);
  if (parked === undefined || answer?.type !== 'answered') return { type: 'waiting', waits: [wait] };
  const reading = turn.read(answer.value);
  // What cannot be used is asked for again: nobody's turn fails for a slip of the hand.
  return reading.ok ? spoken(turn, answer.value, 'user') : { type: 'waiting', waits: [{ ...wait, problem: reading.problem }] };
}

export function humanSeat<Said, State extends TurnState>(maker: string, options: HumanParticipantOptions<Said, State>): Participant {
  checkParticipant(maker, options, ['reply', 'timeoutMs', 'prompt']);
  const { name, description, reply, timeoutMs = Infinity, prompt } = options;
  if (reply !== undefined && typeof reply !== 'function')
    throw new InvalidArgumentError(`${maker}() needs a function as reply, or none: without one the run waits for the person.`);
  if (prompt !== undefined && typeof prompt !== 'string') throw new InvalidArgumentError(`${maker}() needs text as prompt.`);
  checkTimeout(maker, timeoutMs);
  const info = infoOf({ name, kind: ParticipantKind.Human, ...(description !== undefined && { description }) });
  return {
    ...info,
    join: () => ({
      ...info,
      needsContext: false,
      configuration: { ...info, waits: reply === undefined },
      speak: async (turn) => {
        if (reply === undefined) return waitFor(turn, { name, prompt });
        // A person takes no time of the run's own.
        const leave = turn.scope.beginWaiting();
        try {
          return await askFunction(turn, (signal) => reply(factsOf<unknown>(name, turn, signal)), {
            role: 'user',
            name,
            ...within(timeoutMs),
          });
        } finally {
          leave();
        }
      },
    }),
  };
}
