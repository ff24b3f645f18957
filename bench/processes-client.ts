// A second process: follows the events and the text of all sessions of a store, until it is told to stop.
//   node bench/processes-client.ts '{ "store": … }'    then, on its input, a line with the ids, and a line to stop
import { createInterface } from 'node:readline';
import { createAgent } from 'stepline';
import type { EmbeddedRuntime } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import { benchModel } from './agent.bench.ts';
import type { BenchStore } from './processes-store.ts';
import { openStore } from './processes-store.ts';

// Holds: the bench writes it.
const place = JSON.parse(process.argv[2] ?? '{}') as BenchStore;
const { store, close } = await openStore(place);
const runtime: EmbeddedRuntime = createSessionRuntime({
  agents: [createAgent({ id: 'bench', model: benchModel(1) })],
  store,
  role: 'client',
});
const ending = new AbortController();
/** Pieces of text, and how long after the model gave it each first word of an answer came. */
const seen = { events: 0, pieces: 0, characters: 0, firstMs: [] as number[] };
const readers: Promise<void>[] = [];
const options = { follow: true, signal: ending.signal };

async function followEvents(id: string): Promise<void> {
  for await (const { seq } of runtime.events(id, options)) if (seq > 0) seen.events += 1;
}

async function followText(id: string): Promise<void> {
  let answer = '';
  for await (const item of runtime.openStep(id, options)) {
    if (item.type !== 'text') continue;
    seen.pieces += 1;
    seen.characters += item.text.length;
    const place = `${String(item.execution)}/${String(item.step)}`;
    if (place !== answer) seen.firstMs.push(Date.now() - Number(/\d{13}/.exec(item.text)?.[0]));
    answer = place;
  }
}

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line !== 'stop') {
    // Holds: the bench writes a list of ids.
    for (const id of JSON.parse(line) as readonly string[]) readers.push(followEvents(id), followText(id));
    print({ isFollowing: true });
    return;
  }
  void (async () => {
    // Long enough for the last events to arrive.
    await new Promise((resolve) => setTimeout(resolve, 500));
    ending.abort();
    await Promise.all(readers);
    await runtime.drain();
    await close();
    print(seen);
    process.exit(0);
  })();
});
