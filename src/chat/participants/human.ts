import type { Callback, Soon } from '../../lib/index.ts';
import { InvalidArgumentError, omitUndefined } from '../../lib/index.ts';
import type { Participant, Spoken, Turn } from '../participant.ts';
import { checkParticipant, checkTimeout, createParticipant, toInfo } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import type { TurnState } from '../turn-state.ts';
import type { TurnFacts } from './function.ts';
import { toFacts, toTimeout } from './function.ts';
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
  return createHumanParticipant('humanParticipant', options);
}

/** The turn of the whole conversation, counted from 1: what is asked for in another turn has another id. */
function turnNumber({ state, scope }: Turn): number {
  return state.data.past.toArray().reduce((sum, { results }) => sum + results.length, scope.stepNumber);
}

/** What the person gave while the run waited, as a turn; or the wait, where nothing was given or it cannot be used. */
function waitFor(turn: Turn, { name, prompt = turn.hint }: { readonly name: string; readonly prompt: string | undefined }): Spoken {
  const id = `${name}/${turnNumber(turn)}`;
  const answer = turn.answers.find((each) => each.id === id);
  const reading = answer?.type === 'answered' ? turn.read(answer.value) : undefined;
  if (reading?.ok === true && answer?.type === 'answered') return spoken(turn, answer.value, 'user');
  // What cannot be used is asked for again: nobody's turn fails for a slip of the hand.
  const problem = reading === undefined || reading.ok ? undefined : reading.problem;
  return {
    type: 'waiting',
    memo: omitUndefined({ round: 1, kind: ParticipantKind.Human, state: turn.shown }),
    waits: [{ type: 'person', id, ...omitUndefined({ problem, prompt }), participant: name }],
  };
}

export function createHumanParticipant<Said, State extends TurnState>(
  maker: string,
  options: HumanParticipantOptions<Said, State>,
): Participant {
  checkParticipant(maker, options, ['reply', 'timeoutMs', 'prompt']);
  const { name, description, reply, timeoutMs = Infinity, prompt } = options;
  if (reply !== undefined && typeof reply !== 'function')
    throw new InvalidArgumentError(`${maker}() needs a function as reply, or none: without one the run waits for the person.`);
  if (prompt !== undefined && typeof prompt !== 'string') throw new InvalidArgumentError(`${maker}() needs text as prompt.`);
  checkTimeout(maker, timeoutMs);
  const ask: Callback<[turn: TurnFacts], unknown> | undefined = reply;
  return createParticipant(toInfo({ name, kind: ParticipantKind.Human, description }), () => ({
    needsContext: false,
    configuration: omitUndefined({ waits: reply === undefined, prompt }),
    speak: async (turn) => {
      // One who waits already is not asked again by other means.
      if (ask === undefined || turn.parked !== undefined) return waitFor(turn, { name, prompt });
      // A person takes no time of the run's own.
      const leave = turn.scope.time.beginWaiting({ forPerson: true });
      try {
        return await askFunction(turn, (signal) => ask(toFacts(name, turn, signal)), { role: 'user', name, ...toTimeout(timeoutMs) });
      } finally {
        leave();
      }
    },
  }));
}
