// A call that a person has to approve. The run ends as waiting, its state is stored as JSON, and the approval resumes it. The model is scripted.
import { createAgent, defineTool } from 'stepline';
import { scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] } as const,
  needsApproval: ({ euros }) => euros > 50,
  run: ({ euros }) => `${String(euros)} EUR paid back`,
});
const calls = (id: string) => ({ toolCalls: [{ id, name: 'refund', args: { euros: 120 } }], usage: { input: 90, output: 12 } });
const answers = (text: string) => ({ text, usage: { input: 120, output: 9 } });

const agent = createAgent({
  model: scriptedModel([calls('call-1'), answers('80 EUR are on their way.'), calls('call-2'), answers('I may not refund that.')]),
  tools: { refund },
});

const waiting = await agent.start('I want 120 EUR back.').result;
print(waiting.explain());
const stored = JSON.stringify(waiting.state);

// … next week, in another process. A person approves, here with another amount:
const approved = agent.restore(JSON.parse(stored)).approve('call-1', { args: { euros: 80 } });
const done = await agent.start(approved).result;
print(`\n${done.text}`);
print(`The tool ran with ${JSON.stringify(done.state.steps[0]?.executions[0]?.args)}.`);

// … or rejects. The model reads the reason.
const again = await agent.start(done.state.withUserMessage('And another 120 EUR.')).result;
const rejected = await agent.start(again.state.reject('call-2', 'one refund per customer')).result;
print(`\n${rejected.text}\n${rejected.explain()}`);
