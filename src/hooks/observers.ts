// Hooks that only observe: they see records after these were stored.
import { classifyError } from '../errors/index.ts';
import { isRecord, isThenable } from '../lib/index.ts';
import type { Observed, RunState } from '../step-by-step/index.ts';
import { SeenRecord } from './facts.ts';
import type { Hook } from './hook.ts';
import { canChange } from './hook.ts';
import { reportHook } from './hook-call.ts';
import { HookFailedError } from './hook-failed-error.ts';
import type { HookPoint } from './hook-point.ts';

/** Shows a record to one hook. Nobody waits for it; a thrown error or a return value is reported. */
export function show(hook: Hook, point: HookPoint, seen: Observed<RunState>): void {
  const report = (problem: string, cause?: unknown): void =>
    reportHook(seen.onProblem, new HookFailedError({ hook: hook.name, point }, problem, cause));
  const check = (returned: unknown): void => {
    if (returned === undefined) return;
    const named = isRecord(returned) ? Object.keys(returned).find((key) => canChange(point, key)) : undefined;
    const cure = named === undefined ? '' : ` To change "${named}" before the judgement, add it to its changes.`;
    report(`it returned a change, but the step is already recorded.${cure}`);
  };
  try {
    // Holds: the facts are those of this point.
    const returned: unknown = hook.handlers[point]?.(new SeenRecord(point, seen));
    if (!isThenable(returned)) check(returned);
    else returned.then(check, (error: unknown) => report(classifyError(error).message, error));
  } catch (error) {
    report(classifyError(error).message, error);
  }
}
