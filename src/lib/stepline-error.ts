// The brand is a registered symbol so that two copies of the package recognise each other's errors.
const brand: unique symbol = Symbol.for('stepline.error');

/** Base of everything Stepline throws: a stable kebab-case `code`, the `cause` kept, facts instead of live objects. */
export abstract class SteplineError extends Error {
  abstract readonly code: string;

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    Object.defineProperty(this, brand, { value: true });
  }

  /** True for errors of this package, also when another copy of it made them. */
  static is(value: unknown): value is SteplineError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}
