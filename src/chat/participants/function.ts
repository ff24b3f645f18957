import { InvalidArgumentError } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import type { Callback, Soon } from '../../lib/index.ts';
import type { ContextType } from '../../tools/index.ts';
import type { Participant, Turn } from '../participant.ts';
import { checkParticipant, checkTimeout, createParticipant, toInfo } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import type { TurnState } from '../turn-state.ts';
import { toView } from '../view.ts';
import { askFunction } from './given-words.ts';

/** What a function is told when it has the turn. */
export interface TurnFacts<Context = unknown, State extends TurnState = TurnState> {
  readonly participant: string;
  readonly state: State;
  /** The conversation as this participant reads it: its own words as the assistant's, the others' as the user's. */
  readonly messages: readonly Message[];
  readonly context: Context;
  /** Aborts when the run is interrupted, or the turn takes too long. */
  readonly signal: AbortSignal;
}

/** What a function that takes part is made from. */
export interface FunctionParticipantOptions<Context = unknown, Said = string, State extends TurnState = TurnState> {
  readonly name: string;
  readonly description?: string;
  /** Says what the host gives with each run: `contextOf<{ db: Db }>()`. */
  readonly context?: ContextType<Context>;
  /** Gives the words; nothing, or empty text, is a turn in which nothing was said. */
  readonly speak: (turn: TurnFacts<Context, State>) => Soon<Said | undefined | null>;
  /** How long it may take. @default 30_000 */
  readonly timeoutMs?: number;
}

/** Facts for a function of the host. */
export function toFacts(participant: string, { state, scope }: Turn, signal: AbortSignal): TurnFacts {
  return {
    participant,
    state,
    get messages() {
      return toView(state, participant, 'question').toMessages().toArray();
    },
    context: scope.context,
    signal,
  };
}

/** An effect's own limit of time; none where there is no end to it. */
export const toTimeout = (timeoutMs: number): { readonly timeoutMs?: number } => (timeoutMs === Infinity ? {} : { timeoutMs });

/** A function of the host's that takes part. */
export function functionParticipant<Context = unknown>(options: FunctionParticipantOptions<Context>): Participant<NoInfer<Context>> {
  return createFunctionParticipant('functionParticipant', options);
}

export function createFunctionParticipant<Context, Said, State extends TurnState>(
  maker: string,
  options: FunctionParticipantOptions<Context, Said, State>,
): Participant<NoInfer<Context>> {
  checkParticipant(maker, options, ['speak', 'timeoutMs', 'context']);
  const { name, description, speak, timeoutMs = 30_000, context } = options;
  if (typeof speak !== 'function') throw new InvalidArgumentError(`${maker}() needs a function as speak, which gives the words.`);
  checkTimeout(maker, timeoutMs);
  const ask: Callback<[turn: TurnFacts], unknown> = speak;
  return createParticipant(toInfo({ name, kind: ParticipantKind.Function, description }), () => ({
    needsContext: context !== undefined,
    configuration: {},
    speak: (turn) => askFunction(turn, (signal) => ask(toFacts(name, turn, signal)), { role: 'assistant', name, ...toTimeout(timeoutMs) }),
  }));
}
