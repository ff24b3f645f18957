// Bytes that 100 steps take in storage, and whether a late step takes more than an early one.
//   npm run bench:bytes
import { AgentState, createAgent, defineTool } from 'stepline';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { benchLimits, benchModel } from './agent.bench.ts';

const by = { id: 'bench', kind: 'service' };

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  effect: 'once',
  run: ({ id }) => ({ id, found: true }),
});

const print = (what: string, bytes: number): void => {
  process.stdout.write(`  ${what.padEnd(44)} ${(bytes / 1000).toFixed(2).padStart(8)} kB\n`);
};

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

async function measure(steps: number): Promise<void> {
  const agent = createAgent({ id: 'bench', model: benchModel(steps), tools: [look], limits: benchLimits });
  const end = await agent.run(AgentState.empty().withUserMessage('Go.'));
  const store = createMemoryStore();
  const runtime = createSessionRuntime({ agents: [agent], store });
  const { id } = await runtime.create({}, { by });
  await runtime.send(id, 'Go.', { by });
  const entries = await store.log.entries(id);
  const bodies = entries.map(({ body }) => Buffer.byteLength(body));
  print(`${String(steps)} steps as a snapshot`, Buffer.byteLength(AgentState.codec.stringify(end)));
  print(`${String(steps)} steps in a session's log`, sum(bodies));
  print('  with its events', sum(bodies) + sum(entries.map(({ events = '' }) => Buffer.byteLength(events))));
  print('  the entry of step 10', bodies[11] ?? 0);
  print(`  the entry of step ${String(steps - 5)}`, bodies.at(-6) ?? 0);
  await runtime.drain();
}

process.stdout.write('A step: one model call and one tool call.\n');
for (const steps of [100, 900]) await measure(steps);
