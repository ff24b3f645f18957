// The worker, in a process of its own: runs the sessions of the file, and those that a worker before it left open.
import { AgentConsoleLogger } from 'stepline/broadcasting';
import { chooseModel } from '../choose-model.ts';
import { chooseDirectory, createDesks } from '../desks.ts';
import { openHome } from '../home.ts';
import { problemText } from '../problems.ts';
import { beforeEnd, fail, receiveSettings, sendToSupervisor } from './child-side.ts';
import { releaseNight } from './night.ts';
import type { WorkerSettings } from './messages.ts';
import { pagePaceMs } from './pace.ts';

const { db, offline, log } = await receiveSettings<WorkerSettings>();
const onProblem = (error: unknown): void => void process.stderr.write(`worker: ${problemText(error)}\n`);

try {
  const { model } = await chooseModel(process.env, { offline, paceMs: pagePaceMs });
  const logger = new AgentConsoleLogger({ level: 'debug', colors: false, print: (line) => void process.stderr.write(`${line}\n`) });
  const home = await openHome(db, {
    desks: await createDesks(model, pagePaceMs),
    adapt: chooseDirectory,
    onProblem,
    ...(log && { onEvent: logger.log }),
  });
  beforeEnd(() => home.close());
  await releaseNight(home.runtime);
  sendToSupervisor({ type: 'ready' });
} catch (error) {
  fail({ reason: 'unusable', message: problemText(error) });
}
