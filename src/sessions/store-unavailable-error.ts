import { assertNever, SteplineError } from '../lib/index.ts';

/** Reason why a store cannot be used. */
export type StoreProblem = 'closed' | 'full' | 'read-only' | 'busy' | 'not-a-store' | 'newer-schema' | 'failed';

function adviceFor(problem: StoreProblem): string {
  switch (problem) {
    case 'closed':
      return 'It was closed; open it again.';
    case 'full':
      return 'The disk is full; make room and resume the session.';
    case 'read-only':
      return 'It can only be read; check the rights of the file and of its folder.';
    case 'busy':
      return 'Nothing of the write was kept. Try again later, or end the process that holds it.';
    case 'not-a-store':
      return 'What is there is no session store; nothing was changed. Give another path.';
    case 'newer-schema':
      return 'A newer release wrote it; nothing was changed. Update this one.';
    case 'failed':
      return 'Nothing of the write was kept; resume the session when the store works again.';
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
    const { what: words, advice } = typeof what === 'string' ? { what, advice: adviceFor(problem) } : what;
    super(`The session store cannot be used: ${words}. ${advice}`, cause);
    this.problem = problem;
  }
}
