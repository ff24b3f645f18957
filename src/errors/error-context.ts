import { checkKeys, describeValue, InvalidArgumentError, isRecord, omitUndefined } from '../lib/index.ts';
import { ErrorType, isErrorType } from './error-type.ts';

/** Fields of an error context. One that is absent may also be given as undefined. */
type ErrorContextFields = { readonly [Name in keyof ErrorContext]: ErrorContext[Name] | undefined } & Pick<
  ErrorContext,
  'type' | 'consecutiveFailures' | 'totalFailures'
>;

/** Kinds of values that the optional fields hold. */
const optionalFields = {
  failureSpanMs: 'a number of 0 or more',
  message: 'a string',
  code: 'a string',
  toolName: 'a string',
  toolCallId: 'a string',
  retryable: 'true or false',
  readable: 'true or false',
  retryAfterMs: 'a number of 0 or more',
  remainingMs: 'a number of 0 or more',
  metadata: 'an object',
} as const satisfies Partial<Record<keyof ErrorContext, string>>;

const checks: Readonly<Record<(typeof optionalFields)[keyof typeof optionalFields], (value: unknown) => boolean>> = {
  'a string': (value) => typeof value === 'string',
  'true or false': (value) => typeof value === 'boolean',
  'a number of 0 or more': (value) => typeof value === 'number' && value >= 0,
  'an object': isRecord,
};

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

function findProblem(fields: Readonly<Record<string, unknown>>): string | undefined {
  const { type, consecutiveFailures, totalFailures } = fields;
  if (!isErrorType(type)) return `type must be one of ${Object.values(ErrorType).join(', ')}, not ${describeValue(type)}`;
  for (const [name, count] of Object.entries({ consecutiveFailures, totalFailures }))
    if (!isCount(count)) return `${name} must be a whole number of 0 or more, not ${describeValue(count)}`;
  for (const [name, kind] of Object.entries(optionalFields))
    if (fields[name] !== undefined && !checks[kind](fields[name])) return `${name} must be ${kind}, not ${describeValue(fields[name])}`;
  return undefined;
}

function assertFields(fields: unknown): void {
  const maker = 'new ErrorContext()';
  if (!isRecord(fields)) throw new InvalidArgumentError(`${maker} needs an object, not ${describeValue(fields)}.`);
  checkKeys(maker, fields, ['type', 'consecutiveFailures', 'totalFailures', ...Object.keys(optionalFields)]);
  const problem = findProblem(fields);
  if (problem !== undefined) throw new InvalidArgumentError(`${maker}: ${problem}.`);
}

/** Facts about one failure of the current step, for a policy. Plain data: `new` makes a plain object that never changes, and one written by hand will do as well. */
export class ErrorContext {
  declare readonly type: ErrorType;
  /** Trailing run of failed steps that were handled by retry, the current one included. 0 means no failure. */
  declare readonly consecutiveFailures: number;
  /** Time from the first of the failures in a row to this one. Absent if it is not known. */
  declare readonly failureSpanMs?: number;
  /** Failed steps of this execution. */
  declare readonly totalFailures: number;
  declare readonly message?: string;
  declare readonly code?: string;
  declare readonly toolName?: string;
  declare readonly toolCallId?: string;
  /** @default true */
  declare readonly retryable?: boolean;
  /** True if the model gets a result that describes the failure. @default true */
  declare readonly readable?: boolean;
  /** Wait that the provider asked for. */
  declare readonly retryAfterMs?: number;
  /** Time left under the wall limit, if there is one. */
  declare readonly remainingMs?: number;
  declare readonly metadata?: Readonly<Record<string, unknown>>;

  constructor(fields: ErrorContextFields) {
    assertFields(fields);
    return Object.freeze(omitUndefined({ ...fields }));
  }

  /** The context of a step without failures. */
  static none(): ErrorContext {
    return none;
  }
}

const none = new ErrorContext({ type: 'unknown', consecutiveFailures: 0, totalFailures: 0 });

/** Reads the failures of a state's current step: one context per failure, or `ErrorContext.none()`. */
export interface CanResolveErrorContext<State = object> {
  /** `remainingMs` is the time left under the wall limit, `now` the time of judging, if they are known. */
  resolve(
    state: State,
    findings?: { readonly remainingMs?: number | undefined; readonly now?: number | undefined },
  ): ErrorContext | readonly ErrorContext[];
}
