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

test.each(['client', 'worker'] as const)('a message that the worker has refused can be erased too, by the %s', async (role) => {
  const path = newPath();
  const place = sqlitePlace(path);
  const { start } = stageOn(place);
  const first = start();
  await first.create({ id: 's' }, { by: ann });
  await first.send('s', 'pay 5', { by: ann });
  await first.drain();
  const client = start({ role: 'client' });
  // Behind another mail, it is not checked before it is posted.
  await client.send('s', 'say Later.', { by: ann, until: 'accepted', whileWaiting: 'queue' });
  const message = Message.user(`say ${secret}`, { id: 'm' });
  await client.send('s', message, { by: ann, requestId: 'r', until: 'accepted', whileWaiting: 'refuse' });
  const worker = start();
  await expect(client.send('s', message, { by: ann, requestId: 'r', whileWaiting: 'refuse' })).rejects.toThrow(/was not taken/);
  expect(findFiles(dirname(path), [secret])).not.toStrictEqual([]);
  await { client, worker }[role].eraseMessage('s', 'm', { by: ann });
  expect(findFiles(dirname(path), [secret])).toStrictEqual([]);
  expect(await worker.get('s')).toMatchObject({ status: 'waiting' });
  await client.drain();
  await worker.drain();
});
