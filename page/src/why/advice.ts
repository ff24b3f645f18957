// What to do next, in one sentence.
import type { ViewWhy } from 'stepline/ui';

const byStatus: Readonly<Record<string, string>> = {
  pending: 'Send a message.',
  in_progress: 'Wait for the answer, or press Stop.',
  completed: 'Send another message.',
};

/** Says what a person can do now: what the view advises, else what the status suggests. */
export const adviseNext = (status: string, { next }: Pick<ViewWhy, 'next'>): string =>
  next ?? byStatus[status] ?? 'Read the last message, then send another one.';
