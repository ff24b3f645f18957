// The surroundings that session runtimes on the store are tested in: workers in processes of their own, and a client in this one.
// Owns:     starting and ending workers, and the files that processes share beside the store: records and gates.
// Does not: know what is tested.
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { EmbeddedRuntime, RuntimeRole } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import type { AgentSurroundings, FakeClock, RuntimeWorld, RuntimeWorldOptions } from 'stepline/testing';
import { createConformanceAgents, createFakeClock, WorldAbility } from 'stepline/testing';
import { openJsonStore } from './json-store.ts';

/** The first argument of a worker, as JSON. */
export interface Orders {
  readonly folder: string;
  readonly options: RuntimeWorldOptions;
  /** Time that was skipped before the worker started. */
  readonly aheadMs: number;
}

/** Request of a world to its worker, which answers with the same. */
export type Command = { readonly type: 'ready' | 'drain' } | { readonly type: 'advance'; readonly ms: number };

export const abilities: readonly WorldAbility[] = Object.values(WorldAbility);

/** Creates a clock that shows the machine's time, and can be moved on. */
function createWorldClock(aheadMs: number): FakeClock {
  const clock = createFakeClock(Date.now() + aheadMs);
  let last = performance.now();
  const follow = (): void => {
    const now = performance.now();
    clock.skip(now - last);
    last = now;
  };
  setInterval(follow, 2).unref();
  return clock;
}

/** Records and gates as files, which outlive every process. */
function createScene(folder: string) {
  const [records, gates] = [join(folder, 'records.txt'), join(folder, 'gates')];
  mkdirSync(gates, { recursive: true });
  const isOpen = (gate: string): boolean => existsSync(join(gates, gate));
  const surroundings: AgentSurroundings = {
    record: (line) => appendFileSync(records, `${line}\n`),
    isOpen,
    pass: async (gate) => {
      while (!isOpen(gate)) await pause(3);
    },
    onProblem: () => undefined,
  };
  return {
    surroundings,
    open: (gate: string) => writeFileSync(join(gates, gate), ''),
    // A line that a kill cut off does not count.
    read: (): readonly string[] => (existsSync(records) ? readFileSync(records, 'utf8').split('\n').slice(0, -1) : []),
  };
}

export interface Started {
  readonly runtime: EmbeddedRuntime;
  readonly clock: FakeClock;
  readonly stop: () => Promise<void>;
}

/** Starts a runtime on the store of a world. */
export function startRuntime({ folder, options, aheadMs }: Orders, role: RuntimeRole): Started {
  const { release, ...rules } = options;
  const clock = createWorldClock(aheadMs);
  const agents = createConformanceAgents({ ...createScene(folder).surroundings, clock }, release);
  const store = openJsonStore(join(folder, 'sessions.json'));
  const runtime = createSessionRuntime({ ...rules, agents, store, role, clock, onProblem: () => undefined });
  const stop = async (): Promise<void> => {
    await runtime.drain();
    await store.close();
  };
  return { runtime, clock, stop };
}

/** Asks something of a worker, and waits for its answer. */
async function ask(worker: ChildProcess, command: Command): Promise<void> {
  const answered = new Promise<void>((resolve, reject) => {
    worker.on('message', ({ type }: Command) => {
      if (type === command.type) resolve();
    });
    worker.once('exit', (code) => reject(new Error(`The worker ended with ${String(code)} before it answered "${command.type}".`)));
  });
  worker.send(command);
  await answered;
}

export async function makeWorld(given: RuntimeWorldOptions): Promise<RuntimeWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'json-world-'));
  const scene = createScene(folder);
  const running: ChildProcess[] = [];
  let [options, aheadMs] = [given, 0];
  const add = async (): Promise<void> => {
    const orders: Orders = { folder, options, aheadMs };
    const worker = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [JSON.stringify(orders)]);
    await ask(worker, { type: 'ready' });
    running.push(worker);
  };
  const end = async (worker: ChildProcess): Promise<void> => {
    const ended = once(worker, 'exit');
    worker.kill('SIGKILL');
    await ended;
  };
  await add();
  const client = startRuntime({ folder, options, aheadMs }, 'client');
  return {
    runtime: client.runtime,
    records: async () => scene.read(),
    open: async (gate) => scene.open(gate),
    kill: async () => {
      const worker = running.shift();
      if (worker !== undefined) await end(worker);
    },
    drain: async () => {
      const worker = running.shift();
      if (worker === undefined) return;
      const ended = once(worker, 'exit');
      await ask(worker, { type: 'drain' });
      await ended;
    },
    add,
    restart: async (more = options) => {
      options = more;
      await add();
    },
    leave: () => client.runtime.drain(),
    advance: async (ms) => {
      aheadMs += ms;
      for (const worker of running) await ask(worker, { type: 'advance', ms });
      await client.clock.advance(ms);
    },
    dispose: async () => {
      await client.stop();
      for (const worker of running) await end(worker);
      rmSync(folder, { recursive: true });
    },
  };
}
