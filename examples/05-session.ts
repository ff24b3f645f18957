// A session that survives its process. The first process is killed in the middle of a run; the second one resumes it from the same file.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent, defineTool } from 'stepline';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const [, script = '', part, file = ''] = process.argv;
const by = { id: 'ann', kind: 'user' };

/** Opens the file as each process does. The model answers by what it reads, so it does not matter which process asks. */
function open() {
  const charge = defineTool({
    name: 'charge',
    description: 'Charges a card.', // the effect is `once` by default: it never runs twice
    input: { type: 'object', properties: {} } as const,
    run: () => {
      print('  charge runs');
      if (part === 'first') process.kill(process.pid, 'SIGKILL');
      return 'charged';
    },
  });
  const model = scriptedModel(
    [
      ({ messages }) => {
        const [result] = messages.at(-1)?.toolResults ?? [];
        return result === undefined ? { toolCalls: [{ name: 'charge' }] } : `The tool said: ${JSON.stringify(result.output)}`;
      },
    ],
    { repeatLast: true },
  );
  const store = sqliteStore(file);
  return { store, runtime: createSessionRuntime({ agents: [createAgent({ id: 'shop', model, tools: { charge } })], store }) };
}

if (part === 'first') {
  const { runtime } = open();
  const { id } = await runtime.create({ id: 'order-7' }, { by });
  await runtime.send(id, 'Charge my card.', { by });
} else if (part === 'second') {
  const { store, runtime } = open();
  const { resumed } = await runtime.ready;
  print(`  resumed: ${resumed.join(', ')}`);
  for await (const event of runtime.events('order-7', { follow: true })) if (event.type === 'AgentFinished') break;
  const { status, state } = await runtime.get('order-7');
  print(`  ${status}: ${state.text}`);
  await runtime.drain();
  await store.close();
} else {
  const folder = mkdtempSync(join(tmpdir(), 'session-'));
  try {
    for (const next of ['first', 'second']) {
      print(`The ${next} process:`);
      const { signal, status } = spawnSync(process.execPath, [script, next, join(folder, 'sessions.db')], { stdio: 'inherit' });
      if (next === 'first') assert.equal(signal, 'SIGKILL');
      else assert.equal(status, 0);
      print(`  ended ${signal === null ? 'by itself' : `by ${signal}`}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
