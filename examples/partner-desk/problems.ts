// What went wrong, in one line each. The same error comes to whoever acted and to whoever listens; it is told once.
import { SteplineError } from 'stepline';
import type { Screen } from './screen.ts';
import { showProblem } from './screen.ts';

export interface Problems {
  readonly tell: (error: unknown) => void;
}

const getCode = (error: unknown): string => (SteplineError.is(error) ? error.code : '');

/** True if this process cannot continue: another one owns the conversations now. */
export const isTakenOver = (error: unknown): boolean => ['store-fenced', 'runtime-closed'].includes(getCode(error));

/** True if an answer was refused and the call still waits. */
export const isBadAnswer = (error: unknown): boolean => getCode(error) === 'invalid-argument';

export function problemText(error: unknown): string {
  if (isTakenOver(error)) return 'Another partner desk has opened this file and carries its conversations on. This one ends here.';
  return error instanceof Error ? error.message : String(error);
}

export function createProblems(screen: Screen): Problems {
  const told = new Set<unknown>();
  let isOver = false;
  return {
    tell: (error) => {
      if (told.has(error) || isOver) return;
      told.add(error);
      isOver = isTakenOver(error);
      screen.freshLine();
      showProblem(screen, problemText(error));
    },
  };
}
