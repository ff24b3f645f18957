// The worker: takes every session of the plan to its ending, then runs other sessions until it is told to stop.
// Says on its output when the endings are there, and how many steps it has recorded since.
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createAgents } from './agents.ts';
import type { PlannedSession } from './plan.ts';
import { Ending, planSessions, toCancelReason } from './plan.ts';

const [path = '', count = '1000', atOnce = '20'] = process.argv.slice(2);
const by = { id: 'ann', kind: 'user' };
const say = (said: object): void => void process.stdout.write(`${JSON.stringify(said)}\n`);

const store = sqliteStore({ path });
let steps = 0;
const counting = {
  ...store,
  log: {
    ...store.log,
    write: async (write: Parameters<typeof store.log.write>[0]) => {
      const receipt = await store.log.write(write);
      steps += write.entries?.filter(({ step }) => step !== undefined).length ?? 0;
      return receipt;
    },
  },
};
const runtime = createSessionRuntime({ agents: createAgents(), store: counting, name: 'endings', onProblem: () => undefined });

async function end(session: PlannedSession): Promise<void> {
  const { id, agent, ending } = session;
  await runtime.create({ id, agent, tenant: 'plan' }, { by });
  const { waitingFor } = await runtime.send(id, JSON.stringify(session), { by });
  const [wait] = waitingFor;
  if (ending === Ending.Cancelled) await runtime.cancel(id, toCancelReason(session), { by });
  if (ending === Ending.Rejected && wait !== undefined) await runtime.reject(id, wait, { by, reason: 'not this time' });
}

/** Runs sessions one after the other. */
async function goOn(lane: number): Promise<never> {
  for (let index = 0; ; index += 1) {
    const id = `other-${lane}-${index}`;
    await runtime.create({ id, agent: Ending.Completed }, { by });
    await runtime.send(id, JSON.stringify({ id, ending: Ending.Completed, size: 20 }), { by });
  }
}

// A session that is short of time must not wait for its turn: few at once.
const plan = [...planSessions(Number(count))];
const lanes = Array.from({ length: 20 }, async () => {
  for (let next = plan.shift(); next !== undefined; next = plan.shift()) await end(next);
});
await Promise.all(lanes);
say({ type: 'ended' });
setInterval(() => say({ type: 'steps', steps }), 200);
process.on('SIGTERM', () => process.exit(0));
await Promise.all(Array.from({ length: Number(atOnce) }, (_, lane) => goOn(lane)));
