import type { Callback, Soon } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { checkOptions, optionRule } from '../../tool-use/index.ts';
import { timeoutRule, toTimeout } from '../participant.ts';
import type { TurnState } from '../turn-state.ts';
import { TurnNotGivenError } from '../turn-not-given-error.ts';
import type { Choice, SelectionFacts, Selector } from './selector.ts';

/** Facts for a function that selects the next participant. */
export type SelectFacts<Context = unknown, State extends TurnState = TurnState> = Omit<
  SelectionFacts<Context, State>,
  'ask' | 'run' | 'report'
>;

/** Returns the name of the next participant, or the reason to end the conversation. */
export type SelectFunction<Context = never, State extends TurnState = never> = (
  facts: SelectFacts<Context, State>,
) => Soon<string | Choice>;

export interface SelectByOptions {
  /** Name in events and records. @default 'function' */
  readonly name?: string;
  /** Time limit of a call. @default 30_000 */
  readonly timeoutMs?: number;
}

/** Lets a function of the host select: it returns a participant's name, { participant, reason }, or { end: reason } to end. */
export function selectBy(choose: Callback<[facts: SelectFacts], Soon<string | Choice>>, options: SelectByOptions = {}): Selector {
  const { name = 'function', timeoutMs = 30_000 } = options;
  checkOptions('selectBy()', options, { rules: { name: optionRule.text, timeoutMs: timeoutRule } });
  if (typeof choose !== 'function')
    throw new InvalidArgumentError(`selectBy() needs a function that returns the name of a participant, not ${describeValue(choose)}.`);
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
      const answered = await run(work, { effect: 'pure', label: 'it', ...toTimeout(timeoutMs) });
      if (!answered.ok) throw new TurnNotGivenError(`The selector "${name}" failed: ${answered.message}`, answered);
      const { value } = answered;
      if (typeof value === 'string') return { participant: value };
      if (isRecord(value) && typeof value['participant'] === 'string') {
        const { participant, reason } = value;
        return { participant, ...(typeof reason === 'string' && { reason }) };
      }
      if (isRecord(value) && typeof value['end'] === 'string' && value['end'] !== '') return { end: value['end'] };
      const given = value === null || value === undefined ? 'nothing' : JSON.stringify(value);
      throw new TurnNotGivenError(
        `The selector "${name}" returned ${given}. Return the name of a participant, or { end: reason } to end the conversation.`,
      );
    },
  };
}
