// The web server, in a process of its own: reads the sessions, and leaves every action to the workers.
import { randomUUID } from 'node:crypto';
import { toNodeListener } from 'stepline/http';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { offlineModel } from '../choose-model.ts';
import type { DeskContext } from '../desk.ts';
import { createDesks } from '../desks.ts';
import { createDirectory } from '../partners.ts';
import { problemText } from '../problems.ts';
import { createBackstage } from './backstage.ts';
import { joinSupervisor } from './child-side.ts';
import { createConductor } from './conductor.ts';
import { createDeskHandler } from './desk-handler.ts';
import { isPortTaken, listenOnLoopback } from './loopback.ts';
import type { WebSettings } from './messages.ts';

const supervisor = joinSupervisor<WebSettings>();
const { db, port: wanted, secret } = await supervisor.settings;
const by = { id: 'you', kind: 'user' };
const onProblem = (error: unknown): void => void process.stderr.write(`web server: ${problemText(error)}\n`);

const store = sqliteStore({ path: db });
// It runs nothing, so that any model and any directory will do.
const context: DeskContext = { directory: createDirectory() };
const agents = await createDesks(await offlineModel(), 0);
const runtime = createSessionRuntime({ agents, store, role: 'client', context: () => context, onProblem });
const conductor = createConductor({ runtime, by, backstage: createBackstage(supervisor, store), createId: randomUUID, onProblem });
const handler = createDeskHandler({ runtime, conductor, by, secret, onProblem });

try {
  const server = await listenOnLoopback(toNodeListener(handler), wanted);
  supervisor.beforeEnd(async () => {
    await runtime.drain({ timeoutMs: 0 });
    await server.close();
    await store.close();
  });
  supervisor.send({ type: 'ready', port: server.port });
} catch (error) {
  supervisor.fail({ reason: isPortTaken(error) ? 'port-taken' : 'unusable', message: problemText(error) });
}
