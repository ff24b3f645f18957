// Two executors on one database, killed again and again. The last one that is killed does not come back: the other takes over.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DBOSClient } from '@dbos-inc/dbos-sdk';
import type { Figure } from '../../../../chaos/figures.ts';
import { atMost, exactly, info, none } from '../../../../chaos/figures.ts';
import { createRandom } from '../../../../chaos/random.ts';
import { startPostgres } from '../../postgres.ts';
import { quietLogger } from '../quiet-logger.ts';
import type { PlannedCall } from './plan.ts';
import { callNames, isOnce, planCalls, sessionIds, toLastWords } from './plan.ts';
import type { Executor, Said } from './executor.ts';
import { startExecutor } from './executor.ts';
import type { SessionEnd } from './worker.ts';

export interface ChaosOptions {
  readonly sessions: number;
  readonly steps: number;
  readonly kills: number;
  readonly seed: number;
  readonly onProgress?: (line: string) => void;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the lines of executors, and wakes up waiting callers. */
class Watch {
  readonly problems: string[] = [];
  started = 0;
  steps = 0;
  takenOver = 0;

  note({ started, step, takeover = 0, problem }: Said): void {
    if (started !== undefined) this.started += 1;
    if (step !== undefined) this.steps += 1;
    this.takenOver += takeover;
    if (problem !== undefined) this.problems.push(problem);
  }

  async until(isDone: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
    while (!(await isDone())) await pause(everyMs);
  }
}

type Client = Awaited<ReturnType<typeof DBOSClient.create>>;

/** Reads the results of all sessions; those that have not ended are left out. */
async function readEnds(client: Client): Promise<ReadonlyMap<string, SessionEnd>> {
  const done = await client.listWorkflows({ status: 'SUCCESS', workflowName: 'session', loadInput: false });
  // Holds: the workflow returns these.
  return new Map(done.map(({ workflowID, output }) => [workflowID, output as SessionEnd]));
}

/** Finds the executor that has most sessions that have not ended. */
async function findBusiest(client: Client): Promise<string | undefined> {
  const open = await client.listWorkflows({ status: 'PENDING', workflowName: 'session', loadInput: false, loadOutput: false });
  const counts = new Map<string, number>();
  for (const { executorId = '' } of open) counts.set(executorId, (counts.get(executorId) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}

async function countEnds(client: Client): Promise<number> {
  const done = await client.listWorkflows({ status: ['SUCCESS', 'ERROR'], workflowName: 'session', loadInput: false, loadOutput: false });
  return done.length;
}

/** Compares every session with its plan, and every call with the effects that really happened. */
function check(ends: ReadonlyMap<string, SessionEnd>, world: string, { sessions, steps }: ChaosOptions): readonly Figure[] {
  const ids = sessionIds(sessions);
  const times = new Map<string, number>();
  for (const line of world.split('\n').filter((each) => each !== '')) {
    const [, name = '', key = ''] = line.split('\t');
    times.set(`${name} ${key}`, (times.get(`${name} ${key}`) ?? 0) + 1);
  }
  const isWrong = (id: string): boolean => {
    const end = ends.get(id);
    if (end === undefined) return false;
    const isMeant = end.status === 'completed' && end.steps === steps && end.failed.length === 0;
    const areOnce = end.unknown.every((call) => isOnce(callNames[Number(call.split('-')[1])] ?? ''));
    return !isMeant || !areOnce || end.text !== toLastWords(id, steps, (call) => end.unknown.includes(call));
  };
  const unknown = [...ends.values()].flatMap((end) => end.unknown).length;
  const once = [...times].filter(([key]) => isOnce(key.split(' ')[0] ?? ''));
  const planned = ids.flatMap((id) => planCalls(id, steps));
  const plannedKeys = new Set(planned.map(({ key }) => key));
  const isKnown = ({ session, toolCallId }: PlannedCall): boolean => ends.get(session)?.unknown.includes(toolCallId) === false;
  const onceCalls = planned.filter(({ name }) => isOnce(name));
  return [
    none(
      'sessions lost',
      ids.filter((id) => !ends.has(id)),
    ),
    none('sessions with a wrong end', ids.filter(isWrong)),
    none(
      'sessions whose events have a gap',
      ids.filter((id) => ends.get(id)?.hasDenseEvents === false),
    ),
    none(
      '`once` effects run twice',
      once.filter(([, count]) => count > 1).map(([key]) => key),
    ),
    none(
      '`once` calls that succeeded without exactly one effect',
      onceCalls.filter((call) => isKnown(call) && times.get(call.key) !== 1).map(({ key }) => key),
    ),
    none(
      '`idempotent` calls without an effect',
      planned.filter(({ name, key }) => name === 'put' && !times.has(key)).map(({ key }) => key),
    ),
    none(
      'effects that no session planned',
      [...times.keys()].filter((key) => !plannedKeys.has(key)),
    ),
    info('`once` calls', onceCalls.length),
    info('  of unknown end', unknown),
    info(
      'other effects repeated',
      [...times].reduce((sum, [key, count]) => sum + (isOnce(key.split(' ')[0] ?? '') ? 0 : count - 1), 0),
    ),
  ];
}

/** Runs all sessions with all kills. Returns each check and whether it passed. */
export async function runDbosChaos(options: ChaosOptions): Promise<readonly Figure[]> {
  const { sessions, steps, kills, seed, onProgress } = options;
  const folder = mkdtempSync(join(tmpdir(), 'stepline-dbos-'));
  const world = join(folder, 'world');
  writeFileSync(world, '');
  const server = await startPostgres();
  const client = await DBOSClient.create({ systemDatabaseUrl: server.url, logger: quietLogger });
  const watch = new Watch();
  const random = createRandom(seed);
  const ids = sessionIds(sessions);
  const start = (executorId: string, own: readonly string[]): Executor => {
    const executor = startExecutor({ url: server.url, executorId, world, steps, sessions: own }, (said) => watch.note(said));
    void executor.failed.then((errors) => watch.problems.push(`Executor ${executorId} ended by itself. ${errors}`));
    return executor;
  };
  const begun = performance.now();
  const toOwn = (index: number): readonly string[] => ids.filter((_, place) => place % 2 === index);
  let executors = [start('one', toOwn(0))];
  try {
    // One after the other: two executors that create the DBOS tables at once can block each other.
    await watch.until(() => watch.started > 0 || watch.problems.length > 0);
    executors.push(start('two', toOwn(1)));
    for (let kill = 1; kill <= kills; kill += 1) {
      // The kills come in the first half of the work, so that enough is left to take over.
      const from = Math.floor(((sessions * steps) / (2 * kills)) * kill);
      await watch.until(() => watch.steps >= from || watch.problems.length > 0);
      if (watch.problems.length > 0) throw new Error(watch.problems.join('\n'));
      await pause(random() * 20);
      const isLast = kill === kills;
      const drawn = random() < 0.5 ? 0 : 1;
      // The executor that does not come back must leave work behind.
      const busiest = isLast ? await findBusiest(client) : undefined;
      const index = isLast ? executors.findIndex(({ orders }) => orders.executorId === busiest) : drawn;
      const victim = executors[index];
      await victim?.kill();
      onProgress?.(
        `kill ${kill} of ${kills}: executor ${victim?.orders.executorId ?? ''}${isLast ? ', for good' : ''}, ${watch.steps} steps recorded`,
      );
      executors = executors.flatMap((each, place) => {
        if (place !== index) return [each];
        return isLast ? [] : [start(each.orders.executorId, each.orders.sessions)];
      });
    }
    const lastKill = performance.now();
    const deadline = lastKill + 120_000;
    await watch.until(async () => (await countEnds(client)) >= sessions || performance.now() > deadline, 200);
    const end = performance.now();
    const seconds = (from: number): number => Math.round((end - from) / 100) / 10;
    return [
      info('kills', kills),
      atMost('seconds from the last kill to the end of all sessions', seconds(lastKill), 60),
      info('seconds in all', seconds(begun)),
      exactly('executors that were left', executors.length, 1),
      { what: 'workflows taken over', value: watch.takenOver, wanted: 'some', isRight: watch.takenOver > 0 },
      none('problems', watch.problems),
      ...check(await readEnds(client), readFileSync(world, 'utf8'), options),
    ];
  } finally {
    await Promise.all(executors.map((each) => each.kill()));
    await client.destroy();
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}
