// Errors on their way to another process.
// Z1. An error of a session comes back as an instance of its class, with its code, message and fields.
// Z2. A stack never leaves its process, nor a cause. A foreign error also loses the secrets in its text.
import type { JsonObject } from '../../lib/index.ts';
import { cleanText, DamagedDataError, defaultRedactor, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { present, readField, SteplineError } from '../../lib/index.ts';
import { NewerSchemaError, WrongKindError } from '../../serialization/index.ts';
import { AlreadyAnsweredError, MessageRefusedError, NotWaitingError } from '../../step-by-step/index.ts';
import * as ownErrors from './errors.ts';

const errorsBelow = {
  AlreadyAnsweredError,
  DamagedDataError,
  InvalidArgumentError,
  MessageRefusedError,
  NewerSchemaError,
  NotWaitingError,
};

/** Errors that an action can end with, by name. */
const classes: Readonly<Record<string, unknown>> = { ...ownErrors, ...errorsBelow, WrongKindError };

/** Returns the prototype of the errors with this name; undefined if they are not known here. */
function findPrototype(name: string): SteplineError | undefined {
  const found = Object.hasOwn(classes, name) ? classes[name] : undefined;
  const prototype: unknown = typeof found === 'function' ? found.prototype : undefined;
  return prototype instanceof SteplineError ? prototype : undefined;
}

const readText = (value: unknown, key: string, otherwise: string): string => {
  const text = readField(value, key);
  return typeof text === 'string' ? cleanText(text) : otherwise;
};

/** True for a value that a field of our errors may have. A host may have added whatever it likes. */
const isPlainField = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((item) => typeof item === 'string') : ['string', 'number', 'boolean'].includes(typeof value);

/** Returns an error as plain data for another process. */
export function toWire(error: unknown): JsonObject {
  const name = readText(error, 'name', 'Error');
  const code = readText(error, 'code', 'unclassified');
  const message = readText(error, 'message', typeof error === 'string' ? cleanText(error) : 'A value was thrown that is not an error.');
  const header = { name, code, message };
  if (!SteplineError.is(error)) return { ...header, message: defaultRedactor.text(message) };
  const fields =
    findPrototype(name) === undefined ? [] : Object.entries(error).filter(([key, value]) => !(key in header) && isPlainField(value));
  return { ...header, fields: present(Object.fromEntries(fields)) };
}

/** Returns an error that another process wrote with `toWire`. One that is not known here keeps its name, code and message. */
export function fromWire(data: JsonObject): Error {
  const code = readText(data, 'code', 'unclassified');
  const name = readText(data, 'name', 'Error');
  const error = new ownErrors.RemoteError(readText(data, 'message', 'Another process failed without a message.'), { name, code });
  const prototype = findPrototype(name);
  const { fields } = data;
  if (prototype === undefined || !isRecord(fields)) return error;
  for (const [key, value] of Object.entries(fields)) if (!(key in error)) Object.defineProperty(error, key, { value, enumerable: true });
  // Made as a plain error first: a constructor would write the message, and its stack, again.
  Object.setPrototypeOf(error, prototype);
  return error;
}
