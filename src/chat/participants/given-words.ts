// Turns whose words are given, by a person, a script or a function: no model is asked.
import type { EffectOptions } from '../../effects/index.ts';
import { toFailure } from '../../effects/index.ts';
import type { Failure } from '../../errors/index.ts';
import { classifyError, ValidationFailedError } from '../../errors/index.ts';
import { textPart } from '../../messages/index.ts';
import type { Spoken, Turn } from '../participant.ts';

/** What somebody said, as a turn. */
export function spoken(turn: Turn, said: unknown, role: 'user' | 'assistant'): Spoken {
  const reading = turn.read(said);
  if (!reading.ok)
    return failedTurn(classifyError(new ValidationFailedError(reading.problem, { retryable: false }), { readable: false }), role);
  const { text, acts } = reading;
  return { type: 'said', role, parts: [textPart(text)], ...(acts !== undefined && { acts }) };
}

export const failedTurn = (failure: Failure, role: 'user' | 'assistant'): Spoken => ({
  type: 'said',
  role,
  parts: [],
  errors: [{ ...failure, readable: false }],
});

/** Asks a function of the host's for the words. */
export async function askFunction(
  turn: Turn,
  ask: (signal: AbortSignal) => unknown,
  { role, name, ...options }: EffectOptions & { readonly role: 'user' | 'assistant'; readonly name: string },
): Promise<Spoken> {
  const { scope } = turn;
  const key = `speak/${scope.stepNumber}`;
  const work = async (signal: AbortSignal): Promise<unknown> => {
    try {
      // Nothing said is kept as null: an effect gives JSON.
      return (await ask(signal)) ?? null;
    } catch (error) {
      // What stands on the step has no stack.
      turn.report(error);
      throw error;
    }
  };
  const answered = await scope.effects.run(key, work, { effect: 'pure', label: `The turn of ${name}`, ...options });
  if (answered.ok) return spoken(turn, answered.value ?? '', role);
  return failedTurn(toFailure(answered), role);
}
