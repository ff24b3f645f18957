import type { Failure } from '../../errors/index.ts';
import { classifyError, ErrorType } from '../../errors/index.ts';
import { defaultRedactor, SteplineError } from '../../lib/index.ts';
import { isContextOverflow } from './context-overflow.ts';
import type { ProviderErrorFacts } from './provider-error-facts.ts';
import { readProviderError } from './provider-error-facts.ts';
import { readRetryAfter } from './retry-after.ts';

/** Facts that the caller knows and the error may not. */
export interface ClassifyProviderErrorOptions {
  /** Milliseconds since the epoch, for delays that are given as a date. */
  readonly now: number;
  /** True if the provider had begun to answer: a parse error is then about its answer, not our request. @default false */
  readonly isAnswering?: boolean;
}

type Kind = Pick<Failure, 'type' | 'code' | 'retryable'>;

const kind = (type: ErrorType, code: string, retryable: boolean): Kind => ({ type, code, retryable });

const rateLimited = kind(ErrorType.RateLimit, 'rate-limited', true);
const quotaExceeded = kind(ErrorType.RateLimit, 'quota-exceeded', false);
const timedOut = kind(ErrorType.Timeout, 'timed-out', true);
const contextOverflow = kind(ErrorType.Model, 'context-overflow', false);
const refused = kind(ErrorType.Model, 'request-refused', false);
const unauthorized = kind(ErrorType.Model, 'unauthorized', false);
const notFound = kind(ErrorType.Model, 'not-found', false);
const serverError = kind(ErrorType.Model, 'server-error', true);
const connectionLost = kind(ErrorType.Model, 'connection-lost', true);
const brokenAnswer = kind(ErrorType.Model, 'broken-answer', true);
const failed = kind(ErrorType.Model, 'model-failed', true);

const byStatus: ReadonlyMap<number, Kind> = new Map([
  [401, unauthorized],
  [402, quotaExceeded],
  [403, unauthorized],
  [404, notFound],
  [408, timedOut],
  [409, refused],
  [425, serverError],
  [429, rateLimited],
  [504, timedOut],
  [529, rateLimited],
]);

function findStatusKind(status: number): Kind {
  return byStatus.get(status) ?? (status >= 500 ? serverError : refused);
}

const rateWord = /rate_?limit|too_many_requests|resource_exhausted|throttl/;

// For errors that come without a status, or with the 200 of an answer that had begun. The first rule that fits decides.
const byWord: readonly (readonly [RegExp, Kind])[] = [
  [rateWord, rateLimited],
  [/timeout|timed_out|deadline_exceeded/, timedOut],
  [/authentication|unauthenticated|permission|invalid_api_key/, unauthorized],
  [/not_found/, notFound],
  [/invalid_request|bad_request|invalid_argument|invalid_prompt|unsupported|failed_precondition/, refused],
  [/server_error|api_error|internal|unavailable/, serverError],
];

// A limit of tokens per minute speaks of too many tokens as well, sometimes under a status that says nothing of limits.
const ratePhrase = /rate[ _-]?limit|too many requests|(tokens|requests) per (second|minute|hour|day)|\bTP[MD]\b|throttl/i;

const networkTimeout = /TIMEDOUT|_TIMEOUT$/;
// What provider packages throw before they send anything: a setting, a part or an option that they cannot use.
const ownRefusals: ReadonlySet<string> = new Set([
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_LoadAPIKeyError',
  'AI_LoadSettingError',
  'AI_NoSuchModelError',
  'AI_NoSuchProviderReferenceError',
]);
const malformed: ReadonlySet<string> = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
  'SyntaxError',
]);

function findNetworkKind({ networkCodes, names }: ProviderErrorFacts): Kind | undefined {
  if (names.includes('TimeoutError') || networkCodes.some((code) => networkTimeout.test(code))) return timedOut;
  if (networkCodes.includes('ERR_INVALID_URL')) return refused;
  return networkCodes.length > 0 ? connectionLost : undefined;
}

function findWordKind(words: readonly string[]): Kind | undefined {
  return byWord.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1];
}

function findNameKind({ names }: ProviderErrorFacts, isAnswering: boolean): Kind | undefined {
  if (names.some((name) => ownRefusals.has(name))) return refused;
  if (names.some((name) => malformed.has(name))) return isAnswering ? brokenAnswer : refused;
  return undefined;
}

function findKind(facts: ProviderErrorFacts, isAnswering: boolean): Kind {
  const { status, words } = facts;
  if (isContextOverflow(facts) && !words.some((word) => rateWord.test(word)))
    return ratePhrase.test(facts.message) ? rateLimited : contextOverflow;
  if (words.some((word) => /quota|billing|credit_balance/.test(word) && !/rate/.test(word))) return quotaExceeded;
  // Both are told as events too, sometimes under a status of their teller's choice.
  if (words.some((word) => word.includes('overloaded') || rateWord.test(word))) return rateLimited;
  if (status !== undefined && status >= 400) return findStatusKind(status);
  const answered = isAnswering || status !== undefined;
  const known = findNetworkKind(facts) ?? findWordKind(words) ?? findNameKind(facts, answered);
  if (known !== undefined) return known;
  if (answered) return brokenAnswer;
  return facts.isRetryable === false ? refused : failed;
}

const longestMessage = 300;

function shortMessage({ message, status }: ProviderErrorFacts): string {
  const line = defaultRedactor.text(message.replace(/\s+/g, ' ').trim());
  const text = line.length > longestMessage ? `${line.slice(0, longestMessage)}…` : line;
  return status === undefined || status < 400 || text.includes(String(status)) ? text : `HTTP ${status}: ${text}`;
}

/** Turns whatever a provider package threw or streamed as an error into plain data that a policy can judge. */
export function classifyProviderError(error: unknown, { now, isAnswering = false }: ClassifyProviderErrorOptions): Failure {
  if (SteplineError.is(error)) return classifyError(error, { fallback: ErrorType.Model });
  const facts = readProviderError(error);
  const found = findKind(facts, isAnswering);
  // Some providers send the header with every answer; it counts only if the answer was an error.
  const hints = facts.status !== undefined && facts.status < 400 ? { body: facts.body } : facts;
  const retryAfterMs = found.retryable ? readRetryAfter(hints, now) : undefined;
  return { ...found, message: shortMessage(facts), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
