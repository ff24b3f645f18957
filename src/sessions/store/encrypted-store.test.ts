import { describe, expect, it } from 'vitest';
import { sessionStoreConformance } from '../../testing/index.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { Encryption } from './cipher.ts';
import { encryptStore } from './encrypted-store.ts';
import type { MemoryPlace } from './memory-store.ts';
import { createMemoryPlace } from './memory-store.ts';
import type { LogEntry, SessionHeader, SessionStore, SessionWrite } from './session-store.ts';

const secret = 'the otter keeps its keys under the third stone';

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const toBytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64'));

/** AES-GCM with a key of its own. */
async function createAesPair(): Promise<Encryption> {
  const { subtle } = globalThis.crypto;
  const key = await subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
  return {
    encrypt: async (text) => {
      const iv = globalThis.crypto.getRandomValues(new Uint8Array(12));
      const sealed = await subtle.encrypt({ name: 'AES-GCM', iv }, key, new TextEncoder().encode(text));
      return `${toText(iv)}.${toText(new Uint8Array(sealed))}`;
    },
    decrypt: async (text) => {
      const [iv = '', sealed = ''] = text.split('.');
      return new TextDecoder().decode(await subtle.decrypt({ name: 'AES-GCM', iv: toBytes(iv) }, key, toBytes(sealed)));
    },
  };
}

const toHeader = (id: string, change: Partial<SessionHeader> = {}): SessionHeader => ({
  id,
  agentName: 'agent',
  agentRelease: '1',
  format: 1,
  tags: ['t'],
  status: 'completed',
  isOpen: false,
  createdAt: 1,
  updatedAt: 1,
  details: '{}',
  ...change,
});
const toEntry = (n: number, body = '{}', change: Partial<LogEntry> = {}): LogEntry => ({ n, at: n, isSnapshot: n === 1, body, ...change });
const toNew = (sessionId: string, body?: string): SessionWrite => ({
  ...{ sessionId, lease: { worker: 'w', fence: 0, type: 'free' }, keepsLease: true, after: 0 },
  header: toHeader(sessionId),
  entries: [toEntry(1, body)],
});
const toNext = (sessionId: string, n: number, body?: string): SessionWrite => ({
  ...{ sessionId, lease: { worker: 'w', fence: 1, type: 'held' }, keepsLease: true, after: n - 1 },
  entries: [toEntry(n, body)],
});

/** Encrypts at once, except texts that name a delay. */
const slowPair = (release: Promise<void>): Encryption => ({
  encrypt: async (text) => {
    if (text.includes('slow')) await release;
    return text;
  },
  decrypt: (text) => text,
});

/** A promise, and the function that fulfils it. */
function createGate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}

/** Fails unless the work rejects with this code, and words that match. */
async function expectRefused(work: Promise<unknown>, code: string, words: RegExp): Promise<void> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  expect(String(error)).toMatch(words);
}

/** A place with a worker `w`. */
async function createPlace(): Promise<MemoryPlace> {
  const place = createMemoryPlace();
  await place.open().leases.join({ id: 'w', joinedAt: 1, agents: ['agent'] }, { room: 1 });
  return place;
}

async function openWith(encryption: Encryption): Promise<{ readonly below: SessionStore; readonly store: SessionStore }> {
  const place = await createPlace();
  return { below: place.open(), store: encryptStore(place.open(), encryption) };
}

describe('encryptStore', async () => {
  const aes = await createAesPair();

  describe('keeps the promises of a store', () => {
    const cases = sessionStoreConformance(async () => {
      const place = createMemoryPlace();
      return { open: async () => encryptStore(place.open(), aes) };
    });
    it.each(cases)('$port: $name', ({ run }) => run());
  });

  it('stores no word in plain text', async () => {
    const { store, below } = await openWith(aes);
    const text = JSON.stringify({ secret });
    const header = toHeader('s', { details: text });
    await store.log.write({
      ...toNew('s'),
      header,
      entries: [toEntry(1, text, { events: text, lastSeq: 1 }), toEntry(2, text, { requestId: 'r' })],
      effects: [{ key: 'model/1', phase: 'result', body: text }],
    });
    for (const requestId of ['q', 'p']) {
      const posted = await store.inbox.post({ sessionId: 's', requestId, at: 1, body: text });
      expect(posted?.body).toBe(text);
    }
    await store.log.write({
      ...toNext('s', 3, text),
      header,
      rewrites: [{ n: 1, body: text, events: text }],
      mail: { num: 1, reply: text },
    });
    expect(await store.inbox.post({ sessionId: 's', requestId: 'q', at: 1, body: text })).toMatchObject({ body: text, reply: text });
    expect(await store.inbox.post({ sessionId: 's', requestId: 'r', at: 1, body: text })).toBeUndefined();
    await store.notes.write({ name: 'n', version: 0, body: text });
    await store.heads.quarantine('s', secret);
    const readAll = (from: SessionStore): Promise<readonly unknown[]> =>
      Promise.all([
        from.log.load('s'),
        from.log.entries('s'),
        from.log.findRequest('s', 'r'),
        from.log.effects('s'),
        from.heads.list(),
        from.inbox.read(),
        from.inbox.read({ sessionId: 's' }),
        from.heads.read('s'),
        from.feed.read(),
        from.notes.list({ prefix: '' }),
      ]);
    const stored = JSON.stringify(await readAll(below));
    expect(stored).not.toContain('otter');
    expect(stored).toContain('enc:1:');
    for (const read of await readAll(store)) {
      expect(JSON.stringify(read)).toContain('otter');
      expect(JSON.stringify(read)).not.toContain('enc:1:');
    }
  });

  it('leaves plain what sessions are found by', async () => {
    const { store, below } = await openWith(aes);
    await store.log.write({ ...toNew('s'), header: toHeader('s', { tenant: 'acme', owner: 'ann', tags: ['blue'] }) });
    const [listed] = (await below.heads.list({ tenant: 'acme', owner: 'ann', tag: 'blue', status: 'completed' })).sessions;
    expect(listed?.header).toMatchObject({ id: 's', tenant: 'acme', owner: 'ann', tags: ['blue'] });
  });

  it('keeps the writes of a session in order, however long each takes to encrypt (C2)', async () => {
    const { promise, resolve } = createGate();
    const { store, below } = await openWith(slowPair(promise));
    const settled: string[] = [];
    const writes = [
      store.log.write(toNew('s', '"slow"')).then(() => settled.push('s 1')),
      store.log.write(toNext('s', 2)).then(() => settled.push('s 2')),
      store.log.write(toNew('other')).then(() => settled.push('other 1')),
      store.log.write(toNext('s', 3)).then(() => settled.push('s 3')),
    ];
    await writes[2];
    expect(settled).toEqual(['other 1']);
    expect(await below.log.load('s')).toBeUndefined();
    resolve();
    await Promise.all(writes);
    expect(settled).toEqual(['other 1', 's 1', 's 2', 's 3']);
  });

  it('hands writes of one session over without waiting for each other, so that batches form', async () => {
    const { promise, resolve } = createGate();
    const handed: (string | number)[] = [];
    const place = await createPlace();
    const inner = place.open();
    const slow: SessionStore = {
      ...inner,
      log: {
        ...inner.log,
        write: async (write) => {
          handed.push(write.after);
          await promise;
          return inner.log.write(write);
        },
      },
    };
    const store = encryptStore(slow, aes);
    const writes = [0, 1, 2].map((after) => store.log.write(after === 0 ? toNew('s') : toNext('s', after + 1)));
    await expect.poll(() => handed).toEqual([0, 1, 2]);
    resolve();
    await Promise.all(writes);
  });

  it('does not let later writes overtake earlier ones if one cannot be encrypted', async () => {
    const { promise, resolve } = createGate();
    const pair = slowPair(promise);
    const { store } = await openWith({
      ...pair,
      encrypt: (text) => {
        if (text.includes('broken')) throw new Error('the key service is down');
        return pair.encrypt(text);
      },
    });
    const first = store.log.write(toNew('s', '"slow"'));
    const broken = store.log.write(toNext('s', 2, '"broken"'));
    const third = store.log.write(toNext('s', 2));
    resolve();
    await expectRefused(broken, 'store-unavailable', /the key service is down/);
    await Promise.all([first, third]);
    expect((await store.log.load('s'))?.head).toBe(2);
  });

  it('reports a session that another key encrypted as damaged, and reads the others (C3)', async () => {
    const place = await createPlace();
    const other = encryptStore(place.open(), await createAesPair());
    await other.log.write(toNew('foreign'));
    await other.inbox.post({ sessionId: 'foreign', requestId: 'r', at: 1, body: '{"a":1}' });
    const store = encryptStore(place.open(), aes);
    await store.log.write(toNew('own'));
    await store.inbox.post({ sessionId: 'own', requestId: 'r', at: 1, body: '{"a":2}' });
    await expectRefused(store.log.load('foreign'), 'session-damaged', /"foreign".* cannot be decrypted/);
    await expectRefused(store.log.entries('foreign'), 'session-damaged', /"foreign".* cannot be decrypted/);
    await expectRefused(store.inbox.read({ sessionId: 'foreign' }), 'session-damaged', /"foreign".* cannot be decrypted/);
    expect((await store.log.load('own'))?.head).toBe(1);
    const mails = (await store.inbox.read()).map(({ body }) => body);
    expect(mails[0]).toMatch(/^enc:1:/);
    expect(mails[1]).toBe('{"a":2}');
    const { sessions } = await store.heads.list();
    expect(sessions.map(({ id, header }) => [id, header?.details])).toEqual([
      ['own', '{}'],
      ['foreign', undefined],
    ]);
    expect(sessions[1]?.damage).toMatch(/^its header cannot be decrypted/);
  });

  it('reports a changed text as damage', async () => {
    const { store, below } = await openWith(aes);
    await store.log.write(toNew('s'));
    const [entry] = await below.log.entries('s');
    const body = `${entry?.body.slice(0, -8) ?? ''}AAAAAAA=`;
    await below.log.write({ ...toNext('s', 2), entries: [], rewrites: [{ n: 1, body }] });
    await expectRefused(store.log.load('s'), 'session-damaged', /entry 1 cannot/);
  });

  it('passes an outage of the key service on, which is not damage', async () => {
    const { store } = await openWith({
      encrypt: (text) => text,
      decrypt: () => {
        throw new StoreUnavailableError('failed', 'the key service is down');
      },
    });
    await store.log.write(toNew('s'));
    await expect(store.log.load('s')).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(store.heads.list()).rejects.toMatchObject({ code: 'store-unavailable' });
  });

  it('reads texts from before the encryption only if told to', async () => {
    const place = await createPlace();
    const before = place.open();
    await before.log.write(toNew('old', '{"old":1}'));
    await before.notes.write({ name: 'n', version: 0, body: '{}' });
    const strict = encryptStore(place.open(), aes);
    await expectRefused(strict.log.load('old'), 'session-damaged', /allowsPlain/);
    await expectRefused(strict.notes.read('n'), 'store-unavailable', /Check the key/);
    const lenient = encryptStore(place.open(), { ...aes, allowsPlain: true });
    await lenient.log.write(toNext('old', 2, '{"new":2}'));
    expect((await lenient.log.entries('old')).map(({ body }) => body)).toEqual(['{"old":1}', '{"new":2}']);
    expect((await before.log.entries('old')).map(({ body }) => body.startsWith('enc:1:'))).toEqual([false, true]);
    expect(await lenient.notes.read('n')).toMatchObject({ body: '{}' });
  });

  it('keeps notes in the order in which they were written', async () => {
    const { promise, resolve } = createGate();
    const { store } = await openWith(slowPair(promise));
    const put = store.notes.write({ name: 'n', version: 0, body: '"slow"' });
    const dropped = store.notes.write({ name: 'n', version: 1 });
    resolve();
    await put;
    expect(await dropped).toBe(true);
    expect(await store.notes.read('n')).toBeUndefined();
  });

  it('says what is missing if there is no pair of functions', () => {
    // @ts-expect-error: decrypt is missing
    expect(() => encryptStore(createMemoryPlace().open(), { encrypt: (text: string) => text })).toThrow(/two functions/);
  });
});
