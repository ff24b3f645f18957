import { isRecord } from '../../lib/index.ts';

type PlainHeaders = Readonly<Record<string, unknown>>;

function header(headers: PlainHeaders, name: string): string | undefined {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' || typeof found === 'number' ? String(found).trim() : undefined;
}

const plainNumber = /^\d+(\.\d+)?$/;

function milliseconds(text: string | undefined): number | undefined {
  return text !== undefined && plainNumber.test(text) ? Number(text) : undefined;
}

function secondsOrDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (plainNumber.test(text)) return Math.ceil(Number(text) * 1000);
  // A date is made of words; a number with a sign or an exponent would pass for the name of a year.
  const at = /[a-z]/i.test(text) && Number.isNaN(Number(text)) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

const duration = /^(\d+(?:\.\d+)?)s$/;

// google.rpc.RetryInfo: {"@type": "…RetryInfo", "retryDelay": "34.4s"}, somewhere in the list of details.
function retryInfo(value: unknown, depth = 0): number | undefined {
  if (depth > 6 || typeof value !== 'object' || value === null) return undefined;
  const delay = isRecord(value) ? value['retryDelay'] : undefined;
  const match = typeof delay === 'string' ? duration.exec(delay) : null;
  if (match !== null) return Math.ceil(Number(match[1]) * 1000);
  for (const item of Object.values(value)) {
    const found = retryInfo(item, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Parts of a response that may name a wait. */
export interface RetryHints {
  readonly headers?: PlainHeaders;
  /** The parsed body of the answer. */
  readonly body?: unknown;
}

/** The wait that a provider asks for, from `retry-after-ms`, `retry-after` (seconds or a date) or Google's RetryInfo. */
export function readRetryAfter({ headers = {}, body }: RetryHints, now: number): number | undefined {
  const asked = [milliseconds(header(headers, 'retry-after-ms')), secondsOrDate(header(headers, 'retry-after'), now), retryInfo(body)];
  return asked.find((delay) => delay !== undefined && Number.isFinite(delay));
}
