// A worker, in a process of its own: runs sessions of the file beside the other worker, and those that a worker left open that is gone.
import { chooseModel } from '../choose-model.ts';
import { chooseDirectory, createDesks } from '../desks.ts';
import { openHome } from '../home.ts';
import { createLog } from '../log.ts';
import { problemText } from '../problems.ts';
import { joinSupervisor } from './child-side.ts';
import { releaseNight } from './night.ts';
import type { WorkerSettings } from './messages.ts';
import { pagePaceMs } from './pace.ts';

const supervisor = joinSupervisor<WorkerSettings>();
const { db, name, offline, log } = await supervisor.settings;
const onProblem = (error: unknown): void => void process.stderr.write(`${name}: ${problemText(error)}\n`);

try {
  const { model } = await chooseModel(process.env, { offline, paceMs: pagePaceMs });
  const home = await openHome(db, {
    desks: await createDesks(model, pagePaceMs),
    adapt: chooseDirectory,
    workerName: name,
    onProblem,
    ...(log && { onEvent: createLog() }),
  });
  supervisor.beforeEnd(() => home.close());
  await releaseNight(home.runtime);
  supervisor.send({ type: 'ready' });
} catch (error) {
  supervisor.fail({ reason: 'unusable', message: problemText(error) });
}
