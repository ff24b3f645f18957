// Worlds for the conformance suite of session runtimes, in one process: a worker that is killed is one that nothing reaches any more.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedRuntime, RuntimeRole, SessionStore, StoredWorker } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { AgentSurroundings, RuntimeWorldFactory, RuntimeWorldOptions, WorldAbility } from '../../src/testing/index.ts';
import { createConformanceAgents } from '../../src/testing/index.ts';
import type { SkippingClock } from './skipping-clock.ts';
import { createSkippingClock } from './skipping-clock.ts';

/** Something that stores are opened on. */
export interface WorldPlace {
  open(): SessionStore;
  dispose(): Promise<void> | void;
}

/** A way to make worlds, with the abilities that they have. */
export interface WorldKind {
  readonly name: string;
  readonly abilities: readonly WorldAbility[];
  readonly make: RuntimeWorldFactory;
  /** True if its cases run one by one: to start several processes at once takes longer than a case may. @default false */
  readonly isSerial?: boolean;
}

// A new promise each time: one that never settles keeps everything that ever waited for it.
const waitForever = (): Promise<never> => new Promise(() => undefined);

/** A process, as far as one can live and die within another. */
interface Life {
  readonly name: string;
  isOver: boolean;
}

// A function, so that nobody takes it for the same before and after something was awaited.
const isOver = (life: Life): boolean => life.isOver;

/** A store as a process sees it: once that is dead, nothing that it asked for settles, and nothing is asked for. */
export function createMortalStore(store: SessionStore, life: Life): SessionStore {
  const call = async (work: () => unknown): Promise<unknown> => {
    if (isOver(life)) return waitForever();
    const [settled] = await Promise.allSettled([Promise.resolve().then(work)]);
    if (isOver(life)) return waitForever();
    if (settled.status === 'rejected') throw settled.reason;
    return settled.value;
  };
  /** Wraps every method of a port. */
  const wrap = <Port extends object>(port: Port): Port => {
    const methods = Object.entries(port).map(([name, method]: [string, (...args: readonly unknown[]) => unknown]) => [
      name,
      (...args: readonly unknown[]) => call(() => method(...args)),
    ]);
    // Holds: each method of a port returns a promise.
    return Object.fromEntries(methods) as Port;
  };
  const { log, heads, leases, inbox, notes, feed, changes } = store;
  return {
    ...{ log: wrap(log), heads: wrap(heads), leases: wrap(leases), inbox: wrap(inbox) },
    ...{ notes: wrap(notes), feed: wrap(feed) },
    changes: {
      watch: (listener) =>
        changes.watch((change) => {
          if (!isOver(life)) listener(change);
        }),
    },
    close: () => store.close(),
  };
}

/** Gates and records that all processes share. */
function createScene() {
  const records: string[] = [];
  const open = new Set<string>();
  const waiting = new Map<string, (() => void)[]>();
  const createSurroundings = (life: Life, clock: SkippingClock): AgentSurroundings => ({
    record: (line) => {
      if (!isOver(life)) records.push(line);
    },
    isOpen: (gate) => open.has(gate),
    pass: async (gate) => {
      if (!open.has(gate)) await new Promise<void>((resolve) => waiting.set(gate, [...(waiting.get(gate) ?? []), resolve]));
      if (life.isOver) await waitForever();
    },
    clock,
    onProblem: () => undefined,
  });
  const openGate = (gate: string): void => {
    open.add(gate);
    for (const pass of waiting.get(gate) ?? []) pass();
  };
  return { records, createSurroundings, openGate };
}

/** Notes that a process has died, as workers see of each other on one machine. */
async function noteDeath(store: SessionStore, { name }: Life): Promise<void> {
  const find = async (): Promise<readonly StoredWorker[]> => (await store.leases.workers()).filter((worker) => worker.name === name);
  for (let found = await find(); found.length > 0; found = await find())
    for (const { id: worker, beats } of found) await store.leases.free({ worker, beats });
}

/** Makes worlds on places of a kind: workers that the application is in itself, or workers and a client on stores of their own. */
function createWorlds(makePlace: () => WorldPlace | Promise<WorldPlace>, hasClient: boolean): RuntimeWorldFactory {
  return async (given) => {
    const place = await makePlace();
    const clock = createSkippingClock();
    const scene = createScene();
    const opened: SessionStore[] = [];
    let options: RuntimeWorldOptions = given;
    const start = (role: RuntimeRole, life: Life): EmbeddedRuntime => {
      const store = place.open();
      opened.push(store);
      const { release, ...rules } = options;
      const agents = createConformanceAgents(scene.createSurroundings(life, clock), release);
      const onProblem = (): void => undefined;
      const { name } = life;
      return createSessionRuntime({ ...rules, name, agents, store: createMortalStore(store, life), role, clock, onProblem });
    };
    let started = 0;
    const startWorker = async () => {
      const life: Life = { name: `worker ${(started += 1)}`, isOver: false };
      const runtime = start('worker', life);
      await runtime.ready;
      return { life, runtime };
    };
    let last = await startWorker();
    /** Workers that run. */
    const running = [last];
    const addWorker = async (): Promise<void> => {
      last = await startWorker();
      running.push(last);
    };
    const client = hasClient ? start('client', { name: 'client', isOver: false }) : undefined;
    return {
      get runtime() {
        return client ?? last.runtime;
      },
      records: async () => [...scene.records],
      open: async (gate) => scene.openGate(gate),
      kill: async () => {
        const killed = running.shift();
        if (killed === undefined) return;
        killed.life.isOver = true;
        const store = place.open();
        opened.push(store);
        await noteDeath(store, killed.life);
      },
      drain: async () => running.shift()?.runtime.drain(),
      add: addWorker,
      restart: async (more) => {
        options = more ?? options;
        await addWorker();
      },
      leave: () => (client ?? last.runtime).drain(),
      advance: (ms) => clock.advance(ms),
      dispose: async () => {
        await client?.drain();
        for (const { runtime } of running) await runtime.drain({ timeoutMs: 0 });
        for (const store of opened) await store.close().catch(() => undefined);
        await place.dispose();
      },
    };
  };
}

const inOneProcess: readonly WorldAbility[] = ['kill', 'drain', 'time', 'workers'];

/** The two kinds of worlds in one process, over places of a kind. */
export const createWorldKinds = (name: string, makePlace: () => WorldPlace | Promise<WorldPlace>): readonly [WorldKind, WorldKind] => [
  { name: `${name}, no client`, abilities: inOneProcess, make: createWorlds(makePlace, false) },
  { name: `${name}, worker and client`, abilities: [...inOneProcess, 'client'], make: createWorlds(makePlace, true) },
];

/** A folder that goes when its world ends. */
export function newFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'stepline-world-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function createSqlitePlace(): WorldPlace {
  const { path, remove } = newFolder();
  return { open: () => sqliteStore({ path: join(path, 'sessions.db') }), dispose: remove };
}

export const memoryWorlds = createWorldKinds('memory', () => ({ ...createMemoryPlace(), dispose: () => undefined }));
export const sqliteWorlds = createWorldKinds('SQLite', createSqlitePlace);
