// Options that every handler of HTTP requests has.
import type { ProblemReporter } from '../../events/index.ts';
import { reportToConsole } from '../../events/index.ts';
import { describeValue, InvalidArgumentError } from '../../lib/index.ts';

/** Checks a path before all routes. */
export function parseBasePath(given: unknown): string {
  if (given === '' || given === '/') return '';
  if (typeof given === 'string' && /^(?:\/[^/?#]+)+$/.test(given)) return given;
  throw new InvalidArgumentError(`basePath must be a path such as "/agents", without a slash at its end, not ${describeValue(given)}.`);
}

/** Checks a list of origins. */
export function parseOrigins(given: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.map((origin) => {
    const parsed = typeof origin === 'string' && URL.canParse(origin) ? new URL(origin).origin : undefined;
    if (parsed !== undefined && parsed !== 'null' && parsed === origin) return parsed;
    throw new InvalidArgumentError(`origins must be a list of origins such as "https://app.example", not ${describeValue(origin)}.`);
  });
}

/** Checks a number of bytes or milliseconds. */
export function parseCount(name: string, given: number): number {
  if (Number.isSafeInteger(given) && given > 0) return given;
  throw new InvalidArgumentError(`${name} must be a whole number of 1 or more, not ${describeValue(given)}.`);
}

/** Returns a reporter that never throws. */
export function createReporter(onProblem: ProblemReporter = reportToConsole): ProblemReporter {
  return (error, where) => {
    try {
      onProblem(error, where);
    } catch {
      // A reporter that fails has nobody to report to.
    }
  };
}
