// Readers that take one byte a second: they slow nothing down, and nothing is kept for them beyond the limit.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { Envelope } from '../../src/broadcasting/index.ts';
import type { Pair } from './processes.ts';
import { startPair } from './processes.ts';

/** Opens the events of a session, and reads a byte of them every second. */
function openSlowReader(url: string, id: string): Socket {
  const { port, host } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(`GET /sessions/${id}/events HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  const timer = setInterval(() => void socket.read(1), 1000);
  socket.on('close', () => clearInterval(timer));
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Lets a session write, and returns how long it took in the worker. */
async function measureRun(pair: Pair, { words, readers }: { readonly words: number; readonly readers: number }): Promise<number> {
  const { session_id: id } = await pair.post('/sessions');
  const opened = Array.from({ length: readers }, () => openSlowReader(pair.url, id));
  await pause(300);
  await pair.post(`/sessions/${id}/messages`, { text: `write ${words} 0`, until: 'rest' });
  for (const socket of opened) socket.destroy();
  const page = await fetch(`${pair.url}/sessions/${id}/events`, { headers: { accept: 'application/json' } });
  const { envelopes } = (await page.json()) as { readonly envelopes: readonly Envelope[] };
  const times = envelopes.filter(({ event }) => event === 'agent.status').map(({ timestamp }) => Date.parse(timestamp));
  return Math.max(...times) - Math.min(...times);
}

it('a reader at one byte a second slows a run by 5 % at most', async () => {
  const pair = await startPair();
  await measureRun(pair, { words: 20_000, readers: 0 });
  const [alone, read]: [number[], number[]] = [[], []];
  for (let round = 0; round < 9; round += 1) {
    alone.push(await measureRun(pair, { words: 40_000, readers: 0 }));
    read.push(await measureRun(pair, { words: 40_000, readers: 1 }));
  }
  // The fastest of several: everything else on the machine only adds to it.
  const ratio = Math.min(...read) / Math.min(...alone);
  process.stdout.write(`slow reader: ratio ${ratio.toFixed(3)} (alone ${Math.min(...alone)} ms)\n`);
  expect(ratio).toBeLessThan(1.05);
}, 200_000);

it('a reader at one byte a second holds 1 MB at most', async () => {
  const pair = await startPair();
  const readers = 20;
  const readMemory = async (): Promise<number> => {
    const heard = pair.web.hear('memory');
    pair.web.say({});
    return (await heard).bytes ?? 0;
  };
  const { session_id: id } = await pair.post('/sessions');
  await pair.post(`/sessions/${id}/messages`, { text: 'write 1000 0', until: 'rest' });
  const before = await readMemory();
  for (let n = 0; n < readers; n += 1) openSlowReader(pair.url, id);
  await pause(500);
  await pair.post(`/sessions/${id}/messages`, { text: 'write 150000 0', until: 'rest' });
  const perReader = ((await readMemory()) - before) / readers;
  process.stdout.write(`slow reader: ${(perReader / 1000).toFixed(0)} kB each\n`);
  expect(perReader).toBeLessThan(1_000_000);
}, 120_000);
