// States of sessions and calls in words.
import type { IconName } from '../app/icons.tsx';

/** Colours of states. */
export type Tone = 'calm' | 'busy' | 'good' | 'warn' | 'bad';

/** A state in words, with its colour. */
export interface StatusWords {
  readonly text: string;
  readonly tone: Tone;
}

/** The part of a wait that its words are made of. */
export interface NamedWait {
  readonly type: string;
  readonly tool?: string | undefined;
  readonly wait_id?: string | undefined;
  readonly limit?: string | undefined;
}

const limitNames: Readonly<Record<string, string>> = {
  steps: 'steps',
  tokens: 'tokens',
  wall: 'time',
  active: 'active time',
  cost: 'money',
};

/** Names what ran out: steps, tokens, time, money. */
export const nameLimit = ({ limit, wait_id }: Pick<NamedWait, 'limit' | 'wait_id'>): string =>
  limitNames[limit ?? wait_id?.replace(/^grant\//, '') ?? ''] ?? 'room';

const waitWords: Readonly<Record<string, string>> = {
  approval: 'Waiting for approval',
  'client-tool': 'Waiting for an answer',
  person: 'Waiting for an answer',
  'unknown-call': 'Waiting for a decision',
  provider: 'Waiting for the provider',
};

/** Says what a session waits for. */
export const describeWait = (wait: NamedWait): string =>
  wait.type === 'grant' ? `Waiting for more ${nameLimit(wait)}` : (waitWords[wait.type] ?? 'Waiting');

const statuses: Readonly<Record<string, StatusWords>> = {
  pending: { text: 'Ready', tone: 'calm' },
  in_progress: { text: 'Running', tone: 'busy' },
  waiting: { text: 'Waiting', tone: 'warn' },
  completed: { text: 'Completed', tone: 'good' },
  stopped: { text: 'Stopped', tone: 'warn' },
  failed: { text: 'Failed', tone: 'bad' },
  cancelled: { text: 'Cancelled', tone: 'calm' },
};

const toWords = (name: string): string => {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

const stopWords: Readonly<Record<string, string>> = {
  steps_limit: 'step limit',
  token_limit: 'token limit',
  time_limit: 'time limit',
  retry_limit: 'too many failures',
  error: 'an error',
  finish_reason: 'the model ended it',
  guard: 'a guard',
  user_requested: 'by a person',
};

/** Says a session's status in a word or two. */
export function describeStatus(status: string, waits: readonly NamedWait[] = [], stopReason?: string): StatusWords {
  const found = statuses[status] ?? { text: toWords(status), tone: 'calm' };
  if (status === 'waiting' && waits[0] !== undefined) return { ...found, text: describeWait(waits[0]) };
  if (status === 'stopped' && stopReason !== undefined)
    return { ...found, text: `Stopped: ${stopWords[stopReason] ?? toWords(stopReason).toLowerCase()}` };
  return found;
}

/** A state of a call in words. */
export interface CallWords extends StatusWords {
  readonly icon: IconName;
}

const calls: Readonly<Record<string, CallWords>> = {
  running: { text: 'Running', tone: 'busy', icon: 'clock' },
  waiting: { text: 'Waiting for approval', tone: 'warn', icon: 'pause' },
  blocked: { text: 'Blocked', tone: 'bad', icon: 'blocked' },
  succeeded: { text: 'Done', tone: 'good', icon: 'check' },
  rejected: { text: 'Rejected', tone: 'warn', icon: 'cross' },
  expired: { text: 'Not approved in time', tone: 'warn', icon: 'clock' },
  superseded: { text: 'Given up', tone: 'calm', icon: 'cross' },
  cancelled: { text: 'Cancelled', tone: 'calm', icon: 'cross' },
  unknown: { text: 'May or may not have taken effect', tone: 'warn', icon: 'question' },
};

/** Says the status of a call. */
export const describeCall = (status: string): CallWords => calls[status] ?? { text: 'Failed', tone: 'bad', icon: 'warning' };
