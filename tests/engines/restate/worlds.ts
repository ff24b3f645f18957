// Worlds on a real Restate server: the worker is another process, the desk is served by the application.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomUUID } from 'node:crypto';
import { restateSessions, serveDesk } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import type { RuntimeWorldFactory } from '../../../src/testing/index.ts';
import { createConformanceAgents } from '../../../src/testing/index.ts';
import type { WorkerProcess } from '../../sessions/process-worlds.ts';
import { startWorker } from '../../sessions/process-worlds.ts';
import { createFileScene } from '../../sessions/world-orders.ts';
import { newFolder } from '../../sessions/worlds.ts';
import { listen } from './listen.ts';
import type { RestateServer } from './server.ts';
import { findPorts } from './server.ts';

const workerFile = fileURLToPath(new URL('world-worker.ts', import.meta.url));

/** Creates worlds on a server, each with its own services. */
export const createRestateWorlds =
  (server: RestateServer): RuntimeWorldFactory =>
  async (given) => {
    const { path: folder, remove } = newFolder();
    const scene = createFileScene(folder);
    const prefix = `World${randomUUID().slice(0, 8)}`;
    const list = sqliteStore({ path: join(folder, 'list.db') });
    const desk = await listen(serveDesk({ list, prefix }).node);
    await server.register(desk.url);
    const [port = 0] = await findPorts(1);
    let options = given;
    const start = async (): Promise<WorkerProcess> => {
      const worker = startWorker(workerFile, {
        folder,
        options,
        skippedMs: 0,
        place: { ingress: server.ingress, prefix, port: String(port) },
      });
      await worker.hear('listening');
      await server.register(`http://127.0.0.1:${port}`);
      const ready = worker.hear('ready');
      worker.say({ type: 'start' });
      await ready;
      return worker;
    };
    let worker = await start();
    const { release, approvals } = given;
    const runtime = restateSessions({
      agents: createConformanceAgents(scene.surroundings, release),
      ingress: { url: server.ingress },
      list,
      prefix,
      onProblem: () => undefined,
      ...(approvals !== undefined && { approvals }),
    });
    return {
      runtime,
      records: async () => scene.read(),
      open: async (gate) => scene.open(gate),
      kill: () => worker.kill(),
      drain: async () => {
        const drained = worker.hear('drained');
        worker.say({ type: 'drain' });
        await drained;
        await worker.gone;
      },
      restart: async (more) => {
        options = more ?? options;
        worker = await start();
      },
      leave: () => runtime.drain(),
      dispose: async () => {
        await runtime.drain();
        if (worker.isRunning) await worker.kill();
        await desk.close();
        await list.close();
        remove();
      },
    };
  };
