// A process is killed by the system between storing an event and delivering it: nothing is missed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createAgent } from '../../src/entry/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { DeliveringOrders } from './delivering-process.ts';
import { newPath, readEvents } from './stage.ts';

const file = fileURLToPath(new URL('delivering-process.ts', import.meta.url));

test(
  'a worker that is killed between store and delivery leaves nothing undelivered, and no order changed',
  { timeout: 60_000 },
  async () => {
    const path = newPath();
    const accepted = new Map<string, readonly number[]>();
    let onRequest: () => void = () => undefined;
    const server = createServer((request, response) => {
      void (async () => {
        const { session_id: session, envelopes } = JSON.parse(await readText(request)) as {
          readonly session_id: string;
          readonly envelopes: readonly { readonly seq: number }[];
        };
        onRequest();
        const id = `${session} ${String(request.headers['stepline-delivery'])}`;
        if (!accepted.has(id)) accepted.set(id, [...new Set(envelopes.map(({ seq }) => seq))]);
        response.writeHead(204).end();
      })().catch(() => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const live = async (life: number, killAfter: number): Promise<void> => {
      const orders: DeliveringOrders = { path, url, secret: 'a secret that only the two sides know', life };
      const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, JSON.stringify(orders)], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      let requests = 0;
      // The event is stored and on its way; whether it was accepted is never noted.
      onRequest = () => {
        requests += 1;
        if (requests === killAfter) child.kill('SIGKILL');
      };
      const gone = once(child, 'close');
      if (killAfter === Infinity) {
        await once(child, 'message');
        await expect.poll(isWhole, { timeout: 30_000, interval: 50 }).toBe(true);
        child.kill('SIGKILL');
      }
      await gone;
    };
    const getSeqs = (session: string): readonly number[] =>
      [...accepted].filter(([id]) => id.startsWith(`${session} `)).flatMap(([, seqs]) => seqs);
    const agents = [createAgent({ id: 'desk', model: scriptedModel([]) })];
    const reader = createSessionRuntime({ agents, store: sqliteStore(path), role: 'client' });
    onTestFinished(() => reader.drain());
    const isWhole = async (): Promise<boolean> => {
      for (const id of ['a', 'b', 'c']) if (getSeqs(id).at(-1) !== (await readEvents(reader, id)).at(-1)?.seq) return false;
      return true;
    };
    for (const [life, killAfter] of [1, 7, 20, Infinity].entries()) await live(life, killAfter);
    const fed = new Map<string, number[]>();
    for await (const { sessionId, event } of reader.feed()) fed.set(sessionId, [...(fed.get(sessionId) ?? []), event.seq]);
    for (const id of ['a', 'b', 'c']) {
      const seqs = getSeqs(id);
      expect(seqs).toStrictEqual([...seqs].sort((one, other) => one - other));
      expect(new Set(seqs).size).toBe(seqs.length);
      expect(seqs[0]).toBe(1);
      // Every answer was delivered, of every life.
      expect(seqs.length).toBeGreaterThan(60);
      expect(seqs.every((seq) => fed.get(id)?.includes(seq))).toBe(true);
    }
  },
);
