// What a reader that takes one byte a second costs a run: worker and web server in processes of their own, over a real socket.
//   npm run bench:http
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pair } from '../tests/http/pair.ts';
import { openPair } from '../tests/http/pair.ts';

const rounds = 9;

/** Opens the events of a session, and reads a byte of them every second. */
function openSlowReader(url: string, id: string): Socket {
  const { port, host } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(`GET /sessions/${id}/events HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  const timer = setInterval(() => void socket.read(1), 1000);
  socket.on('close', () => clearInterval(timer));
  return socket;
}

/** Lets a session write, and returns how long it took in the worker. */
async function measureRun(pair: Pair, words: number, hasReader: boolean): Promise<number> {
  const { session_id: id } = await pair.post('/sessions');
  const socket = hasReader ? openSlowReader(pair.url, id) : undefined;
  await pause(300);
  await pair.post(`/sessions/${id}/messages`, { text: `write ${words} 0`, until: 'rest' });
  socket?.destroy();
  const page = await fetch(`${pair.url}/sessions/${id}/events`, { headers: { accept: 'application/json' } });
  const { envelopes } = (await page.json()) as { readonly envelopes: readonly { readonly event: string; readonly timestamp: string }[] };
  const times = envelopes.filter(({ event }) => event === 'agent.status').map(({ timestamp }) => Date.parse(timestamp));
  return Math.max(...times) - Math.min(...times);
}

const getMedian = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const pair = await openPair();
const [alone, read]: [number[], number[]] = [[], []];
try {
  await measureRun(pair, 20_000, false);
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await measureRun(pair, 40_000, false));
    read.push(await measureRun(pair, 40_000, true));
  }
} finally {
  await pair.end();
}
const line = (name: string, pick: (values: readonly number[]) => number): string =>
  `  ${name.padEnd(10)}${pick(alone)} ms alone, ${pick(read)} ms with a reader at one byte a second, ratio ${(pick(read) / pick(alone)).toFixed(3)}`;
process.stdout.write(
  [
    `Node ${process.version}, ${rounds} runs of 40,000 pieces of text each, in turn (wanted: a ratio of 1.05 or less)`,
    line('median', getMedian),
    line('fastest', (values) => Math.min(...values)),
    '',
  ].join('\n'),
);
