// Functions that drive sessions request by request, killed again and again: no process is a worker.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Figure } from '../../chaos/figures.ts';
import { exactly, none, wrongOnes } from '../../chaos/figures.ts';
import { createChaosAgent } from '../../chaos/processes/agent.ts';
import { checkLogs, readLogs } from '../../chaos/processes/check-log.ts';
import { checkRest } from '../../chaos/processes/check.ts';
import { checkSessions, readSessions } from '../../chaos/processes/check-sessions.ts';
import type { Child } from '../../chaos/processes/child.ts';
import { startChild } from '../../chaos/processes/child.ts';
import { countSteps, openDatabase } from '../../chaos/processes/open-database.ts';
import type { ClientRecord } from '../../chaos/processes/orders.ts';
import { createQuestion, createSessionIds, getIndex } from '../../chaos/processes/plan.ts';
import { readWorld } from '../../chaos/processes/records.ts';
import { createRandom } from '../../chaos/random.ts';
import { withFolder } from '../../chaos/with-folder.ts';
import type { Progress } from '../../examples/functions/drive.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { findPorts } from '../engines/restate/server.ts';
import type { FunctionOrders } from './function-process.ts';

const script = fileURLToPath(new URL('function-process.ts', import.meta.url));
const [sessions, steps, kills] = [16, 12, 20];

/** The function in two processes. One that was killed is started again on its port. */
class Functions {
  readonly all: Child[] = [];
  readonly #create: (name: string, port: number) => Child;
  readonly #places: { readonly port: number; child: Child }[];

  constructor(ports: readonly number[], create: (name: string, port: number) => Child) {
    this.#create = create;
    this.#places = ports.map((port) => ({ port, child: this.#start(port) }));
  }

  #start(port: number): Child {
    const child = this.#create(`function-${this.all.length + 1}`, port);
    this.all.push(child);
    return child;
  }

  async kill(index: number): Promise<void> {
    const place = this.#places[index];
    if (place === undefined) return;
    place.child.signal('SIGKILL');
    await place.child.gone;
    place.child = this.#start(place.port);
  }

  async killAll(): Promise<void> {
    for (const { child } of this.#places) child.signal('SIGKILL');
    await Promise.all(this.#places.map(({ child }) => child.gone));
  }

  /** Asks one of them, and the other one if the first is killed before it answers. */
  async ask(path: string, body: object): Promise<Progress> {
    for (let turn = path.length; ; turn += 1) {
      const place = this.#places[turn % this.#places.length];
      try {
        await place?.child.expect('held');
        const response = await fetch(`http://127.0.0.1:${place?.port ?? 0}${path}`, { method: 'POST', body: JSON.stringify(body) });
        const text = await response.text();
        if (!response.ok) throw new Error(text);
        // Holds: that is what the function answers.
        return JSON.parse(text) as Progress;
      } catch (error) {
        if (error instanceof Error && error.message.startsWith('{')) throw error;
      }
    }
  }
}

/** Has one session driven to its end; returns the requests that were accepted. */
async function driveSession(functions: Functions, id: string): Promise<readonly ClientRecord[]> {
  const accepted: ClientRecord[] = [];
  const ask = async (what: string, body: { readonly requestId?: string } & object): Promise<Progress> => {
    const progress = await functions.ask(`/sessions/${id}/${what}`, body);
    if (body.requestId !== undefined) accepted.push({ type: 'accepted', session: id, requestId: body.requestId });
    return progress;
  };
  const message = { requestId: `send-${id}`, text: createQuestion(id, steps) };
  for (let progress = await ask('messages', message); progress.status !== 'completed';) {
    const [wait] = progress.waitingFor;
    if (wait === undefined) await pause(Math.min(100, progress.againInMs ?? 0));
    const approval = { requestId: `approve-${wait?.id ?? ''}`, wait };
    progress = await (wait === undefined ? ask('run', {}) : ask('approvals', approval));
  }
  return accepted;
}

async function run(folder: string): Promise<readonly Figure[]> {
  const place = { type: 'sqlite', path: join(folder, 'sessions.sqlite') } as const;
  const database = await openDatabase(place);
  const runtime = createSessionRuntime({ agents: [createChaosAgent()], store: database.store, role: 'client' });
  const ids = createSessionIds(sessions);
  const random = createRandom(1);
  // Creates the file.
  await runtime.list();
  const functions = new Functions(await findPorts(2), (name, port) => {
    const orders: FunctionOrders = { folder, database: place, port, name };
    return startChild(script, orders);
  });
  try {
    const driving = Promise.all(ids.map((id) => pause(getIndex(id) * 20).then(() => driveSession(functions, id))));
    for (let kill = 1; kill <= kills; kill += 1) {
      while ((await countSteps(database)) < ((sessions * steps) / (kills + 1)) * kill) await pause(10);
      await pause(random() * 20);
      await functions.kill(random() < 0.5 ? 0 : 1);
    }
    const records = (await driving).flat();
    const workers = functions.all.map(({ name }) => name);
    return [
      exactly('kills', functions.all.length - 2, kills),
      none(
        'problems that functions told of',
        functions.all.flatMap(({ problems }) => problems.map(({ message }) => message)),
      ),
      ...checkSessions(await readSessions(runtime, ids), readWorld(folder), steps),
      ...(await checkLogs(database.store, await readLogs(database.store, ids), { folder, steps, workers, records })),
      ...(await checkRest(database, place)),
    ];
  } finally {
    await functions.killAll();
    await runtime.drain();
    await database.close();
  }
}

test(`functions that are killed ${kills} times lose nothing and do nothing twice`, async () => {
  const figures = await withFolder(run);
  expect(wrongOnes(figures)).toStrictEqual([]);
  expect(figures.find(({ what }) => what === 'steps in the log')?.value).toBe(sessions * steps);
});
