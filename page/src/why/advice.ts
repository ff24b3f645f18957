// What to do next, in one sentence.
import type { ViewWait, ViewWhy } from 'stepline/ui';

const waitAdvice: Readonly<Record<string, string>> = {
  approval: 'Approve or reject the call in the conversation.',
  'client-tool': 'Answer the question in the conversation.',
  person: 'Answer the question in the conversation.',
  'unknown-call': 'Find out whether the call took effect, and say so in the conversation.',
  grant: 'Grant more in the conversation, or end the run there.',
  provider: 'Nothing: it goes on by itself.',
};

const stopAdvice: Readonly<Record<string, string>> = {
  completed: 'Send another message.',
  steps_limit: 'Send a message to continue with new limits, or raise limits.steps.',
  token_limit: 'Send a message to continue with new limits, or raise limits.tokens.',
  time_limit: 'Send a message to continue with new limits, or raise the time limit.',
  user_requested: 'Send a message to continue.',
};

const readNext = (why: ViewWhy): string | undefined => {
  const next: unknown = Reflect.get(why, 'next');
  return typeof next === 'string' && next !== '' ? next : undefined;
};

/** Says what a person can do now. */
export function adviseNext(status: string, why: ViewWhy, waits: readonly ViewWait[]): string {
  const [wait] = waits;
  const given = readNext(why);
  if (given !== undefined) return given;
  if (wait !== undefined) return waitAdvice[wait.type] ?? 'Answer what it waits for.';
  if (status === 'in_progress') return 'Wait for the answer, or press Stop.';
  if (status === 'pending') return 'Send a message.';
  return stopAdvice[why.stop_reason ?? ''] ?? 'Read the last message, then send another one.';
}
