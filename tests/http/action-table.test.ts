// The routes that act on sessions, in every situation, over a client beside a worker: what the table of actions says is the status.
import { describe, expect, test } from 'vitest';
import { createSessionHandler, errorStatuses } from '../../src/broadcasting/http/index.ts';
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import type { ActionAnswer } from '../../src/sessions/core/action-table.ts';
import type { ReachedSession, Situation } from '../sessions/conditions.ts';
import { isRefusal, listCells, reach } from '../sessions/conditions.ts';
import { until } from '../sessions/stage.ts';
import type { AnswerBody } from './stage.ts';
import { authenticate, authorize } from './stage.ts';

interface Post {
  readonly path: string;
  readonly body: object;
}

const routes = {
  create: () => ({ path: '/sessions', body: {} }),
  send: () => ({ path: '/sessions/s/messages', body: { text: 'say More' } }),
  approve: ({ wait }) => ({ path: `/sessions/s/waits/${encodeURIComponent(wait.id)}/approve`, body: { digest: wait.digest } }),
  reject: ({ wait }) => ({ path: `/sessions/s/waits/${encodeURIComponent(wait.id)}/reject`, body: {} }),
  answer: ({ wait }) => ({ path: `/sessions/s/waits/${encodeURIComponent(wait.id)}/answer`, body: { value: 'blue' } }),
  grant: () => ({ path: '/sessions/s/grant', body: { steps: 5 } }),
  cancel: () => ({ path: '/sessions/s/cancel', body: {} }),
  resume: () => ({ path: '/sessions/s/resume', body: {} }),
  revoke: () => ({ path: '/sessions/s/approvals/none/revoke', body: {} }),
  fork: () => ({ path: '/sessions/s/fork', body: { execution: 1, step: 0 } }),
} as const satisfies Readonly<Record<string, (session: ReachedSession) => Post>>;

type RouteName = keyof typeof routes;

// Holds: these are its keys.
const names = Object.keys(routes) as readonly RouteName[];

interface Reply {
  readonly status: number;
  readonly code: string | undefined;
  readonly body: AnswerBody;
}

/** Makes requests to a handler over a runtime. */
function connect(runtime: EmbeddedRuntime): (post: Post, requestId?: string) => Promise<Reply> {
  const handle = createSessionHandler(runtime, {
    authenticate,
    authorize,
    newSession: ({ action }) => ({ id: action === 'fork' ? 'fork' : 's', tenant: 'north', owner: 'ann', agent: 'desk' }),
    onProblem: () => undefined,
  });
  return async ({ path, body }, requestId = 'deed') => {
    const response = await handle(
      new Request(`http://desk.test${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-caller': 'bob staff north' },
        body: JSON.stringify({ ...body, request_id: requestId }),
      }),
    );
    // Holds: every route answers with JSON.
    const answer = (await response.json()) as AnswerBody;
    return { status: response.status, code: response.ok ? undefined : answer.error.code, body: answer };
  };
}

const isAnswer = (name: RouteName): boolean => name === 'approve' || name === 'reject' || name === 'answer';

/** Code of the error that a request gets; undefined if it is accepted. */
function toExpected(situation: Situation, name: RouteName, answer: ActionAnswer): string | undefined {
  // Over HTTP, nobody can tell a session that cannot be read from one that does not exist.
  const isGone = situation === 'unknown' || situation === 'deleted' || situation === 'damaged';
  if (isGone && name !== 'create') return 'unknown-session';
  if (answer === 'session-deleted') return 'unknown-session';
  // Only what was shown is answered.
  if (isAnswer(name) && (situation === 'running' || situation === 'held')) return 'not-waiting';
  // There is no approval to revoke.
  if (name === 'revoke' && !isRefusal(answer)) return 'invalid-argument';
  return isRefusal(answer) ? answer : undefined;
}

test.each(listCells(names))('%s: the route for %s, where the table says %s', async (situation, type, answer) => {
  // Holds: only these were listed.
  const name = type as RouteName;
  const session = await reach(situation);
  const post = connect(session.client);
  const given = routes[name](session);
  const expected = toExpected(situation, name, answer);
  const first = await post(given);
  // While a step is open, only the worker can tell: the refusal is the answer to the same request again.
  if (name === 'revoke' && (situation === 'running' || situation === 'held')) {
    expect(first.status).toBe(202);
    await until(async () => expect((await post(given)).code).toBe(expected));
    return;
  }
  const accepted = name === 'create' || name === 'fork' ? 201 : 202;
  expect([first.code, first.status]).toStrictEqual([expected, expected === undefined ? accepted : errorStatuses[expected]?.status]);
  const again = await post(given);
  // One that was taken at once and is repeated has the same answer.
  expect([again.code, again.status]).toStrictEqual([first.code, first.status]);
});

describe('a message that was accepted, and refused by the worker', () => {
  const message = { path: '/sessions/s/messages', body: { text: 'say More' } };

  test('is refused again, with the same words, by every process and whatever happens later', async () => {
    const session = await reach('grant');
    await session.worker.drain();
    // An action before it may end the wait, so the message is accepted; this one does not.
    await session.client.resume('s', { by: { id: 'ann', kind: 'user' }, until: 'accepted' });
    expect((await connect(session.client)(message)).status).toBe(202);
    const worker = session.restartWorker();
    const repeat = (): Promise<Reply> => connect(session.startClient())(message);
    await until(async () => expect((await repeat()).status).toBe(409));
    const refused = await repeat();
    expect(refused.body.error).toMatchObject({ code: 'message-refused' });
    await worker.cancel('s', 'enough', { by: { id: 'bob', kind: 'staff' } });
    expect((await repeat()).body).toStrictEqual(refused.body);
    expect((await connect(worker)(message)).body).toStrictEqual(refused.body);
    // Under another id, it is another message.
    expect((await connect(session.client)(message, 'another')).status).toBe(202);
  });

  test('is refused again if it was queued behind a step, and the session waits for a grant after it', async () => {
    const session = await reach('new');
    const by = { id: 'ann', kind: 'user' } as const;
    await session.worker.create({ id: 't', agent: 'short', tenant: 'north', owner: 'ann' }, { by });
    await session.worker.send('t', 'slow 1; look 2', { by, until: 'accepted' });
    await session.stage.gate.current.reached;
    const late = { path: '/sessions/t/messages', body: { text: 'say More' } };
    const post = connect(session.client);
    expect(await post(late)).toMatchObject({ status: 202, body: { is_pending: true } });
    await until(async () => expect((await session.worker.actions('t')).some(({ requestId }) => requestId === 'deed')).toBe(true));
    expect(await post(late)).toMatchObject({ status: 202, body: { is_pending: true } });
    expect(await connect(session.worker)(late)).toMatchObject({ status: 202, body: { is_pending: true } });
    await session.release();
    await until(async () => expect((await post(late)).code).toBe('message-refused'));
    expect((await connect(session.worker)(late)).code).toBe('message-refused');
  });

  test('is not pending any more once it is applied', async () => {
    const session = await reach('completed');
    const post = connect(session.client);
    await post(message);
    await until(async () => expect((await post(message)).body).not.toHaveProperty('is_pending'));
    expect((await post(message)).body).toMatchObject({ is_repeated: true });
    expect((await connect(session.worker)(message, 'at-once')).body).not.toHaveProperty('is_pending');
  });
});
