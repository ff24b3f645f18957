import { InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { Soon } from '../../lib/index.ts';
import { checkTimeout } from '../participant.ts';
import type { TurnState } from '../turn-state.ts';
import { TurnNotGivenError } from './turn-not-given-error.ts';
import type { Choice, SelectionFacts, Selector } from './selector.ts';

/** What a function that gives the turn is told. */
export type SelectFacts<Context = unknown, State extends TurnState = TurnState> = Omit<SelectionFacts<Context, State>, 'ask' | 'run'>;

/** Names who has the next turn. */
export type SelectFunction<Context = never, State extends TurnState = never> = (
  facts: SelectFacts<Context, State>,
) => Soon<string | Choice>;

export interface SelectByOptions {
  /** As events and records name it. @default 'function' */
  readonly name?: string;
  /** How long it may take. @default 30_000 */
  readonly timeoutMs?: number;
}

/** A function of the host's gives the turn: it returns a participant's name, or { participant, reason }. */
export function selectBy(choose: SelectFunction, options: SelectByOptions = {}): Selector {
  const strange = Object.keys(options).find((each) => each !== 'name' && each !== 'timeoutMs');
  if (strange !== undefined) throw new InvalidArgumentError(`selectBy() has no option "${strange}"; there are name, timeoutMs.`);
  const { name = 'function', timeoutMs = 30_000 } = options;
  checkTimeout('selectBy', timeoutMs);
  if (typeof choose !== 'function') throw new InvalidArgumentError('selectBy() takes a function that returns the name of a participant.');
  return {
    name,
    select: async ({ run, ask: _, ...facts }) => {
      // Holds: a conversation only ever runs states and contexts of its own kind.
      const work = (signal: AbortSignal): unknown => choose({ ...facts, signal } as never);
      const answered = await run(work, { effect: 'pure', ...(timeoutMs !== Infinity && { timeoutMs }) });
      // The key is ours; who reads of it knows the name.
      const problem = answered.ok ? '' : answered.message.replace(/^\S+\/run took/, 'it took');
      if (!answered.ok) throw new TurnNotGivenError(`The selector "${name}" failed: ${problem}`, answered);
      const { value } = answered;
      if (typeof value === 'string') return { participant: value };
      if (isRecord(value) && typeof value['participant'] === 'string') {
        const { participant, reason } = value;
        return { participant, ...(typeof reason === 'string' && { reason }) };
      }
      throw new TurnNotGivenError(`The selector "${name}" must return the name of a participant, not ${JSON.stringify(value)}.`);
    },
  };
}
