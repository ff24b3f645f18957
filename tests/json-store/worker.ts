// A worker of a world, in a process of its own.
import type { Command, Orders } from './world.ts';
import { startRuntime } from './world.ts';

// Holds: the world writes the orders.
const { runtime, clock, stop } = startRuntime(JSON.parse(process.argv[2] ?? '{}') as Orders, 'worker');

process.on('message', (command: Command) => {
  const answer = (): void => void process.send?.(command);
  switch (command.type) {
    case 'ready':
      void runtime.ready.then(answer);
      break;
    case 'advance':
      void clock.advance(command.ms).then(answer);
      break;
    case 'drain':
      void stop().then(() => process.send?.(command, () => process.exit(0)));
  }
});
