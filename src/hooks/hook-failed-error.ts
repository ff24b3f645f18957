import { SteplineError } from '../lib/index.ts';
import type { HookPoint } from './hook-point.ts';

/** A hook threw, took too long, or returned something that is not allowed. */
export class HookFailedError extends SteplineError {
  readonly code = 'hook-failed';
  readonly hook: string;
  readonly point: HookPoint;

  constructor(at: { readonly hook: string; readonly point: HookPoint }, problem: string, cause?: unknown) {
    super(`Hook "${at.hook}" failed at ${at.point}: ${problem}`, cause);
    this.hook = at.hook;
    this.point = at.point;
  }
}
