import { InvalidArgumentError } from './invalid-argument-error.ts';

/** Options that a function takes. */
export interface KnownKeys {
  readonly known: readonly string[];
  /** Advice for names that people try, such as those of other libraries. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** Describes the first option that `maker` does not know; undefined if it knows them all. */
export function findKeyProblem(maker: string, options: object, { known, hints = {} }: KnownKeys): string | undefined {
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return undefined;
  const hint = Object.hasOwn(hints, unknown) ? hints[unknown] : undefined;
  return `Unknown option "${unknown}" in ${maker}. ${hint ?? `It takes ${known.join(', ')}.`}`;
}

/** Throws if `options` has a key that `maker` does not know. */
export function checkKeys(maker: string, options: object, keys: KnownKeys): void {
  const problem = findKeyProblem(maker, options, keys);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
}
