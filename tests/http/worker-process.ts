// A worker in a process of its own. Its argument is the path of the database.
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createWriter } from './writer.ts';

const say = (word: object): void => void process.send?.(word);

const runtime = createSessionRuntime({
  agents: [createWriter(() => say({ type: 'aborted', at: Date.now() }))],
  store: sqliteStore({ path: process.argv[2] ?? '' }),
  maxRecoveries: Infinity,
  onProblem: () => undefined,
});
await runtime.ready;
say({ type: 'ready', port: 0 });
// Keeps the process: nothing else does while no session runs.
process.on('message', () => undefined);
