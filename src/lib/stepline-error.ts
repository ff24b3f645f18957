// The brand is a registered symbol so that two copies of the package recognise each other's errors.
const brand: unique symbol = Symbol.for('stepline.error');

const longestMessage = 10_000;
const longestEnd = 500;

/** Cuts the middle out of a long message: how it begins says what happened, how it ends what to do. */
function cutMessage(message: string): string {
  if (message.length <= longestMessage) return message;
  const left = message.length - longestMessage;
  const [start, end] = [message.slice(0, longestMessage - longestEnd), message.slice(-longestEnd)];
  return `${start.toWellFormed()}… (${left} characters left out) …${end.toWellFormed()}`;
}

/**
 * Base of everything Stepline throws: a stable kebab-case `code`, the `cause` kept, facts instead of live objects.
 * A message is 10,000 characters long at most, whatever name, id or text from outside it quotes.
 */
export abstract class SteplineError extends Error {
  abstract readonly code: string;

  constructor(message: string, cause?: unknown) {
    super(cutMessage(message), cause === undefined ? undefined : { cause });
    Object.defineProperty(this, brand, { value: true });
  }

  /** True for errors of this package, also when another copy of it made them. */
  static is(value: unknown): value is SteplineError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}
