// Readers that take one byte a second: nothing is kept for them beyond the limit. `npm run bench:http` measures that they slow nothing down.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
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
