// A chat with a person who answers the next morning. One process asks and ends; another one opens the same file and goes on.
// Both play on a clock of their own, so that the night takes no time here. All models are scripted.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChat, humanParticipant, llmParticipant } from 'stepline/chat';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import type { FakeClock } from 'stepline/testing';
import { createFakeClock, scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

// A model that needs its time to think.
const thinks = (clock: FakeClock, ms: number, text: string) =>
  scriptedModel([
    () => {
      clock.skip(ms);
      return { text, usage: { input: 100, output: 10 } };
    },
  ]);

/** The chat, as each process makes it for itself. */
function open(path: string, clock: FakeClock) {
  const chat = createChat({
    id: 'offers',
    participants: [
      llmParticipant({ name: 'clerk', model: thinks(clock, 2000, 'We could offer them ten percent.') }),
      // Nobody to call back: the chat waits for these words.
      humanParticipant({ name: 'boss', prompt: 'May we offer this?' }),
      llmParticipant({ name: 'writer', model: thinks(clock, 3000, 'Dear Acme, we offer you five percent.') }),
    ],
    // Five and a half seconds, on either clock: a night that counted would end it.
    limits: { wallMs: 5500, activeMs: 5500 },
    ports: { clock },
  });
  const store = sqliteStore({ path });
  return { store, runtime: createSessionRuntime({ agents: [chat], store, clock }) };
}

async function evening(path: string): Promise<void> {
  const { store, runtime } = open(path, createFakeClock(Date.UTC(2026, 0, 5, 18)));
  const by = { id: 'ann', kind: 'staff' };
  const { id } = await runtime.create({}, { by });
  const turn = await runtime.send(id, 'Acme wants a discount.', { by });
  const [wait] = turn.waitingFor;
  assert.ok(turn.status === 'waiting' && wait?.type === 'person');
  print(`${wait.participant ?? ''} is asked: ${wait.prompt ?? ''} (${wait.id})`);
  print(turn.explain());
  await runtime.drain();
  await store.close();
}

async function morning(path: string): Promise<void> {
  const { store, runtime } = open(path, createFakeClock(Date.UTC(2026, 0, 6, 8, 30)));
  const [found] = (await runtime.list({ status: 'waiting' })).sessions;
  assert.ok(found !== undefined);
  const [wait] = (await runtime.get(found.id)).waitingFor;
  assert.ok(wait !== undefined);
  const turn = await runtime.answer(found.id, wait, { by: { id: 'boss', kind: 'staff' }, value: 'Five is enough.' });

  const { state } = await runtime.get(found.id);
  for (const { speaker = 'ann', text } of state.transcript) print(`${speaker.padEnd(7)}${text}`);
  print(`\n${turn.explain()}`);
  const { startedAt, updatedAt } = state.info;
  const { execution, steps, usage, status } = state;
  print(`From the first word to the last: ${((updatedAt - startedAt) / 3_600_000).toFixed(1)} hours`);
  print(`At work: ${String(execution.activeMs)} ms; ${String(usage.total)} tokens`);

  // The night counted nowhere, everybody had one turn, and the clerk was not asked again.
  const order = steps.map(({ participant }) => participant);
  assert.deepEqual([status, order], ['completed', ['clerk', 'boss', 'writer']]);
  assert.deepEqual([execution.number, execution.activeMs, usage.total], [1, 2000 + 3000, 2 * 110]);
  assert.ok(updatedAt - startedAt > 14 * 3_600_000);
  await runtime.drain();
  await store.close();
}

const [, script = '', part, file = ''] = process.argv;
if (part === 'evening') await evening(file);
else if (part === 'morning') await morning(file);
else {
  const folder = mkdtempSync(join(tmpdir(), 'overnight-'));
  try {
    for (const next of ['evening', 'morning']) {
      print(`--- ${next} ---`);
      const { status } = spawnSync(process.execPath, [script, next, join(folder, 'sessions.db')], { stdio: 'inherit' });
      assert.equal(status, 0, `the process of the ${next} failed`);
      print();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
