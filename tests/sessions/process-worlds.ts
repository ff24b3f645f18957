// Worlds whose worker is another process, which is killed by the system.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SessionStore } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { RuntimeWorldFactory } from '../../src/testing/index.ts';
import { createConformanceAgents } from '../../src/testing/index.ts';
import { createSkippingClock } from './skipping-clock.ts';
import type { WorkerCommand, WorkerOrders, WorkerWord } from './world-orders.ts';
import { createFileScene } from './world-orders.ts';
import type { WorldKind } from './worlds.ts';
import { newFolder } from './worlds.ts';

/** A place that several processes open stores on. */
export interface SharedPlace {
  /** Options for the worker's file to open a store. */
  readonly place: WorkerOrders['place'];
  open(): SessionStore;
  dispose(): Promise<void> | void;
}

export interface WorkerProcess {
  /** Settles when the worker says this; rejects if it ends before. */
  hear(type: WorkerWord['type']): Promise<void>;
  say(command: WorkerCommand): void;
  kill(): Promise<void>;
  readonly gone: Promise<unknown>;
}

export function startWorker(file: string, orders: WorkerOrders): WorkerProcess {
  const child: ChildProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, JSON.stringify(orders)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4000)));
  const gone = once(child, 'close');
  const hear: WorkerProcess['hear'] = (type) =>
    new Promise((resolve, reject) => {
      child.on('message', (word: WorkerWord) => {
        if (word.type === type) resolve();
      });
      void gone.then(() => reject(new Error(`The worker ended before it said "${type}". ${errors}`)));
    });
  return {
    hear,
    say: (command) => void child.send(command),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    gone,
  };
}

/** Makes worlds with worker processes and a client in this one. */
export function createProcessWorlds(file: string, makePlace: (folder: string) => SharedPlace | Promise<SharedPlace>): RuntimeWorldFactory {
  return async (given) => {
    const { path: folder, remove } = newFolder();
    const place = await makePlace(folder);
    const scene = createFileScene(folder);
    const clock = createSkippingClock();
    let [options, skippedMs] = [given, 0];
    const start = async (): Promise<WorkerProcess> => {
      const started = startWorker(file, { folder, options, skippedMs, place: place.place });
      await started.hear('ready');
      return started;
    };
    /** Workers that run. */
    const running = [await start()];
    const store = place.open();
    const { release, ...rules } = given;
    const agents = createConformanceAgents({ ...scene.surroundings, clock }, release);
    const runtime = createSessionRuntime({ ...rules, agents, store, role: 'client', clock, onProblem: () => undefined });
    return {
      runtime,
      records: async () => scene.read(),
      open: async (gate) => scene.open(gate),
      kill: async () => running.shift()?.kill(),
      drain: async () => {
        const worker = running.shift();
        const drained = worker?.hear('drained');
        worker?.say({ type: 'drain' });
        await drained;
        await worker?.gone;
      },
      add: async () => void running.push(await start()),
      restart: async (more) => {
        options = more ?? options;
        running.push(await start());
      },
      leave: () => runtime.drain(),
      advance: async (ms) => {
        skippedMs += ms;
        for (const worker of running) {
          const advanced = worker.hear('advanced');
          worker.say({ type: 'advance', ms });
          await advanced;
        }
        await clock.advance(ms);
      },
      dispose: async () => {
        await runtime.drain();
        for (const worker of running) await worker.kill();
        await store.close();
        await place.dispose();
        remove();
      },
    };
  };
}

export const sqliteProcessWorld: WorldKind = {
  name: 'SQLite, worker in another process',
  abilities: ['kill', 'drain', 'client', 'time', 'workers'],
  isSerial: true,
  make: createProcessWorlds(fileURLToPath(new URL('world-worker.ts', import.meta.url)), (folder) => {
    const path = join(folder, 'sessions.db');
    return { place: { path }, open: () => sqliteStore({ path }), dispose: () => undefined };
  }),
};
