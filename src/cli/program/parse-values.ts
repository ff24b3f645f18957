// Values of options.
import { InvalidArgumentError } from 'commander';

/** Reads a whole number above 0. */
export function parseCount(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('Pass a whole number above 0.');
}

/** Reads a whole number of 0 or more. */
export function parseIndex(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('Pass a whole number of 0 or more.');
}

/** Reads a number above 0. */
export function parseAmount(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Pass a number above 0.');
}

/** Reads JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('Pass JSON, such as {"amount": 5} or "text in quotes".');
  }
}
