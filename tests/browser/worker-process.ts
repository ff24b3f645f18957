// A worker in a process of its own. Its arguments are the path of the database and the folder of the gates.
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createAgents } from './agents.ts';

const [, , path = '', gates = ''] = process.argv;
const runtime = createSessionRuntime({
  agents: createAgents(gates),
  store: sqliteStore({ path }),
  maxRecoveries: Infinity,
  onProblem: (problem) => process.stderr.write(`${String(problem)}\n`),
});
await runtime.ready;
process.send?.({ type: 'ready' });
// Ends with the test that started it.
process.on('disconnect', () => process.exit());
