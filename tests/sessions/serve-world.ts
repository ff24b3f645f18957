// The worker of a world, in a process of its own.
import { flushCompileCache } from 'node:module';
import type { SessionStore } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { createConformanceAgents } from '../../src/testing/index.ts';
import { createSkippingClock } from './skipping-clock.ts';
import type { WorkerCommand, WorkerOrders, WorkerWord } from './world-orders.ts';
import { createFileScene } from './world-orders.ts';

const say = (word: WorkerWord): void => void process.send?.(word);

/** Runs sessions until the process is killed, or told to drain. */
export async function serveWorld(openStore: (place: WorkerOrders['place']) => SessionStore | Promise<SessionStore>): Promise<void> {
  // Holds: the world writes the orders.
  const { folder, options, skippedMs, place } = JSON.parse(process.argv[2] ?? '{}') as WorkerOrders;
  const { release, ...rules } = options;
  const clock = createSkippingClock();
  await clock.advance(skippedMs);
  const { surroundings } = createFileScene(folder);
  const agents = createConformanceAgents({ ...surroundings, clock, onProblem: () => undefined }, release);
  const store = await openStore(place);
  const runtime = createSessionRuntime({ ...rules, agents, store, role: 'worker', clock, onProblem: () => undefined });
  process.on('message', (command: WorkerCommand) => {
    if (command.type === 'advance') void clock.advance(command.ms).then(() => say({ type: 'advanced' }));
    else
      void runtime
        .drain()
        .then(() => store.close())
        .then(() => {
          say({ type: 'drained' });
          process.exit(0);
        });
  });
  // Node writes it on exit, which a process that is killed never reaches.
  flushCompileCache();
  await runtime.ready;
  say({ type: 'ready' });
}
