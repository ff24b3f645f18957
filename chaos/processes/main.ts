// Several processes over one database: workers that are killed, stopped, kept busy, cut off and replaced, and clients that are killed and
// follow everything. Exits with 1 if a figure is wrong.
//   npm run chaos:processes                            SQLite: 3 workers, 40 blows; Postgres: 4 workers, 100 blows, 1,000 sessions × 20 steps
//   npm run chaos:processes -- --store sqlite --sessions 40 --steps 10 --kills 4 --client-kills 1 --stops 1 --blocks 1 --seed 7
//   npm run chaos:processes -- --store postgres --restarts 2 --cuts 3
//   npm run chaos:processes -- --without-fence         the same if nothing kept a worker from writing that has lost a session: it must fail
import { readArguments, runOnStores } from './command.ts';
import { runProcesses } from './run.ts';

const both = { clients: 4, steps: 20, seed: 1 };
const given = readArguments({
  sqlite: { ...both, workers: 3, sessions: 200, kills: 18, clientKills: 8, stops: 8, blocks: 6, restarts: 0, cuts: 0 },
  postgres: { ...both, workers: 4, sessions: 1000, kills: 40, clientKills: 15, stops: 20, blocks: 10, restarts: 6, cuts: 9 },
});
await runOnStores(given, runProcesses);
