// What to do about a failure, by its code. `docs/errors.md` begins its advice with the same sentence; a test compares the two.
import type { ErrorType } from './error-type.ts';
import type { Failure } from './failure.ts';

/** Codes that a failure recorded on a step can have. */
type AdvisedCode =
  | 'aborted'
  | 'approval-check-failed'
  | 'attachment-refused'
  | 'cancelled'
  | 'context-overflow'
  | 'crash-loop'
  | 'criterion-failed'
  | 'empty-at-token-limit'
  | 'empty-response'
  | 'hook-failed'
  | 'invalid-argument'
  | 'invalid-arguments'
  | 'invalid-decision'
  | 'invalid-json'
  | 'invalid-output'
  | 'malformed-response'
  | 'model-failed'
  | 'model-refused'
  | 'no-output'
  | 'participant-changed'
  | 'provider-tool'
  | 'rate-limited'
  | 'stream-interrupted'
  | 'timed-out'
  | 'tool-failed'
  | 'turn-incomplete'
  | 'turn-not-given'
  | 'unclassified'
  | 'unencodable-value'
  | 'unknown-tool'
  | 'validation-failed';

/** Advice for the codes that a failure recorded on a step can have. */
export const adviceByCode: Readonly<Record<AdvisedCode, string>> = {
  aborted: 'Send a message to start again.',
  'approval-check-failed': 'Fix the needsApproval function of the tool: it must return true or false, or text as the reason for asking.',
  'attachment-refused': 'Send a message to continue without the attachment, or convert it to a type that the model reads.',
  cancelled: 'Send a message to start again.',
  'context-overflow': 'Send fewer or shorter messages: add compaction(), or limit tool results with maxResultChars.',
  'crash-loop': 'Find out what ended the process, then resume or cancel the session.',
  'criterion-failed': 'Return an evaluation for every state, and never throw.',
  /** An empty answer that used up all output tokens: another one would be empty too. */
  'empty-at-token-limit': 'Raise settings.maxOutputTokens, or let the model reason less.',
  'empty-response': 'Make the instructions clearer, or let the error policy retry.',
  'hook-failed': 'Fix the hook as the message says, or raise its timeoutMs.',
  'invalid-argument': 'Change the call as the message says.',
  'invalid-arguments': 'Describe the arguments of the tool more clearly, or let the error policy retry.',
  'invalid-decision': 'Use a model that keeps to the ReAct format, or the tool-calling driver.',
  'invalid-json': 'Use a model that writes valid JSON, or let the error policy retry.',
  'invalid-output': 'Relax the output schema, or make the instructions clearer.',
  'malformed-response': 'Fix what generate() and stream() of the model return.',
  'model-failed': 'Let the error policy retry, or add a fallback model.',
  /** A request that fails again however often it is sent. */
  'model-refused': 'Fix what the provider objects to: the key, the name of the model, or the request.',
  'no-output': 'Relax the output schema, or make the instructions clearer.',
  'participant-changed': 'Restore the participant, or send a message to continue without it.',
  'provider-tool': 'Give the tool to a provider that runs it, or define it with defineTool().',
  'rate-limited': 'Wait as long as the provider asks, or send less with withModelLimits().',
  'stream-interrupted': 'Let the error policy retry.',
  'timed-out': 'Raise the time limit that the message names, or reduce the work.',
  'tool-failed': 'Fix the tool, or what it depends on, then send a message to continue.',
  'turn-incomplete': 'Raise the limits of the participant, or use a model that needs fewer calls.',
  'turn-not-given': 'Fix the selector: it must return the name of a participant.',
  unclassified: 'Fix what the message names, then send a message to continue.',
  'unencodable-value': 'Return plain JSON.',
  'unknown-tool': 'Add the tool, or tell the model which tools there are.',
  'validation-failed': 'Relax the schema, or make the instructions clearer.',
};

const tryLater = 'Send a message to try again when the provider is back, or add a fallback model.';

/** Advice for the codes whose own advice is to retry, if that was done already. */
export const adviceAfterRetries: Readonly<Partial<Record<AdvisedCode, string>>> = {
  'empty-response': 'Make the instructions clearer, or use another model.',
  'invalid-arguments': 'Describe the arguments of the tool more clearly.',
  'invalid-json': 'Use a model that writes valid JSON.',
  'model-failed': tryLater,
  'stream-interrupted': tryLater,
};

/** Facts that advice depends on. */
export interface AdviceFacts extends Pick<Failure, 'code' | 'type'> {
  /** @default true */
  readonly retryable?: boolean;
  /** True if the error policy retried until it gave up. @default false */
  readonly retried?: boolean;
}

/** Advice for an error of another library, by its kind. */
const codeByType: Readonly<Record<ErrorType, AdvisedCode>> = {
  tool: 'tool-failed',
  model: 'model-failed',
  validation: 'validation-failed',
  rate_limit: 'rate-limited',
  timeout: 'timed-out',
  unknown: 'unclassified',
};

const isAdvised = (code: string): code is AdvisedCode => Object.hasOwn(adviceByCode, code);

/** Returns one thing to do about a failure. */
export function getAdvice({ code, type, retryable = true, retried = false }: AdviceFacts): string {
  if (type === 'model' && !retryable && (!isAdvised(code) || code === 'model-failed')) return adviceByCode['model-refused'];
  if (code === 'empty-response' && !retryable) return adviceByCode['empty-at-token-limit'];
  // An error without a code has only its kind.
  const known = isAdvised(code) && !(code === 'unclassified' && type !== 'unknown') ? code : codeByType[type];
  return (retried ? adviceAfterRetries[known] : undefined) ?? adviceByCode[known];
}
