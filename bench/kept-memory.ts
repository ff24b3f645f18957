// Memory of finished conversations that a program keeps: 1,000 of 11 steps through the AI SDK adapter, and 1,000 of the AI SDK's own loop.
// Needs --expose-gc; each kind runs in its own process.
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { AgentState, createAgent } from 'stepline';
import { aiSdk } from 'stepline/ai-sdk';
import { benchLimits, benchTools } from './agent.bench.ts';
import { fakeModel } from './ai-sdk.bench.ts';

const steps = 11;
const conversations = 1000;

function createConversation(kind: string | undefined): () => Promise<unknown> {
  const model = fakeModel(steps);
  if (kind !== 'ai') {
    const agent = createAgent({ model: aiSdk(model), streaming: false, tools: benchTools, limits: benchLimits });
    return () => agent.run(AgentState.empty().withUserMessage('Go.'));
  }
  const look = tool({
    description: 'Looks something up.',
    inputSchema: jsonSchema<{ id: number }>({ type: 'object', properties: { id: { type: 'number' } }, required: ['id'] }),
    execute: ({ id }) => ({ id, found: true }),
  });
  return () => generateText({ model, prompt: 'Go.', tools: { look }, stopWhen: isStepCount(steps + 1) });
}

async function measureHeap(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run with --expose-gc.');
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}

const converse = createConversation(process.argv[2]);
for (let index = 0; index < 100; index += 1) await converse();
const kept: unknown[] = [];
const before = await measureHeap();
for (let index = 0; index < conversations; index += 1) kept.push(await converse());
const after = await measureHeap();
process.stdout.write(String((after - before) / kept.length));
