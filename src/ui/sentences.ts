// Sentences about calls and about the end of a run.
import { StopReason } from '../continuation/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { getNumber, getObject, getText } from './fields.ts';
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

/** Ends a text with one full stop. */
const endSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Says how a failure ended a run: in its own words, and why it was not tried again. */
function describeFailure(failure: string, { context, sentence }: { readonly context: JsonObject; readonly sentence: string }): string {
  const words = failure.replace(/\.$/, '');
  const [failures = 0, allowed = 0] = [getNumber(context, 'consecutiveFailures'), getNumber(context, 'maxRetries')];
  if (context['cause'] === 'not-retryable') return `Failed: ${words} (a retry cannot fix it).`;
  if (context['cause'] === 'retries-used-up' && failures > 1) return `Failed: ${words} (failure ${failures} in a row, limit ${allowed}).`;
  const isSaid = sentence === '' || sentence.includes(words);
  return isSaid ? `Failed: ${endSentence(lowerFirst(sentence) || words)}` : `Failed: ${endSentence(words)} ${endSentence(sentence)}`;
}

/** Says who stopped a run, and the reason that was given. */
function describeRequest({ context, sentence }: { readonly context: JsonObject; readonly sentence: string }): string | undefined {
  const person = getText(context, 'person');
  if (person === undefined) return undefined;
  const isDefault = sentence === '' || /^(?:cancelled|stopped)(?: by .*)?\.?$|^the person pressed stop\.?$/i.test(sentence);
  return `Stopped by ${person}${isDefault ? '.' : `: ${endSentence(lowerFirst(sentence))}`}`;
}

/** Says why a run has stopped: "Stopped: the step limit was reached (4 of 4)". */
export function describeStop(data: JsonObject): string {
  const [status, reason = '', sentence = ''] = [getText(data, 'status'), getText(data, 'stop_reason'), getText(data, 'sentence')];
  const [failure, context] = [getText(data, 'failure'), getObject(data, 'context') ?? {}];
  if (status === 'failed' && failure !== undefined) return describeFailure(failure, { context, sentence });
  const request = reason === StopReason.UserRequested ? describeRequest({ context, sentence }) : undefined;
  if (request !== undefined) return request;
  const limit = limits[reason];
  const word = status === 'failed' ? 'Failed' : 'Stopped';
  if (limit === undefined) return new RegExp(`^${word}\\b`).test(sentence) ? sentence : `${word}: ${lowerFirst(sentence) || reason}`;
  const meter = readMeter(context);
  return `${word}: ${limit}${meter === undefined ? '' : ` ${describeMeter(meter)}`}`;
}

const limitNames: Readonly<Record<string, string>> = {
  steps: 'the step limit',
  tokens: 'the token limit',
  wall: 'the time limit',
  active: 'the limit of active time',
  cost: 'the cost limit',
};

const nameLimit = (limit: string): string => limitNames[limit] ?? `the limit of ${limit}`;

/** Says, for good, that a run had to wait at a limit. */
export const describePaused = (limit: string): string => `Paused: ${nameLimit(limit)} was reached.`;

/** Says that a run waits at a limit: "Waiting: the step limit is reached (4 of 4)." */
export function describePause(limit: string, meter?: Meter): string {
  return `Waiting: ${nameLimit(limit)} is reached${meter === undefined ? '' : ` ${describeMeter(meter)}`}.`;
}

/** The part of a wait that its sentence is made of. */
export interface DescribedWait {
  readonly type: string;
  readonly tool?: string | undefined;
  readonly participant?: string | undefined;
  readonly reason?: string | undefined;
}

const callWaits: Readonly<Record<string, string>> = {
  approval: 'approval of',
  'client-tool': 'the output of',
  'unknown-call': 'the true result of',
};

function describeAwaited({ type, tool, participant, reason }: DescribedWait): string | undefined {
  const words = callWaits[type];
  if (words !== undefined && tool !== undefined) return `${words} ${tool}`;
  if (type !== 'person' || reason === 'crash-loop') return undefined;
  return `an answer from ${participant ?? 'a person'}`;
}

/** Says what a run waits for, without ids; undefined if more has to be said than what and for whom. */
export function describeWaits(waits: readonly DescribedWait[]): string | undefined {
  const words = waits.map(describeAwaited);
  if (words.length === 0 || words.includes(undefined)) return undefined;
  return `Waiting for ${new Intl.ListFormat('en').format(words.flatMap((each) => each ?? []))}.`;
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
