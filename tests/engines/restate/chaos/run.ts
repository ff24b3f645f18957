// Two workers behind one address, and a server: killed, frozen and replaced again and again. At the end one worker dies for good.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Figure } from '../../../../chaos/figures.ts';
import { atMost, info, none } from '../../../../chaos/figures.ts';
import { createRandom } from '../../../../chaos/random.ts';
import { createAgent } from '../../../../src/entry/index.ts';
import { restateSessions, serveDesk } from '../../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../../../src/testing/index.ts';
import { callNames, sessionIds } from '../../dbos/chaos/plan.ts';
import { listen } from '../listen.ts';
import { findPorts, startRestate } from '../server.ts';
import { startBalancer } from './balancer.ts';
import { checkSessions } from './check.ts';
import type { WorkerProcess } from './worker-process.ts';
import { startWorker } from './worker-process.ts';

export interface ChaosOptions {
  readonly sessions: number;
  readonly steps: number;
  /** Number of kills of a worker that comes back. */
  readonly kills: number;
  readonly serverKills: number;
  readonly seed: number;
  readonly onProgress?: (line: string) => void;
}

/** Figure that depends on the speed of the machine. */
export const secondsToRest = 'seconds from the loss of a worker to rest';

const by = { id: 'chaos', kind: 'service' };

/** Maximum time until all sessions rest. */
const patienceMs = 300_000;

/** Time for which a worker is frozen: longer than the server waits for a keep-alive. */
const frozenMs = 6000;

/** Part of the sessions that begins only when a worker is about to be lost for good. */
const latePart = 0.2;

type Disturbance = 'kill' | 'kill-server' | 'freeze';

/** Shuffles the disturbances: kills of workers and of the server. The freeze comes early, so that it is over before the end. */
function planDisturbances({ kills, serverKills }: ChaosOptions, random: () => number): readonly Disturbance[] {
  const all: Disturbance[] = [...Array<Disturbance>(kills).fill('kill'), ...Array<Disturbance>(serverKills).fill('kill-server')];
  const mixed = all
    .map((each) => ({ each, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ each }) => each);
  return mixed.toSpliced(1, 0, 'freeze');
}

/** Runs all sessions with all disturbances. Returns each check and whether it passed. */
export async function runRestateChaos(options: ChaosOptions): Promise<readonly Figure[]> {
  const { sessions, steps, seed, onProgress = () => undefined } = options;
  const random = createRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'stepline-chaos-'));
  const world = join(folder, 'world');
  writeFileSync(world, '');
  const server = await startRestate();
  const list = sqliteStore({ path: join(folder, 'list.db') });
  const desk = await listen(serveDesk({ list }).node);
  const ports = await findPorts(2);
  const balancer = await startBalancer(ports);
  let build = 1;
  const start = (port: number): WorkerProcess => startWorker({ ingress: server.ingress, port, world, build: String(build) });
  const workers = ports.map(start);
  // Reads the sessions that the workers have written; it runs nothing.
  const reader = createAgent({ id: 'chaos', model: scriptedModel([{ text: '' }]) });
  const problems: string[] = [];
  const runtime = restateSessions({
    agents: [reader],
    ingress: { url: server.ingress },
    list,
    onProblem: (error) => void problems.push(String(error)),
  });
  const countOpen = async (): Promise<number> => (await list.list({ isOpen: true, limit: sessions })).sessions.length;
  // Counted from the effects, because the copy is late and a disturbance after the end would test nothing.
  const countEffects = (): number => readFileSync(world, 'utf8').split('\n').length - 1;
  const effects = sessions * (steps - 1) * callNames.length;
  const untilDone = async (part: number): Promise<void> => {
    const until = performance.now() + patienceMs;
    while (countEffects() < effects * (1 - latePart) * part && performance.now() < until) await pause(20);
  };
  try {
    await Promise.all(workers.map(({ listening }) => listening));
    await server.register(desk.url);
    await server.register(balancer.url);
    const begun = performance.now();
    const ids = sessionIds(sessions);
    await Promise.all(ids.map((id) => runtime.create({ id, agent: 'chaos' }, { by })));
    const begin = (some: readonly string[]): Promise<unknown> =>
      Promise.all(
        some.map((id) => runtime.send(id, `Session ${id}: take ${steps} steps.`, { by, until: 'accepted', requestId: `go ${id}` })),
      );
    const late = ids.slice(0, Math.ceil(sessions * latePart));
    await begin(ids.slice(late.length));
    const planned = planDisturbances(options, random);
    const replaceWorker = async (index: number): Promise<void> => {
      await workers[index]?.kill();
      workers[index] = start(ports[index] ?? 0);
      await workers[index]?.listening;
    };
    let freezing: Promise<void> | undefined;
    for (const [number, what] of planned.entries()) {
      await untilDone((number + 1) / (planned.length + 2));
      await pause(random() * 30);
      // Halfway through, workers that start have a new build of the agent.
      if (number >= planned.length / 2) build = 2;
      const index = random() < 0.5 ? 0 : 1;
      onProgress(`${number + 1} of ${planned.length}: ${what}${what === 'kill-server' ? '' : ` worker ${index + 1}`}, build ${build}`);
      if (what === 'kill') await replaceWorker(index);
      else if (what === 'kill-server') {
        await server.kill();
        await server.start();
      } else {
        const frozen = workers[index];
        frozen?.freeze();
        freezing = pause(frozenMs).then(() => frozen?.thaw());
      }
    }
    await freezing;
    await untilDone((planned.length + 1) / (planned.length + 2));
    // However long the freeze took, there is work when a worker is lost: these sessions have only just begun.
    const before = countEffects();
    await begin(late);
    while (countEffects() === before && performance.now() - begun < patienceMs) await pause(5);
    // The copy that the count is taken from is a little late.
    let left = await countOpen();
    while (left === 0 && performance.now() - begun < patienceMs) {
      await pause(5);
      left = await countOpen();
    }
    const isDead = workers.length - 1;
    await workers[isDead]?.kill();
    const lost = performance.now();
    onProgress(`worker ${isDead + 1} dies for good, ${left} sessions are open`);
    while ((await countOpen()) > 0 && performance.now() - lost < patienceMs) await pause(50);
    const toSeconds = (since: number): number => Math.round((performance.now() - since) / 100) / 10;
    const [sinceLost, inAll, open] = [toSeconds(lost), toSeconds(begun), await countOpen()];
    return [
      info('kills of a worker', options.kills),
      info('kills of the server', options.serverKills),
      info('freezes of a worker', 1),
      info('builds of the agent', build),
      { what: 'sessions that were open when a worker was lost', value: left, wanted: 'some', isRight: left > 0 },
      none('sessions lost', open === 0 ? [] : (await list.list({ isOpen: true, limit: sessions })).sessions.map(({ id }) => id)),
      atMost(secondsToRest, sinceLost, 10),
      info('seconds in all', inAll),
      none('problems of the application', problems),
      ...(await checkSessions(runtime as never, { sessions, steps, world: readFileSync(world, 'utf8') })),
    ];
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
    await runtime.drain();
    balancer.close();
    await desk.close();
    await server.dispose();
    await list.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
