// Sessions that wait for somebody: made in one process, found in another.
import { createAgent, defineTool } from 'stepline';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import type { Model } from 'stepline';
import { Usage } from 'stepline';

const by = { id: 'bench', kind: 'service' };

const pay = defineTool({
  name: 'pay',
  description: 'Pays somebody.',
  input: { type: 'object', properties: { to: { type: 'string' }, amount: { type: 'number' } }, required: ['to', 'amount'] } as const,
  needsApproval: true,
  run: () => 'paid',
});

const ask: Model['generate'] = ({ messages }) =>
  Promise.resolve({
    ok: true,
    response: {
      parts:
        messages.at(-1)?.role === 'tool'
          ? [{ type: 'text', text: 'Done.' }]
          : [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'pay', args: { to: 'somebody', amount: 5 } }],
      usage: Usage.of({ input: 100, output: 20 }),
      finishReason: 'stop',
    },
  });

const agent = createAgent({ id: 'bench', model: { provider: 'bench', modelId: 'bench', generate: ask, stream: ask }, tools: [pay] });

/** Makes sessions that all wait for an approval. */
export async function parkedSessions(path: string, count: number): Promise<void> {
  const store = sqliteStore({ path });
  const runtime = createSessionRuntime({ agents: [agent], store });
  for (let done = 0; done < count; done += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, count - done) }, async () => {
        const { id } = await runtime.create({ tenant: 'bench' }, { by });
        await runtime.send(id, 'Pay 5 to somebody.', { by });
      }),
    );
  }
  await runtime.drain();
  await store.close();
}

/** Starts on the file and finds what waits, with what it waits for. */
async function findParked(path: string): Promise<void> {
  const began = performance.now();
  const store = sqliteStore({ path });
  const runtime = createSessionRuntime({ agents: [agent], store });
  await runtime.ready;
  const atRest = process.memoryUsage().rss / 1e6;
  let found = 0;
  let cursor: string | undefined;
  do {
    const page = await runtime.list({ status: 'waiting', limit: 1000, ...(cursor !== undefined && { cursor }) });
    found += page.sessions.filter((session) => 'waitingFor' in session && session.waitingFor.length > 0).length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  const seconds = (performance.now() - began) / 1000;
  const memory = process.memoryUsage().rss / 1e6;
  const [first] = (await runtime.list({ limit: 1 })).sessions;
  const session = await runtime.get(first?.id ?? '');
  const [wait] = session.waitingFor;
  if (wait === undefined) throw new Error('nothing waits');
  const turn = await runtime.approve(session.id, wait, { by });
  process.stdout.write(
    `  found after a restart         ${seconds.toFixed(2).padStart(8)} s        (${String(found)} of them; wanted: 10 or less)\n`,
  );
  process.stdout.write(
    `  memory of that process        ${atRest.toFixed(0).padStart(8)} MB       (with all of them parked; ${memory.toFixed(0)} after the list)\n`,
  );
  if (turn.status !== 'completed') throw new Error(turn.explain());
  await runtime.drain();
  await store.close();
}

const [, script = '', path] = process.argv;
if (script.endsWith('parked.ts') && path !== undefined) await findParked(path);
