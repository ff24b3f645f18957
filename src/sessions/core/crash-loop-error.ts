import { SteplineError } from '../../lib/index.ts';
import type { CrashLoop } from '../../step-by-step/index.ts';

function describeAttempts(attempts: number): string {
  if (attempts === 0) return 'was open when the process ended';
  return attempts === 1 ? 'was resumed once, and the process ended' : `was resumed ${attempts} times, and the process ended each time`;
}

/** The open step of a session ended the process each time it was resumed. Nothing is done until somebody resumes or cancels the session. */
export class CrashLoopError extends SteplineError {
  override readonly name = 'CrashLoopError';
  readonly code = 'crash-loop';
  readonly sessionId: string;
  readonly attempts: number;

  constructor(sessionId: string, { attempts, step }: CrashLoop & { readonly step: number }) {
    super(`Session "${sessionId}" is waiting for a person: step ${step} ${describeAttempts(attempts)}. Resume or cancel the session.`);
    this.sessionId = sessionId;
    this.attempts = attempts;
  }
}
