// A build with one added field and the build before it share a database, with kills. Exits with 1 if a figure is wrong.
//   npm run chaos:builds                            60 sessions × 12 steps, 8 kills, on SQLite and then on Postgres
//   npm run chaos:builds -- --store sqlite --sessions 20 --steps 8 --kills 4 --seed 7
import { runBuilds } from './run.ts';
import { readArguments, runOnStores } from '../processes/command.ts';

await runOnStores(readArguments({ sessions: 60, steps: 12, kills: 8 }), {
  title: 'two builds',
  run: runBuilds,
});
