// Sessions that Restate runs in two processes, which are killed again and again; now and then the server is killed too.
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import type { Figure } from '../../../../chaos/figures.ts';
import { atMost, exactly, info, none } from '../../../../chaos/figures.ts';
import { createChaosAgent } from '../../../../chaos/processes/agent.ts';
import { checkRest } from '../../../../chaos/processes/check.ts';
import { checkLogs, readLogs } from '../../../../chaos/processes/check-log.ts';
import { checkSessions, readSessions } from '../../../../chaos/processes/check-sessions.ts';
import type { Child } from '../../../../chaos/processes/child.ts';
import { startChild } from '../../../../chaos/processes/child.ts';
import type { OpenedDatabase } from '../../../../chaos/processes/open-database.ts';
import { countSteps, openDatabase } from '../../../../chaos/processes/open-database.ts';
import type { ClientRecord } from '../../../../chaos/processes/orders.ts';
import { createQuestion, createSessionIds } from '../../../../chaos/processes/plan.ts';
import { readWorld } from '../../../../chaos/processes/records.ts';
import { createRandom } from '../../../../chaos/random.ts';
import { withFolder } from '../../../../chaos/with-folder.ts';
import type { EmbeddedRuntime } from '../../../../src/sessions/index.ts';
import { createSessionRuntime } from '../../../../src/sessions/index.ts';
import type { RestateServer } from '../server.ts';
import { findPorts, startRestate } from '../server.ts';
import type { HandlerOrders } from './handler.ts';

export interface ChaosOptions {
  readonly sessions: number;
  readonly steps: number;
  /** Number of times that a process which runs sessions is killed. */
  readonly kills: number;
  readonly serverKills: number;
  readonly seed: number;
  readonly onProgress?: (line: string) => void;
}

const script = fileURLToPath(new URL('handler.ts', import.meta.url));
const by = { id: 'person', kind: 'user' };

/** Time for all work after the last kill. */
const patienceMs = 120_000;

/** Input of a handler that acts. */
type Input = Readonly<Record<string, unknown>> & { readonly requestId: string };

/** A person who creates sessions, sends, and approves what is asked, all through the server. */
class Person {
  readonly accepted: ClientRecord[] = [];
  readonly refused: string[] = [];
  readonly #server: RestateServer;
  readonly #runtime: EmbeddedRuntime;
  #isDone = false;

  constructor(server: RestateServer, runtime: EmbeddedRuntime) {
    this.#server = server;
    this.#runtime = runtime;
  }

  /** Calls a handler, again and again if the server is down. The request id is the same each time. */
  async #call(session: string, handler: string, input: Input): Promise<void> {
    for (;;) {
      try {
        const response = await fetch(`${this.#server.ingress}/sessions/${session}/${handler}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ by, ...input }),
        });
        if (response.ok) this.accepted.push({ type: 'accepted', session, requestId: input.requestId });
        else if (response.status < 500) this.refused.push(`${session}, ${handler}: ${await response.text()}`);
        if (response.status < 500) return;
      } catch {
        // The server was killed before it answered.
      }
      await pause(100);
    }
  }

  async start(session: string, steps: number): Promise<void> {
    await this.#call(session, 'create', { requestId: `create-${session}` });
    await this.#call(session, 'send', { requestId: `send-${session}`, content: createQuestion(session, steps) });
  }

  /** Approves everything, each call under a request id of its own, until nothing more is to come. */
  async approveAll(): Promise<void> {
    const asked = new Set<string>();
    while (!this.#isDone) {
      const { waits } = await this.#runtime.waits({ limit: 500 });
      const open = waits.filter(({ sessionId, wait }) => !asked.has(`${sessionId} ${wait.id}`));
      for (const { sessionId, wait } of open) {
        asked.add(`${sessionId} ${wait.id}`);
        void this.#call(sessionId, 'approve', { requestId: `approve-${wait.id}`, wait });
      }
      await pause(50);
    }
  }

  stop(): void {
    this.#isDone = true;
  }
}

/** Calls that the server has not ended: all of them, if it gave up on none. */
async function listOpenCalls({ admin }: RestateServer): Promise<readonly string[]> {
  const response = await fetch(`${admin}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: "SELECT target, status FROM sys_invocation WHERE status <> 'completed'" }),
  });
  // Holds: that is what the server answers.
  const { rows } = (await response.json()) as { readonly rows: readonly { readonly target: string; readonly status: string }[] };
  return rows.map(({ target, status }) => `${target}: ${status}`);
}

/** Waits until there is nothing left to list, or for too long; returns what is. */
async function untilNone(list: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const left = await list();
    if (left.length === 0 || performance.now() > deadline) return left;
    await pause(100);
  }
}

async function untilSteps(database: OpenedDatabase, least: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while ((await countSteps(database)) < least) {
    if (performance.now() > deadline) throw new Error(`No ${least} steps were recorded in ${patienceMs / 1000} s.`);
    await pause(10);
  }
}

/** Runs all sessions with all kills. Returns each check and whether it passed. */
export const runRestateChaos = (options: ChaosOptions): Promise<readonly Figure[]> => withFolder((folder) => runIn(folder, options));

async function runIn(folder: string, options: ChaosOptions): Promise<readonly Figure[]> {
  const { sessions, steps, kills, serverKills, seed, onProgress } = options;
  const ids = createSessionIds(sessions);
  const random = createRandom(seed);
  const place = { type: 'sqlite', path: join(folder, 'sessions.sqlite') } as const;
  const database = await openDatabase(place);
  const runtime = createSessionRuntime({ agents: [createChaosAgent()], store: database.store, role: 'client' });
  // Creates the file.
  await runtime.list();
  const [port = 0] = await findPorts(1);
  const names: string[] = [];
  const all: Child[] = [];
  const start = (): Child => {
    const name = `handler-${names.length + 1}`;
    names.push(name);
    const orders: HandlerOrders = { folder, database: place, port, name };
    const child = startChild(script, orders);
    all.push(child);
    return child;
  };
  const server = await startRestate();
  const person = new Person(server, runtime);
  const running = [start(), start()];
  let approving: Promise<void> | undefined;
  try {
    await server.register(`http://127.0.0.1:${port}`);
    const begun = performance.now();
    approving = person.approveAll();
    const starting = Promise.all(ids.map((id) => person.start(id, steps)));
    for (let kill = 1; kill <= kills; kill += 1) {
      await untilSteps(database, Math.floor(((sessions * steps) / (kills + 1)) * kill));
      await pause(random() * 30);
      const index = random() < 0.5 ? 0 : 1;
      const victim = running[index];
      victim?.signal('SIGKILL');
      await victim?.gone;
      // Spread evenly over the kills.
      const isServerToo = Math.floor((kill * serverKills) / kills) > Math.floor(((kill - 1) * serverKills) / kills);
      if (isServerToo) await server.kill();
      onProgress?.(`kill ${kill} of ${kills}: ${victim?.name ?? ''}${isServerToo ? ' and the server' : ''}`);
      running[index] = start();
      if (isServerToo) await server.start();
    }
    const lastKill = performance.now();
    await starting;
    const open = await untilNone(async () => {
      const list = await Promise.all(ids.map((id) => runtime.get(id)));
      return list.filter(({ status }) => status !== 'completed').map(({ id, status }) => `${id}: ${status}`);
    });
    const end = performance.now();
    const calls = await untilNone(() => listOpenCalls(server));
    const found = await readSessions(runtime, ids);
    const seconds = (from: number): number => Math.round((end - from) / 100) / 10;
    return [
      exactly('kills of processes that run sessions', names.length - 2, kills),
      info('kills of the server', serverKills),
      info('seconds in all', seconds(begun)),
      atMost('seconds from the last kill to the end of all sessions', seconds(lastKill), 60),
      none('sessions stuck', open),
      none('calls that the server has left open', calls),
      none('actions refused', person.refused),
      none(
        'problems that processes told of',
        all.flatMap(({ problems }) => problems.map(({ code, where, message }) => `${code}, ${where}: ${message}`)),
      ),
      ...checkSessions(found, readWorld(folder), steps),
      ...(await checkLogs(database.store, await readLogs(database.store, ids), {
        folder,
        steps,
        workers: names,
        records: person.accepted,
      })),
      ...(await checkRest(database, place)),
    ];
  } finally {
    person.stop();
    await approving;
    for (const child of running) child.signal('SIGKILL');
    await Promise.all(running.map(({ gone }) => gone));
    await runtime.drain();
    await database.close();
    await server.dispose();
  }
}
