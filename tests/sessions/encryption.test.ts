import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Encryption, SessionStore } from '../../src/entry/sessions.ts';
import { createMemoryPlace, encryptStore } from '../../src/entry/sessions.ts';
import { ann, bob, readEvents, stageOn, getWait } from './stage.ts';

/** AES-GCM, synchronous. */
function createPair(): Encryption {
  const key = randomBytes(32);
  return {
    encrypt: (text) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
    },
    decrypt: (text) => {
      const bytes = Buffer.from(text, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8');
    },
  };
}

async function readEverything(store: SessionStore): Promise<string> {
  const { sessions } = await store.heads.list();
  const all = await Promise.all(
    sessions.map(async ({ id }) => [await store.log.load(id), await store.log.entries(id), await store.log.effects(id)]),
  );
  return JSON.stringify([sessions, all, await store.inbox.read(), await store.notes.list({ prefix: '' })]);
}

/** Words of the conversation, and the name of its tool, as JSON has it: encrypted text may hold any three letters. */
const plainWords = /otters|walnuts|"pay/;

test('a session on an encrypted store runs, waits and is approved in another process, and leaves no plain word behind', async () => {
  const below = createMemoryPlace();
  const pair = createPair();
  const { start, ran } = stageOn({ open: () => encryptStore(below.open(), pair) });
  const first = start();
  const { id } = await first.create({ owner: 'ann', tags: ['blue'] }, { by: ann });
  expect(await first.send(id, 'pay 5; say otters like walnuts', { by: ann })).toMatchObject({ status: 'waiting' });
  expect(await readEverything(below.open())).not.toMatch(plainWords);
  const second = start();
  const wait = await getWait(second, id);
  expect(await second.approve(id, wait, { by: bob })).toMatchObject({ status: 'completed', text: 'otters like walnuts' });
  expect(ran).toEqual(['pay 5']);
  expect((await readEvents(second, id)).length).toBeGreaterThan(5);
  expect(await second.list({ owner: 'ann', tag: 'blue' })).toMatchObject({ sessions: [{ id, stepCount: 2 }] });
  const stored = await readEverything(below.open());
  expect(stored).toContain(id);
  expect(stored).not.toMatch(plainWords);
});

test('a session of another key is listed as damaged, and the others go on', async () => {
  const below = createMemoryPlace();
  const foreign = stageOn({ open: () => encryptStore(below.open(), createPair()) }).start();
  const { id: lost } = await foreign.create({ id: 'lost' }, { by: ann });
  const runtime = stageOn({ open: () => encryptStore(below.open(), createPair()) }).start();
  const { id } = await runtime.create({ id: 'own' }, { by: ann });
  expect(await runtime.send(id, 'say Hi', { by: ann })).toMatchObject({ text: 'Hi' });
  await expect(runtime.get(lost)).rejects.toMatchObject({ code: 'session-damaged' });
  const { sessions } = await runtime.list();
  expect(sessions.map((session) => [session.id, 'damage' in session])).toEqual([
    ['own', false],
    ['lost', true],
  ]);
});
