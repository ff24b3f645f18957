import { proxyActivities, uuid4 } from '@temporalio/workflow';
import type { Activities } from './agent.ts';
import { createMailer } from './agent.ts';

// Temporal must not retry by itself: the agent decides about retries, and a tool must not run twice.
const { askModel, sendMail } = proxyActivities<Activities>({ startToCloseTimeout: '10 minutes', retry: { maximumAttempts: 1 } });

/** The workflow. */
export async function mail(task: string): Promise<{ readonly status: string; readonly text: string }> {
  const { status, text } = await createMailer({ askModel, sendMail, ids: uuid4 }).start(task).result;
  return { status, text };
}

/** The same agent with activities passed in, for a test without a server. */
export async function mailWith(task: string, given: Parameters<typeof createMailer>[0]): Promise<{ readonly text: string }> {
  const { text } = await createMailer(given).start(task).result;
  return { text };
}
