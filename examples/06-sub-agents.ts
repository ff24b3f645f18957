// A desk that hands tasks to other agents: two at once, one of which needs a person's word. All models are scripted.
import { createAgent, defineTool } from 'stepline';
import { subAgents } from 'stepline/capabilities';
import { scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const nothing = { type: 'object', properties: {} } as const;
const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order.',
  input: nothing,
  effect: 'pure',
  run: () => 'order 7, 40 euros',
});
const refund = defineTool({ name: 'refund', description: 'Pays money back.', input: nothing, needsApproval: true, run: () => 'refunded' });

const shipping = createAgent({
  id: 'shipping',
  model: scriptedModel([
    { toolCalls: [{ name: 'find_order' }], usage: { input: 60, output: 8 } },
    { text: 'Order 7 was lost on its way.', usage: { input: 80, output: 9 } },
  ]),
  tools: { find_order: findOrder },
});
const billing = createAgent({
  id: 'billing',
  model: scriptedModel([
    { toolCalls: [{ name: 'refund' }], usage: { input: 50, output: 6 } },
    { text: '40 euros are on their way back.', usage: { input: 70, output: 8 } },
  ]),
  tools: { refund },
});

const desk = createAgent({
  id: 'desk',
  model: scriptedModel([
    {
      toolCalls: [
        { id: 'ship', name: 'spawn_subagent', args: { subagent: 'shipping', prompt: 'Where is order 7?' } },
        { id: 'bill', name: 'spawn_subagent', args: { subagent: 'billing', prompt: 'Refund order 7: 40 euros.' } },
      ],
      usage: { input: 200, output: 40 },
    },
    { text: 'It was lost. Your 40 euros are on their way back.', usage: { input: 260, output: 14 } },
  ]),
  // One budget: what the others spend counts here, and this limit ends them too.
  limits: { tokens: 5000 },
  capabilities: [
    subAgents({
      agents: {
        shipping: { agent: shipping, description: 'Knows where orders are.' },
        billing: { agent: billing, description: 'Refunds and invoices.' },
      },
    }),
  ],
});

const run = desk.start('My order 7 never came, I want my money back.');
for await (const event of run) {
  // Events of all agents come in one stream; the parent's id says whose child it is.
  const depth = event.parentAgentId === null ? '' : '    ';
  if (event.type === 'ToolCallStarted' || event.type === 'ToolApprovalRequested' || event.type === 'AgentFinished')
    print(`${depth}${String(event)}`);
}
const waiting = await run.result;
print(`\n${waiting.explain()}`);

// Stored, and taken up again when somebody has agreed.
const [wait] = waiting.state.waitingFor;
const state = desk.restore(JSON.parse(JSON.stringify(waiting.state))).approve(wait?.id ?? '');
const done = await desk.start(state).result;
print(`\n${done.text}`);
for (const { toolCallId, value } of done.state.steps[0]?.executions ?? []) print(`  ${toolCallId.padEnd(5)} ${JSON.stringify(value)}`);
print(`${String(done.usage.total)} tokens in all, four answers of sub-agents among them`);
