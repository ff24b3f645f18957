// A store with one session of each kind, for the tests of the executable and the examples of docs/cli.md.
import { createAgent, defineClientTool, defineTool, ErrorPolicy, stopWhen } from '../../src/entry/index.ts';
import type { FakeClock } from '../../src/lib/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import type { EmbeddedRuntime, SessionStore } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const by = { id: 'ann', kind: 'user' };
const input = { type: 'object', properties: {}, additionalProperties: true } as const;
const usage = { input: 900, output: 60 };

const answers: Readonly<Record<string, readonly ScriptedAnswer[]>> = {
  'Where is order 1001?': [
    { toolCalls: [{ name: 'find_order', args: { order: 1001 } }], usage },
    { text: 'Order 1001 left Hamburg on Monday.', usage },
  ],
  'Refund order 1002.': [
    { toolCalls: [{ name: 'find_order', args: { order: 1002 } }], usage },
    { toolCalls: [{ name: 'refund', args: { order: 1002, amount: 48.5, currency: 'EUR' } }], usage },
    { text: 'I have refunded 48.50 EUR.', usage },
  ],
  'Find all orders of 2024.': [{ toolCalls: [{ name: 'find_order', args: { year: 2024 } }], usage }],
  'Print the label of order 1004.': [{ toolCalls: [{ name: 'print_label', args: { order: 1004 } }], usage }],
};

const model = scriptedModel(
  [
    ({ messages }) => {
      const last = messages.findLastIndex((message) => message.isUser());
      const script: readonly ScriptedAnswer[] = answers[messages[last]?.text ?? ''] ?? [{ text: 'Hello.', usage }];
      const step = messages.slice(last + 1).filter((message) => message.isAssistant()).length;
      const answer: ScriptedAnswer = script[Math.min(step, script.length - 1)] ?? {};
      const toolCalls = answer.toolCalls?.map((call) => ({ ...call, id: `call-${step + 1}` }));
      return { ...answer, ...(toolCalls && { toolCalls }) };
    },
  ],
  { repeatLast: true },
);

/** The worker of the demo. */
export interface Demo {
  readonly store: SessionStore;
  readonly worker: EmbeddedRuntime;
  readonly clock: FakeClock;
}

/** Opens a worker on a file, and takes four sessions to their rest. */
export async function startDemo(path: string): Promise<Demo> {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const tools = [
    defineTool({ name: 'find_order', description: 'Finds orders.', input, effect: 'pure', run: () => 'found' }),
    defineTool({ name: 'refund', description: 'Pays back.', input, needsApproval: true, run: () => 'refunded' }),
    defineClientTool({ name: 'ask_customer', description: 'Asks the customer.', input }),
    defineTool({
      name: 'print_label',
      description: 'Prints.',
      input,
      run: () => {
        throw new Error('printer is out of paper (token=sk-abcdefghijklmnopqrstuvwxyz123456)');
      },
    }),
  ];
  const agent = createAgent({
    id: 'support',
    version: '2.1',
    model,
    tools,
    limits: { steps: 5, tokens: 50_000 },
    errors: ErrorPolicy.retryToolErrors(2),
    criteria: [stopWhen('AngryCustomer', () => false)],
    ports: { clock, ids, random: () => 0.5, onProblem: () => undefined },
  });
  const store = sqliteStore({ path });
  const worker = createSessionRuntime({ agents: [agent], store, clock, ids, name: 'desk', onProblem: () => undefined });
  for (const [index, words] of Object.keys(answers).entries()) {
    const id = `order-${1001 + index}`;
    await worker.create({ id, tenant: 'acme', owner: 'ann', tags: ['web'] }, { by });
    await worker.send(id, words, { by });
    await clock.advance(60_000);
  }
  return { store, worker, clock };
}
