// The worker of a world on Restate, in a process of its own.
import { serveSessions } from '../../../src/sessions/restate/index.ts';
import { createConformanceAgents } from '../../../src/testing/index.ts';
import type { WorkerCommand, WorkerOrders, WorkerWord } from '../../sessions/world-orders.ts';
import { createFileScene } from '../../sessions/world-orders.ts';
import { listen } from './listen.ts';

const say = (word: WorkerWord): void => void process.send?.(word);

// Holds: the world writes the orders.
const { folder, options, place } = JSON.parse(process.argv[2] ?? '{}') as WorkerOrders;
const { release, ...rules } = options;
const { ingress = '', prefix = '', port = '0' } = place;
const { surroundings } = createFileScene(folder);
const onProblem = process.env['SHOW_PROBLEMS'] === undefined ? (): void => undefined : console.error;
const agents = createConformanceAgents({ ...surroundings, onProblem }, release);
const worker = serveSessions({ ...rules, agents, ingress: { url: ingress }, prefix, onProblem });
process.on('message', (command: WorkerCommand) => {
  if (command.type === 'drain')
    void worker.drain().then(() => {
      say({ type: 'drained' });
      // Gives the server time to receive the end of the last turns.
      setTimeout(() => process.exit(0), 50);
    });
});
await listen(worker.node, Number(port));
say({ type: 'listening' });
process.on('message', (command: WorkerCommand) => {
  if (command.type === 'start') void worker.start().then(() => say({ type: 'ready' }));
});
