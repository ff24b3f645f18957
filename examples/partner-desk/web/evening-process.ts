// A worker for a second, whose clock is nine hours slow: it begins a session that has to wait for a person, and ends.
// It has the file for itself meanwhile: the supervisor has ended the regular workers, and starts them again afterwards.
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { offlineModel } from '../choose-model.ts';
import { chooseDirectory, createDesks, TourDesk } from '../desks.ts';
import { openHome } from '../home.ts';
import { problemText } from '../problems.ts';
import { joinSupervisor } from './child-side.ts';
import type { EveningSettings } from './messages.ts';
import { holdOthers, slowClock } from './night.ts';

const supervisor = joinSupervisor<EveningSettings>();
const { db, sessionId } = await supervisor.settings;
const by = { id: 'you', kind: 'user' };
const onProblem = (error: unknown): void => void process.stderr.write(`evening: ${problemText(error)}\n`);

// Before this process may run anything.
async function holdFirst(): Promise<void> {
  const store = sqliteStore({ path: db });
  const client = createSessionRuntime({ agents: [], store, role: 'client', onProblem });
  await holdOthers(client);
  await client.drain();
  await store.close();
}

try {
  await holdFirst();
  const desks = await createDesks(await offlineModel(), 0, slowClock);
  const home = await openHome(db, { desks, adapt: chooseDirectory, clock: slowClock, workerName: 'evening', onProblem });
  supervisor.beforeEnd(() => home.close());
  await home.runtime.create({ id: sessionId, agent: TourDesk.Overnight, owner: by.id, tags: ['tour'] }, { by });
  await home.runtime.send(sessionId, 'Delete the lead of Vela', { by });
  supervisor.send({ type: 'ready' });
} catch (error) {
  supervisor.fail({ reason: 'unusable', message: problemText(error) });
}
