// A long conversation in a small window: old messages move to a buffer, and a full buffer becomes a summary. Both models are scripted.
import type { AgentState } from 'stepline';
import { createAgent, defineTool } from 'stepline';
import { compaction } from 'stepline/capabilities';
import { scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const orders: Readonly<Record<string, string>> = { A7: 'shipped on Monday', B2: 'waits for payment', C9: 'delivered' };
const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order by its number.',
  input: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const,
  effect: 'pure',
  run: ({ order }) => ({ order, status: orders[order] ?? 'unknown' }),
});

const model = scriptedModel([
  { toolCalls: [{ name: 'find_order', args: { order: 'A7' } }], usage: { input: 90, output: 12 } },
  { text: 'Order A7 was shipped on Monday.', usage: { input: 120, output: 9 } },
  { toolCalls: [{ name: 'find_order', args: { order: 'B2' } }], usage: { input: 110, output: 12 } },
  { text: 'Order B2 waits for your payment.', usage: { input: 130, output: 9 } },
  { toolCalls: [{ name: 'find_order', args: { order: 'C9' } }], usage: { input: 110, output: 12 } },
  { text: 'Order C9 was delivered.', usage: { input: 130, output: 8 } },
]);
const summarizer = scriptedModel(
  [
    { text: 'The user asks about orders. A7 was shipped on Monday.', usage: { input: 210, output: 14 } },
    { text: 'The user asks about orders. A7 was shipped on Monday; B2 waits for payment.', usage: { input: 230, output: 20 } },
  ],
  { repeatLast: true },
);

const agent = createAgent({
  model,
  tools: [findOrder],
  instructions: 'You look orders up.',
  // So small that a few messages fill it. Leave maxTokens and maxBufferTokens out for shares of the context window.
  capabilities: [compaction({ model: summarizer, maxTokens: 40, maxBufferTokens: 40, instructions: 'Keep order numbers.' })],
});

let state: AgentState | undefined;
for (const question of ['Where is order A7?', 'And B2?', 'And C9?']) {
  print(`\nuser       ${question}`);
  // Nothing is kept beside the state: it may be stored between one question and the next.
  const before = state === undefined ? undefined : agent.restore(JSON.parse(JSON.stringify(state)));
  const running = agent.start(before?.withUserMessage(question) ?? question);
  for await (const event of running) if (event.type === 'HookReported') print(`  folded   ${event.message}`);
  ({ state } = await running.result);
  print(`assistant  ${state.text}`);
}

print('\nWhat the model read last:');
for (const { role, text, toolCalls, toolResults } of model.calls.at(-1)?.messages ?? []) {
  const calls = toolCalls.map(({ name, args }) => `calls ${name} ${JSON.stringify(args)}`);
  const results = toolResults.map(({ toolName }) => `the result of ${toolName}`);
  print(`  ${role.padEnd(10)}${[text.replaceAll('\n\n', ' '), ...calls, ...results].filter((words) => words !== '').join(' ')}`);
}
print(`\nUsed in all, with the summaries: ${String(state?.session.usage.total ?? 0)} tokens`);
