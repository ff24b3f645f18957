// An agent that runs inside a workflow: no network, no crypto, no performance, no process. Model and tools are activities.
import type { Agent, Model } from 'stepline';
import { createAgent, defineTool } from 'stepline';
import type { ModelOutcome } from 'stepline/inference';
import type { Clock } from 'stepline/step-by-step';

/** Functions that run outside the workflow, once per call. Temporal stores their results in the history. */
export interface Activities {
  /** Gets the messages and the tools of a request as plain data, and returns what `generate` of a model returned. */
  askModel(request: { readonly messages: readonly unknown[]; readonly tools: readonly unknown[] }): Promise<ModelOutcome>;
  sendMail(mail: { readonly to: string; readonly idempotencyKey: string }): Promise<string>;
}

/** Activities, and the id source of the workflow. */
interface Surroundings extends Activities {
  readonly ids: () => string;
}

/** The clock of the workflow: Temporal replaces Date and the timers. */
const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => Date.now(),
  schedule: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

export function createMailer({ askModel, sendMail, ids }: Surroundings): Agent {
  const ask: Model['generate'] = ({ messages, tools = [] }) =>
    askModel({
      messages: messages.map((message) => message.toJSON()),
      // Plain data already.
      tools,
    });
  return createAgent({
    id: 'mailer',
    model: { provider: 'activity', modelId: 'ask-model', generate: ask, stream: ask },
    tools: [
      defineTool({
        name: 'send_mail',
        description: 'Sends a mail.',
        input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
        run: ({ to }, { idempotencyKey }) => sendMail({ to, idempotencyKey }),
      }),
    ],
    // A time limit would be a timer of the workflow.
    limits: { wallMs: Infinity },
    ports: { clock, ids, random: () => Math.random() },
  });
}
