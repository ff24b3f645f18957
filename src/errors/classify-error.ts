import { cleanText, defaultRedactor, omitUndefined, readField, SteplineError } from '../lib/index.ts';
import { ErrorType, isErrorType } from './error-type.ts';
import type { Failure } from './failure.ts';

/** Facts that the caller knows and the error may not. */
export interface ClassifyOptions {
  /** Kind to assume if nothing in the chain names one. @default 'unknown' */
  readonly fallback?: ErrorType;
  readonly toolName?: string;
  readonly toolCallId?: string;
  readonly readable?: boolean;
}

interface Classified {
  readonly type: ErrorType;
  readonly retryable?: unknown;
  readonly retryAfterMs?: unknown;
  readonly toolName?: unknown;
}

// Only a getter that makes a new cause at each reading gets this far.
const longestChain = 256;

/** The error and its causes, outermost first. Ends at a cycle. */
function causeChain(error: unknown): readonly unknown[] {
  const chain = new Set<unknown>();
  for (let link = error; link !== undefined && link !== null && chain.size < longestChain && !chain.has(link);) {
    chain.add(link);
    link = readField(link, 'cause');
  }
  return [...chain];
}

function readKind(link: unknown): Classified | undefined {
  const type = readField(link, 'type');
  if (isErrorType(type) && SteplineError.is(link)) {
    return {
      type,
      retryable: readField(link, 'retryable'),
      retryAfterMs: readField(link, 'retryAfterMs'),
      toolName: readField(link, 'toolName'),
    };
  }
  // What AbortSignal.timeout() and fetch throw.
  if (readField(link, 'name') === 'TimeoutError') return { type: ErrorType.Timeout };
  return undefined;
}

// A rate limit or a time-out stays one however often it was wrapped on its way up.
const isTransport = ({ type }: Classified): boolean => type === ErrorType.RateLimit || type === ErrorType.Timeout;

function readText(error: unknown, key: 'message' | 'code'): string | undefined {
  const value = readField(error, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Number of causes that a failure keeps, and the longest text of one. */
const [mostCauses, longestCause] = [5, 300];

/** Lists the messages of the causes, without those that a message before them repeats; undefined if there are none. */
function listCauses([error, ...links]: readonly unknown[]): readonly string[] | undefined {
  const causes: string[] = [];
  let before = readText(error, 'message') ?? '';
  for (const link of links) {
    const text = typeof link === 'string' ? link : readText(link, 'message');
    if (text === undefined || before.includes(text)) continue;
    before = text;
    causes.push(cleanText(defaultRedactor.text(text).slice(0, longestCause)));
    if (causes.length === mostCauses) break;
  }
  return causes.length === 0 ? undefined : causes;
}

const isWait = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** True if the chain contains an abort: somebody asked to stop, nothing failed. */
export function isAbort(error: unknown): boolean {
  return causeChain(error).some((link) => readField(link, 'name') === 'AbortError');
}

/** Turns anything thrown into plain data that a policy can judge. Walks the `cause` chain. */
export function classifyError(error: unknown, options: ClassifyOptions = {}): Failure {
  const chain = causeChain(error);
  const kinds = chain.flatMap((link) => readKind(link) ?? []);
  const kind = kinds.find(isTransport) ?? kinds[0];
  const toolName = options.toolName ?? kinds.find((named) => named.toolName !== undefined)?.toolName;
  return {
    type: kind?.type ?? options.fallback ?? ErrorType.Unknown,
    code: cleanText(readText(error, 'code') ?? 'unclassified'),
    message: cleanText(readText(error, 'message') ?? describeThrown(error)),
    // Whoever wrapped the error and says that trying again cannot help knows more than the cause does.
    retryable: kinds.every(({ retryable }) => retryable !== false),
    ...omitUndefined({
      retryAfterMs: isWait(kind?.retryAfterMs) ? kind.retryAfterMs : undefined,
      toolName: typeof toolName === 'string' ? cleanText(toolName) : undefined,
      toolCallId: options.toolCallId,
      readable: options.readable,
      causes: listCauses(chain),
    }),
  };
}

// JSON.stringify gives undefined for undefined, functions and symbols, whatever its type says.
const toJsonText = (value: unknown): string | undefined => JSON.stringify(value);

function describeThrown(error: unknown): string {
  if (typeof error === 'string' && error !== '') return error;
  try {
    if (error instanceof Error) return error.name;
    return toJsonText(error) ?? String(error);
  } catch {
    return `a thrown ${typeof error} that cannot be shown`;
  }
}
