// Nothing that is stored has any of a deleted session, or of an erased message: the bytes of all files are searched.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Message } from '../../src/entry/index.ts';
import { ann, newPath, sqlitePlace, stageOn } from './stage.ts';
import { deletions, leaveTraces, secret, traces } from './traces.ts';

/** Names the files of a folder that have any of the words in them. */
function findFiles(folder: string, words: readonly string[]): readonly string[] {
  const hasOne = (name: string): boolean => {
    const bytes = readFileSync(join(folder, name));
    return words.some((word) => bytes.includes(word));
  };
  return readdirSync(folder).filter(hasOne);
}

describe('everything of a person is gone from the files', () => {
  test.each(Object.entries(deletions))('after %s', async (_, remove) => {
    const path = newPath();
    const left = await leaveTraces(sqlitePlace(path));
    expect(findFiles(dirname(path), traces)).not.toStrictEqual([]);
    await remove(left);
    expect(findFiles(dirname(path), traces)).toStrictEqual([]);
    await left.settle();
    expect(findFiles(dirname(path), traces)).toStrictEqual([]);
  });
});

test('a dead letter that an earlier build has kept goes with its session', async () => {
  const path = newPath();
  const place = sqlitePlace(path);
  const { start } = stageOn(place);
  const runtime = start();
  await runtime.create({ id: secret }, { by: ann });
  const letter = { id: 'l', name: 'desk', sessionId: secret, afterSeq: 0, lastSeq: 1, attempts: 3, error: `no ${secret}`, at: 1 };
  const [name, body] = ['delivery/desk/dead/l', JSON.stringify(letter)];
  const store = place.open();
  await store.writeNote({ name, version: 0, body });
  runtime.deliver('desk', () => undefined);
  await expect.poll(async () => (await store.readNote(name))?.sessionId).toBe(secret);
  expect(await runtime.deadLetters('desk')).toMatchObject([letter]);
  await runtime.delete(secret, { by: ann });
  expect(await runtime.deadLetters('desk')).toStrictEqual([]);
  expect(findFiles(dirname(path), [secret])).toStrictEqual([]);
  // One whose session was deleted by that build.
  await store.writeNote({ name, version: 0, body });
  await runtime.drain();
  const next = start();
  next.deliver('desk', () => undefined);
  await expect.poll(async () => store.readNote(name)).toBe(undefined);
  await next.drain();
});

test('everything of an erased message is gone from the files: its metadata, the name of its author, what is attached', async () => {
  const path = newPath();
  const { start } = stageOn(sqlitePlace(path));
  const runtime = start();
  await runtime.create({ id: 's' }, { by: ann });
  const parts = [
    { type: 'text', text: 'look 1; say Done.', providerMetadata: { provider: { secret } } },
    { type: 'file', data: Buffer.from(secret).toString('base64'), mediaType: 'image/png', filename: `${secret}.png` },
  ] as const;
  const metadata = { address: secret, purpose: secret, [secret]: 1 };
  const message = Message.user(parts, { id: 'm', name: secret, metadata, providerOptions: { provider: { secret } } });
  await runtime.send('s', message, { by: ann });
  const words = [secret, Buffer.from(secret).toString('base64')];
  expect(findFiles(dirname(path), words)).not.toStrictEqual([]);
  await runtime.eraseMessage('s', 'm', { by: ann });
  expect(findFiles(dirname(path), words)).toStrictEqual([]);
  await runtime.drain();
  const next = start();
  expect((await next.get('s')).state.messages.at(0)?.toJSON()).toStrictEqual({ id: 'm', role: 'user', content: '[erased]' });
  expect(await next.send('s', 'say More.', { by: ann })).toMatchObject({ status: 'completed', text: 'More.' });
  await next.drain();
});
