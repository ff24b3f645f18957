// Turns whose words are given, by a person, a script or a function: no model is asked.
import { toFailure } from '../../effects/index.ts';
import type { Failure } from '../../errors/index.ts';
import { classifyError, ValidationFailedError } from '../../errors/index.ts';
import type { Callback, Soon } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { textPart } from '../../messages/index.ts';
import type { ContextType } from '../../tools/index.ts';
import type { Participant, ParticipantOptions, Turn, TurnResult } from '../participant.ts';
import { checkParticipant, createParticipant, toTimeout } from '../participant.ts';
import { ParticipantKind } from '../participant-kind.ts';
import type { TurnState } from '../turn-state.ts';
import { toView } from '../view.ts';

/** Facts for a function that has the turn. */
export interface TurnFacts<Context = unknown, State extends TurnState = TurnState> {
  readonly participant: string;
  readonly state: State;
  /** The conversation as this participant reads it: its own words as the assistant's, the others' as the user's. */
  readonly messages: readonly Message[];
  readonly context: Context;
  /** Aborts when the run is interrupted, or the turn takes too long. */
  readonly signal: AbortSignal;
}

/** Options of a function that takes part. */
export interface FunctionParticipantOptions<
  Context = unknown,
  Said = string,
  State extends TurnState = TurnState,
> extends ParticipantOptions {
  /** Type of the context that the host passes with each run: `defineContext<{ db: Db }>()`. */
  readonly context?: ContextType<Context>;
  /** Returns the words; nothing, or empty text, is a turn in which nothing was said. */
  readonly speak: (turn: TurnFacts<Context, State>) => Soon<Said | undefined | null>;
  /** Time limit of a call. @default 30_000 */
  readonly timeoutMs?: number;
}

/** Converts words to the result of a turn. */
export function toTurnResult(turn: Turn, said: unknown, role: 'user' | 'assistant'): TurnResult {
  const parsed = turn.parse(said);
  if (!parsed.ok) return toFailedTurn(classifyError(new ValidationFailedError(parsed.problem, { retryable: false })), role);
  return omitUndefined({ type: 'said' as const, role, parts: [textPart(parsed.text)], changes: parsed.changes });
}

const toFailedTurn = (failure: Failure, role: 'user' | 'assistant'): TurnResult => ({
  type: 'said',
  role,
  parts: [],
  errors: [{ ...failure, readable: false }],
});

/** Asks a function of the host for the words. */
export async function askFunction(
  turn: Turn,
  ask: Callback<[turn: TurnFacts], unknown>,
  { role, name, timeoutMs }: { readonly role: 'user' | 'assistant'; readonly name: string; readonly timeoutMs: number },
): Promise<TurnResult> {
  const { state, scope } = turn;
  const work = async (signal: AbortSignal): Promise<unknown> => {
    try {
      const facts: TurnFacts = {
        participant: name,
        state,
        get messages() {
          return toView(state, name, 'question').toMessages().toArray();
        },
        context: scope.context,
        signal,
      };
      // Nothing said is kept as null: an effect returns JSON.
      return (await ask(facts)) ?? null;
    } catch (error) {
      // The failure on the step has no stack.
      turn.report(error);
      throw error;
    }
  };
  const options = { effect: 'pure', label: `The turn of ${name}`, ...toTimeout(timeoutMs) } as const;
  const answered = await scope.effects.run(`speak/${scope.stepNumber}`, work, options);
  return answered.ok ? toTurnResult(turn, answered.value ?? '', role) : toFailedTurn(toFailure(answered), role);
}

/** Creates a participant that speaks through a function of the host. */
export function functionParticipant<Context = unknown>(options: FunctionParticipantOptions<Context>): Participant<NoInfer<Context>> {
  return createFunctionParticipant('functionParticipant()', options);
}

export function createFunctionParticipant<Context, Said, State extends TurnState>(
  maker: string,
  options: FunctionParticipantOptions<Context, Said, State>,
): Participant<NoInfer<Context>> {
  checkParticipant(maker, options, ['speak', 'timeoutMs', 'context']);
  const { name, speak, timeoutMs = 30_000, context } = options;
  return createParticipant(ParticipantKind.Function, options, () => ({
    needsContext: context !== undefined,
    configuration: {},
    speak: (turn) => askFunction(turn, speak, { role: 'assistant', name, timeoutMs }),
  }));
}
