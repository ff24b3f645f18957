// What a page pays for a long session: opening it over HTTP from a server in a process of its own, and following it once it is open.
//   npm run bench:view
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createAgent } from 'stepline';
import type { Envelope, EventEnvelope } from 'stepline/broadcasting';
import { createSessionHandler, toNodeListener } from 'stepline/http';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import type { AgentView } from 'stepline/ui';
import { createAgentView, createView, reduce, reduceAll } from 'stepline/ui';
import { benchLimits, benchModel, benchTools } from './agent.bench.ts';
import { median } from './measure.ts';

const steps = Number(process.argv[2] ?? 5000);
const rounds = 5;
const sessionId = 'long';

/** Runs a long session and serves it until the other process goes away. */
async function serve(): Promise<void> {
  const by = { id: 'bench', kind: 'service' };
  const agent = createAgent({ id: 'bench', model: benchModel(steps), tools: benchTools, limits: benchLimits });
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  await runtime.create({ id: sessionId }, { by });
  await runtime.send(sessionId, 'Go.', { by });
  const handle = createSessionHandler(runtime, { authenticate: () => by, authorize: () => true, newSession: () => ({}) });
  const server = createServer(toNodeListener(handle)).listen(0, '127.0.0.1', () => {
    // Holds: it listens on a port, not on a pipe.
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
  process.stdin.resume().on('end', () => process.exit());
}

interface Opening {
  /** Milliseconds until the newest answer is shown, with the status of the session. */
  readonly shownMs: number;
  /** Milliseconds until nothing is missing. */
  readonly wholeMs: number;
  readonly messages: number;
}

/** Opens the session as a page does, and reads what a page reads at each change. */
async function measureOpening(url: string): Promise<Opening> {
  const began = performance.now();
  const live = createAgentView({ url, sessionId });
  let shownMs: number | undefined;
  return new Promise((resolve) => {
    live.subscribe(() => {
      const { view } = live.current;
      const last = view.messages.at(-1);
      if (view.status === 'completed' && last?.role === 'assistant') shownMs ??= performance.now() - began;
      if (shownMs === undefined || view.gaps.length > 0) return;
      live.close();
      resolve({ shownMs, wholeMs: performance.now() - began, messages: view.messages.length });
    });
  });
}

/** Reads everything that a page shows. */
function readAll(view: AgentView): number {
  const { messages, status, waits, usage, clocks, why, gaps } = view;
  return messages.length + status.length + waits.length + Object.keys(usage).length + clocks.step_count + why.steps.length + gaps.length;
}

async function fetchAll(url: string): Promise<readonly EventEnvelope[]> {
  const all: EventEnvelope[] = [];
  for (let after = 0; ;) {
    const response = await fetch(`${url}/sessions/${sessionId}/events?after=${after}&limit=500`, {
      headers: { accept: 'application/json' },
    });
    const page = (await response.json()) as { readonly envelopes: readonly EventEnvelope[]; readonly after: number };
    all.push(...page.envelopes);
    if (page.after <= after) return all;
    after = page.after;
  }
}

/** Adds envelopes one by one, and reads the whole view after each. Returns microseconds of CPU time for one. */
function measureAdding(view: AgentView, envelopes: readonly Envelope[]): number {
  let [next, read] = [view, 0];
  const began = process.cpuUsage();
  for (const envelope of envelopes) {
    next = reduce(next, envelope);
    read += readAll(next);
  }
  if (read === 0) throw new Error('Nothing was read.');
  const { user, system } = process.cpuUsage(began);
  return (user + system) / envelopes.length;
}

function createChunks(count: number): readonly Envelope[] {
  const header = { agent_id: 'bench', session_id: sessionId, execution_id: `${sessionId}/2`, orchestrator: 'agent', part: 1 } as const;
  return Array.from({ length: count }, (_, index) => ({
    ...header,
    event: 'agent.stream.chunk',
    timestamp: new Date(Date.now() + index).toISOString(),
    attempt: 1,
    provisional: true as const,
    data: { text: 'word ', step_number: 1, attempt: 1, answer: 1, offset: index * 5 },
  }));
}

async function main(): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), String(steps), 'serve'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data).trim())));
  const url = `http://127.0.0.1:${port}`;
  const openings: Opening[] = [];
  for (let round = 0; round < rounds; round += 1) openings.push(await measureOpening(url));
  const envelopes = await fetchAll(url);
  child.stdin.end();
  const bytes = envelopes.reduce((sum, each) => sum + JSON.stringify(each).length, 0);
  const traced = envelopes
    .filter(({ event }) => event === 'agent.continuation')
    .reduce((sum, each) => sum + JSON.stringify(each).length, 0);
  const whole = reduceAll(createView(sessionId), envelopes);
  readAll(whole);
  const tail = envelopes.slice(-600);
  const before = reduceAll(createView(sessionId), envelopes.slice(0, -600));
  readAll(before);
  const chunks = Array.from({ length: rounds }, () => measureAdding(whole, createChunks(2000)));
  const stored = Array.from({ length: rounds }, () => measureAdding(before, tail));
  const ms = (pick: (opening: Opening) => number): string => `${median(openings.map(pick)).toFixed(0).padStart(8)} ms`;
  const micros = (values: readonly number[]): string => `${median(values).toFixed(1).padStart(8)} µs`;
  process.stdout.write(
    [
      `Node ${process.version}, a session of ${steps} steps: ${envelopes.length} envelopes, ${openings[0]?.messages ?? 0} messages, medians of ${rounds}`,
      `  until the end is shown        ${ms(({ shownMs }) => shownMs)}`,
      `  until nothing is missing      ${ms(({ wholeMs }) => wholeMs)}`,
      `  envelopes of a step           ${(bytes / steps).toFixed(0).padStart(8)} bytes, of which its trace ${(traced / steps).toFixed(0)}`,
      `  a chunk of text, all read     ${micros(chunks)}`,
      `  a stored envelope, all read   ${micros(stored)}`,
      '',
    ].join('\n'),
  );
}

await (process.argv[3] === 'serve' ? serve() : main());
