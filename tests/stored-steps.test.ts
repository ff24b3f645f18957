// The examples of docs/storage.md are what is really stored.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createAgent, defineTool } from '../src/entry/index.ts';
import { createCountingIds, createFakeClock } from '../src/lib/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../src/sessions/index.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { newProcess } from './sessions/stage.ts';

const examples = [...readFileSync(new URL('../docs/storage.md', import.meta.url), 'utf8').matchAll(/```json\n([^]*?)```/g)].map(
  ([, text = '']) => JSON.parse(text) as unknown,
);

/** The bodies of a session's log: a message, two steps that call a tool, and an answer. */
async function readStoredBodies(): Promise<readonly unknown[]> {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const search = defineTool({
    name: 'search',
    description: 'Searches.',
    input: { type: 'object', properties: {} },
    run: () => {
      clock.skip(1250);
      return 'nothing yet';
    },
  });
  const calls = { toolCalls: [{ name: 'search' }], usage: { input: 30, output: 12 } };
  const model = scriptedModel([calls, calls, { text: 'Found it.', usage: { input: 30, output: 12 } }]);
  const agent = createAgent({ id: 'desk', model, tools: [search], limits: { steps: 6 }, ports: { clock, ids } });
  const store = createMemoryPlace().open();
  const runtime = createSessionRuntime({ ...newProcess, agents: [agent], store, clock, ids });
  const { id } = await runtime.create({ id: 's-1' }, { by: { id: 'ann', kind: 'user' } });
  await runtime.send(id, 'Find Acme.', { by: { id: 'ann', kind: 'user' } });
  return (await store.log.entries(id)).map(({ body }) => JSON.parse(body) as unknown);
}

test('the entry of a message and the entry of a second step are stored as the docs show them', async () => {
  const bodies = await readStoredBodies();
  expect(examples).toStrictEqual([bodies[1], bodies[3]]);
});
