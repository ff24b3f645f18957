// What went wrong, in one line each. The same error comes to whoever acted and to whoever listens; it is told once.
import { SteplineError } from 'stepline';
import type { Screen } from './screen.ts';
import { showProblem } from './screen.ts';

export interface Problems {
  readonly tell: (error: unknown) => void;
}

const getCode = (error: unknown): string => (SteplineError.is(error) ? error.code : '');

/** True if this process cannot continue. */
export const isClosed = (error: unknown): boolean => getCode(error) === 'runtime-closed';

/** True if an answer was refused and the call still waits. */
export const isBadAnswer = (error: unknown): boolean => getCode(error) === 'invalid-argument';

export const problemText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function createProblems(screen: Screen): Problems {
  const told = new Set<unknown>();
  let isOver = false;
  return {
    tell: (error) => {
      if (told.has(error) || isOver) return;
      told.add(error);
      isOver = isClosed(error);
      screen.freshLine();
      showProblem(screen, problemText(error));
    },
  };
}
