import { InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { Callback, Soon } from '../../lib/index.ts';
import { checkTimeout } from '../participant.ts';
import type { TurnState } from '../turn-state.ts';
import { TurnNotGivenError } from './turn-not-given-error.ts';
import type { Choice, SelectionFacts, Selector } from './selector.ts';

/** What a function that gives the turn is told. */
export type SelectFacts<Context = unknown, State extends TurnState = TurnState> = Omit<
  SelectionFacts<Context, State>,
  'ask' | 'run' | 'report'
>;

/** Names who has the next turn, or says why there is nothing more to say. */
export type SelectFunction<Context = never, State extends TurnState = never> = (
  facts: SelectFacts<Context, State>,
) => Soon<string | Choice>;

export interface SelectByOptions {
  /** As events and records name it. @default 'function' */
  readonly name?: string;
  /** How long it may take. @default 30_000 */
  readonly timeoutMs?: number;
}

/** A function of the host's gives the turn: it returns a participant's name, or { participant, reason }, or { end: why } to end it. */
export function selectBy(choose: Callback<[facts: SelectFacts], Soon<string | Choice>>, options: SelectByOptions = {}): Selector {
  const strange = Object.keys(options).find((each) => each !== 'name' && each !== 'timeoutMs');
  if (strange !== undefined) throw new InvalidArgumentError(`selectBy() has no option "${strange}"; there are name, timeoutMs.`);
  const { name = 'function', timeoutMs = 30_000 } = options;
  checkTimeout('selectBy', timeoutMs);
  if (typeof choose !== 'function') throw new InvalidArgumentError('selectBy() takes a function that returns the name of a participant.');
  return {
    name,
    select: async ({ run, report, ask: _, ...facts }) => {
      const work = async (signal: AbortSignal): Promise<unknown> => {
        try {
          return await choose({ ...facts, signal });
        } catch (error) {
          report(error);
          throw error;
        }
      };
      const answered = await run(work, { effect: 'pure', label: 'it', ...(timeoutMs !== Infinity && { timeoutMs }) });
      if (!answered.ok) throw new TurnNotGivenError(`The selector "${name}" failed: ${answered.message}`, answered);
      const { value } = answered;
      if (typeof value === 'string') return { participant: value };
      if (isRecord(value) && typeof value['participant'] === 'string') {
        const { participant, reason } = value;
        return { participant, ...(typeof reason === 'string' && { reason }) };
      }
      if (isRecord(value) && typeof value['end'] === 'string' && value['end'] !== '') return { end: value['end'] };
      const given = value === null || value === undefined ? 'nothing' : JSON.stringify(value);
      throw new TurnNotGivenError(`The selector "${name}" must return the name of a participant, or { end: why }, not ${given}.`);
    },
  };
}
