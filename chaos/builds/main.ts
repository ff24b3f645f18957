// A build with one added field and the build before it share a database, with kills. Exits with 1 if a figure is wrong.
//   npm run chaos:builds                            60 sessions × 12 steps, 8 kills, on SQLite and then on Postgres
//   npm run chaos:builds -- --store sqlite --sessions 20 --steps 8 --kills 4 --seed 7
import { runBuilds } from './run.ts';
import { readArguments, runOnStores } from '../processes/command.ts';

const amounts = {
  workers: 4,
  clients: 4,
  sessions: 60,
  steps: 12,
  seed: 1,
  kills: 8,
  clientKills: 0,
  stops: 0,
  blocks: 0,
  restarts: 0,
  cuts: 0,
};
await runOnStores(readArguments({ sqlite: amounts, postgres: amounts }), runBuilds);
