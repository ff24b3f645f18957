// Lists of sessions.
import type { SessionQuery } from '../../sessions/index.ts';
import { same } from '../conformance.ts';
import type { RuntimeCases, RuntimeStage } from './runtime-stage.ts';
import { ann } from './runtime-stage.ts';

async function listIds({ runtime }: RuntimeStage, query: SessionQuery = {}): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await runtime.list({ ...query, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.sessions.map(({ id }) => id));
    ({ cursor } = page);
  } while (cursor !== undefined);
  return ids;
}

const hour = 3_600_000;

export const listCases: RuntimeCases = {
  'finds sessions by every filter': {
    options: { approvals: { expireAfterMs: hour } },
    check: async (stage) => {
      const { runtime, run, start, create, reach } = stage;
      await run('done', 'say Hello', { tenant: 't', owner: 'o', tags: ['a', 'b'] });
      const { waitingFor } = await run('asks', 'pay 1', { tenant: 't', owner: 'p', tags: ['b'] });
      await run('cancelled', 'pay 2', { tenant: 'u' });
      await runtime.cancel('cancelled', 'enough', { by: ann });
      await create('silent', { agent: 'frugal' });
      await start('runs', 'note 1@never', { owner: 'o' });
      await reach('note 1');
      const expiresAt = waitingFor[0]?.expiresAt ?? 0;
      const found: readonly (readonly [SessionQuery, readonly string[]])[] = [
        [{}, ['runs', 'silent', 'cancelled', 'asks', 'done']],
        [{ tenant: 't' }, ['asks', 'done']],
        [{ owner: 'o' }, ['runs', 'done']],
        [{ agentName: 'frugal' }, ['silent']],
        [{ tag: 'b' }, ['asks', 'done']],
        [{ status: 'waiting' }, ['asks']],
        [{ status: 'completed', tag: 'a' }, ['done']],
        [{ stopReason: 'user_requested' }, ['cancelled']],
        [{ isOpen: true }, ['runs']],
        [{ wakeBefore: expiresAt }, ['asks']],
        [{ wakeBefore: expiresAt - 1 }, []],
        [{ updatedBefore: expiresAt, status: 'pending' }, ['silent']],
        [{ updatedBefore: 1 }, []],
        [{ tenant: 't', owner: 'nobody' }, []],
      ];
      for (const [query, ids] of found) same(await listIds(stage, query), ids, `sessions by ${JSON.stringify(query)}`);
      const { sessions } = await runtime.list({ status: 'waiting' });
      same(
        sessions.map((each) => 'waitingFor' in each && each.waitingFor),
        [[{ type: 'approval', id: waitingFor[0]?.id, toolName: 'pay' }]],
        'waits in a list',
      );
    },
  },
  'lists newest first, in pages without gaps': async (stage) => {
    const ids = Array.from({ length: 7 }, (_, index) => `s${index}`);
    for (const id of ids) await stage.create(id);
    const { sessions, cursor } = await stage.runtime.list({ limit: 3 });
    same([sessions.map(({ id }) => id), typeof cursor], [['s6', 's5', 's4'], 'string'], 'first page');
    for (const limit of [1, 3, 7, 100]) same(await listIds(stage, { limit }), ids.toReversed(), `pages of ${limit}`);
    await stage.create('later');
    const next = await stage.runtime.list({ limit: 3, ...(cursor !== undefined && { cursor }) });
    same(
      next.sessions.map(({ id }) => id),
      ['s3', 's2', 's1'],
      'second page, after a session was added',
    );
  },
};
