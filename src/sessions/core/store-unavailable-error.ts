import { assertNever, SteplineError } from '../../lib/index.ts';

/** Reason why a store cannot be used. */
export type StoreProblem = 'closed' | 'full' | 'read-only' | 'busy' | 'not-a-store' | 'newer-schema' | 'older-schema' | 'failed';

function getAdvice(problem: StoreProblem): string {
  switch (problem) {
    case 'closed':
      return 'Open it again.';
    case 'full':
      return 'Free some disk space, then resume the session.';
    case 'read-only':
      return 'Check the permissions of the file and its folder.';
    case 'busy':
      return 'Nothing was written. Try again later, or stop the process that holds it.';
    case 'not-a-store':
      return 'Nothing was changed. Use another path.';
    case 'newer-schema':
      return 'Nothing was changed. Update Stepline.';
    case 'older-schema':
      return 'Nothing was changed. It cannot be upgraded: start with a new file or database.';
    case 'failed':
      return 'Nothing was written. Resume the session once the store works again.';
    default:
      return assertNever(problem);
  }
}

/** The store cannot be used. What was kept before is still there. */
export class StoreUnavailableError extends SteplineError {
  override readonly name = 'StoreUnavailableError';
  readonly code = 'store-unavailable';
  readonly problem: StoreProblem;

  /** `what` is the problem in words; with `advice`, if there is better advice than the usual one for such a problem. */
  constructor(problem: StoreProblem, what: string | { readonly what: string; readonly advice: string }, cause?: unknown) {
    const { what: words, advice } = typeof what === 'string' ? { what, advice: getAdvice(problem) } : what;
    super(`The session store cannot be used: ${words}. ${advice}`, cause);
    this.problem = problem;
  }
}

/** Creates the error for data of another release. */
export function createSchemaError(name: string, found: number, own: number): StoreUnavailableError {
  const [problem, release] = found > own ? (['newer-schema', 'a newer'] as const) : (['older-schema', 'an earlier'] as const);
  return new StoreUnavailableError(problem, `${name} has schema ${found}, written by ${release} release; this one uses schema ${own}`);
}

/** True if the host has closed the store. */
export const isStoreClosed = (error: unknown): boolean => error instanceof StoreUnavailableError && error.problem === 'closed';
