// Errors on their way to another process.
// Z1. An error of a session comes back as an instance of its class, with its code, message and fields.
// Z2. A stack never leaves its process, nor a cause. A foreign error also loses the secrets in its text.
import type { JsonObject } from '../../lib/index.ts';
import {
  cleanText,
  DamagedDataError,
  defaultRedactor,
  InvalidArgumentError,
  isRecord,
  present,
  readField,
  SteplineError,
} from '../../lib/index.ts';
import { NewerSchemaError, WrongKindError } from '../../serialization/index.ts';
import { AlreadyAnsweredError, MessageRefusedError, NotWaitingError } from '../../step-by-step/index.ts';
import { ActionRefusedError } from './action-refused-error.ts';
import { AgentChangedError } from './agent-changed-error.ts';
import { ContextFailedError } from './context-failed-error.ts';
import { CrashLoopError } from './crash-loop-error.ts';
import { ForeignApprovalError } from './foreign-approval-error.ts';
import { ForgedApprovalError } from './forged-approval-error.ts';
import { LateAnswerError } from './late-answer-error.ts';
import { LeaseLostError } from './lease-lost-error.ts';
import { MailWaitingError } from './mail-waiting-error.ts';
import { RemoteError } from './remote-error.ts';
import { RequestReusedError } from './request-reused-error.ts';
import { RuntimeClosedError } from './runtime-closed-error.ts';
import { SessionConflictError } from './session-conflict-error.ts';
import { SessionDamagedError } from './session-damaged-error.ts';
import { SessionDeletedError } from './session-deleted-error.ts';
import { StaleApprovalError } from './stale-approval-error.ts';
import { StoreUnavailableError } from './store-unavailable-error.ts';
import { UnknownAgentError } from './unknown-agent-error.ts';
import { UnknownSessionError } from './unknown-session-error.ts';
import { UnknownStepError } from './unknown-step-error.ts';

/** A class of errors, and the fields that its instances have besides code and message. */
interface WireClass {
  readonly prototype: object;
  readonly fields: readonly string[];
}

type OwnField<Instance> = Exclude<keyof Instance, keyof SteplineError>;

const withFields = <Instance extends SteplineError>(
  { prototype }: { readonly prototype: Instance },
  ...fields: readonly (OwnField<Instance> & string)[]
): WireClass => ({ prototype, fields });

/** Errors that an action can end with, by code. */
const classes: Readonly<Record<string, WireClass>> = {
  'action-refused': withFields(ActionRefusedError, 'reason'),
  'agent-changed': withFields(AgentChangedError),
  'already-answered': withFields(AlreadyAnsweredError, 'waitId'),
  'context-failed': withFields(ContextFailedError),
  'crash-loop': withFields(CrashLoopError, 'sessionId', 'attempts'),
  'damaged-data': withFields(DamagedDataError, 'path', 'problem'),
  'foreign-approval': withFields(ForeignApprovalError),
  'forged-approval': withFields(ForgedApprovalError),
  'invalid-argument': withFields(InvalidArgumentError),
  'late-answer': withFields(LateAnswerError, 'waitId'),
  'lease-lost': withFields(LeaseLostError, 'sessionId'),
  'mail-waiting': withFields(MailWaitingError),
  'message-refused': withFields(MessageRefusedError, 'waitIds'),
  'newer-schema': withFields(NewerSchemaError, 'kind', 'found', 'supported'),
  'not-waiting': withFields(NotWaitingError, 'waitId', 'open'),
  'request-reused': withFields(RequestReusedError),
  'runtime-closed': withFields(RuntimeClosedError, 'isStored'),
  'session-conflict': withFields(SessionConflictError),
  'session-damaged': withFields(SessionDamagedError, 'sessionId', 'damage'),
  'session-deleted': withFields(SessionDeletedError, 'sessionId', 'deletedAt'),
  'stale-approval': withFields(StaleApprovalError),
  'store-unavailable': withFields(StoreUnavailableError, 'problem'),
  'unknown-agent': withFields(UnknownAgentError),
  'unknown-session': withFields(UnknownSessionError),
  'unknown-step': withFields(UnknownStepError),
  'wrong-kind': withFields(WrongKindError, 'expected', 'found'),
};

const findClass = (code: string): WireClass | undefined => (Object.hasOwn(classes, code) ? classes[code] : undefined);

const readText = (value: unknown, key: string, otherwise: string): string => {
  const text = readField(value, key);
  return typeof text === 'string' ? cleanText(text) : otherwise;
};

/** Returns an error as plain data for another process. */
export function toWire(error: unknown): JsonObject {
  const name = readText(error, 'name', 'Error');
  const code = readText(error, 'code', 'unclassified');
  const message = readText(error, 'message', typeof error === 'string' ? cleanText(error) : 'A value was thrown that is not an error.');
  if (!SteplineError.is(error)) return { name, code, message: defaultRedactor.text(message) };
  const fields = Object.fromEntries((findClass(code)?.fields ?? []).map((key) => [key, readField(error, key)]));
  return { name, code, message, fields: present(fields) };
}

/** Returns an error that another process wrote with `toWire`. One whose code is not known here keeps its code and message. */
export function fromWire(data: JsonObject): Error {
  const code = readText(data, 'code', 'unclassified');
  const name = readText(data, 'name', 'Error');
  const error = new RemoteError(readText(data, 'message', 'Another process failed without a message.'), { name, code });
  const found = findClass(code);
  if (found === undefined) return error;
  const fields = isRecord(data['fields']) ? data['fields'] : {};
  for (const key of found.fields) Object.defineProperty(error, key, { value: fields[key], enumerable: true });
  // Made as a plain error first: a constructor would write the message, and its stack, again.
  Object.setPrototypeOf(error, found.prototype);
  return error;
}
