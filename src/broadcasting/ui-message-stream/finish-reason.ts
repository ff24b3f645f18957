import type { AnswerOutcome } from './answer-types.ts';

/** Finish reasons of the AI SDK that an answer may have. */
type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other';

/** Waits that a page can end. */
const answerable = ['approval', 'client-tool', 'unknown-call'];

/**
 * Returns the finish reason of an answer. `interrupted` keeps `useChat` from continuing by itself: a run that was stopped is continued by
 * nobody but the person.
 */
export function toFinishReason({ status, waitingFor = [] }: Pick<AnswerOutcome, 'status' | 'waitingFor'>): FinishReason {
  switch (status) {
    case 'completed':
      return 'stop';
    case 'stopped':
      return 'interrupted';
    case 'failed':
      return 'error';
    case 'waiting':
      return waitingFor.some(({ type }) => answerable.includes(type)) ? 'tool-calls' : 'other';
    case 'pending':
    case 'in_progress':
      return 'other';
  }
}
