// Sentences about calls and about the end of a run.
import { StopReason } from '../continuation/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { getObject, getText } from './fields.ts';
import type { Meter } from './meters.ts';
import { readMeter } from './meters.ts';

const toCount = (value: number): string => String(Math.round(value * 100) / 100).replace(/\B(?=(\d{3})+$)/g, ',');

const limits: Readonly<Record<string, string>> = {
  [StopReason.StepsLimitReached]: 'the step limit was reached',
  [StopReason.TokenLimitReached]: 'the token limit was reached',
  [StopReason.TimeLimitReached]: 'the time limit was reached',
};

function describeMeter({ value, limit, unit }: Meter): string {
  if (unit === 'usd') return `(${value.toFixed(2)} of ${limit.toFixed(2)} USD)`;
  return `(${toCount(value)} of ${toCount(limit)}${unit === 'seconds' ? ' s' : ''})`;
}

const lowerFirst = (text: string): string => (/^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text);

/** Says why a run has stopped: "Stopped: the step limit was reached (4 of 4)". */
export function describeStop(data: JsonObject): string {
  const [status, reason = '', sentence = ''] = [getText(data, 'status'), getText(data, 'stop_reason'), getText(data, 'sentence')];
  const limit = limits[reason];
  const word = status === 'failed' ? 'Failed' : 'Stopped';
  if (limit === undefined) return new RegExp(`^${word}\\b`).test(sentence) ? sentence : `${word}: ${lowerFirst(sentence) || reason}`;
  const meter = readMeter(getObject(data, 'context') ?? {});
  return `${word}: ${limit}${meter === undefined ? '' : ` ${describeMeter(meter)}`}`;
}

const callStates: Readonly<Record<string, string>> = {
  running: 'is running',
  waiting: 'waits for approval',
  blocked: 'was blocked',
  succeeded: 'is done',
  rejected: 'was rejected',
  expired: 'was not approved in time',
  superseded: 'was given up for a new message',
  cancelled: 'was cancelled',
  unknown: 'may or may not have taken effect',
};

/** Says what a call does, without its arguments or its result. */
export const describeCall = (tool: string, status: string): string => `${tool} ${callStates[status] ?? 'failed'}`;

/** True for a text that is JSON, or will be: a model that writes its calls as text. */
export const isJsonLike = (text: string): boolean => /^\s*(?:```\w*\s*)?[{[]/.test(text);
