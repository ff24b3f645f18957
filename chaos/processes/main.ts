// Several processes over one database: workers that are killed, stopped and cut off, and clients that follow everything.
// Exits with 1 if a figure is wrong.
//   npm run chaos:processes                            200 sessions × 20 steps, 10 kills, on SQLite and then on Postgres
//   npm run chaos:processes -- --store sqlite --sessions 40 --steps 10 --kills 4 --seed 7
import { readArguments, runOnStores } from './command.ts';
import { runProcesses } from './run.ts';

await runOnStores(readArguments({ sessions: 200, steps: 20, kills: 10 }), {
  title: 'a worker, a standby and 4 clients',
  run: (options) => {
    const isServer = options.store === 'postgres';
    return runProcesses({ ...options, freezes: 1, restarts: isServer ? 2 : 0, cuts: isServer ? 3 : 0 });
  },
});
