// Sessions that a real Restate server runs: the log is in a store, and no process is a worker.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionWait } from '../../../src/sessions/index.ts';
import { createMemoryStore, createSessionRuntime, UnknownAgentError } from '../../../src/sessions/index.ts';
import type { SessionObjectOptions } from '../../../src/sessions/restate/index.ts';
import { createSessionObject } from '../../../src/sessions/restate/index.ts';
import { createAgent, defineTool } from '../../../src/entry/index.ts';
import { obedientModel } from '../../sessions/stage.ts';
import { createEndpointHandler } from '../../support/restate-endpoint.ts';
import type { ListeningEndpoint } from './listen.ts';
import { listen } from './listen.ts';
import { startRestate } from './server.ts';

const server = await startRestate();
afterAll(() => server.dispose());

/** Time that each call of a tool takes. */
const stepMs = 20;

const by = { id: 'ann', kind: 'user' } as const;

interface Answer {
  readonly status: number;
  // Holds: each test knows what its handler returns.
  readonly body: never;
}

interface Desk {
  readonly runtime: EmbeddedRuntime;
  readonly ran: readonly string[];
  /** Calls a handler of the session's object through the server. */
  readonly call: (id: string, handler: string, input?: object) => Promise<Answer>;
  /** Settles when the session is in this status. */
  readonly until: (id: string, status: string) => Promise<void>;
}

type More = Partial<SessionRuntimeOptions> & Pick<SessionObjectOptions, 'untilMs'>;

let count = 0;

/** Serves the sessions of a new store under a name of their own. */
async function openDesk({ untilMs = 10_000, ...more }: More = {}, wrap = (runtime: EmbeddedRuntime) => runtime): Promise<Desk> {
  const name = `sessions${(count += 1)}`;
  const ran: string[] = [];
  const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;
  const define = (tool: string, needsApproval: boolean) =>
    defineTool({
      name: tool,
      description: `Does ${tool}.`,
      input,
      needsApproval,
      run: ({ amount }) => pause(stepMs).then(() => void ran.push(`${tool} ${amount}`)),
    });
  const runtime = createSessionRuntime({
    agents: [createAgent({ id: 'desk', model: obedientModel(), tools: [define('note', false), define('pay', true)] })],
    store: createMemoryStore(),
    role: 'client',
    ...more,
  });
  const services = [createSessionObject({ runtime: wrap(runtime), name, untilMs, retryMs: 50, options: { retryPolicy: fast } })];
  const endpoint: ListeningEndpoint = await listen(createEndpointHandler({ services, logger: () => undefined }));
  onTestFinished(async () => {
    await endpoint.close();
    await runtime.drain();
  });
  await server.register(endpoint.url);
  return {
    runtime,
    ran,
    call: async (id, handler, given) => {
      const response = await fetch(`${server.ingress}/${name}/${id}/${handler}`, {
        method: 'POST',
        ...(given !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(given) }),
      });
      const text = await response.text();
      return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as never };
    },
    until: async (id, status) => {
      for await (const event of runtime.events(id, { follow: true })) {
        void event;
        if ((await runtime.get(id)).status === status) return;
      }
    },
  };
}

const fast = { initialInterval: 10, maxInterval: 100 };

async function getWait({ call }: Desk, id: string): Promise<SessionWait> {
  const { waitingFor }: { readonly waitingFor: readonly SessionWait[] } = (await call(id, 'get')).body;
  expect(waitingFor).toHaveLength(1);
  // Holds: it was just counted.
  return waitingFor[0] as SessionWait;
}

describe('createSessionObject()', () => {
  test('runs what was sent, and what was approved, although no process is a worker', async () => {
    const desk = await openDesk();
    const { call, until, runtime, ran } = desk;
    expect((await call('one', 'create', { by, owner: 'ann' })).status).toBe(200);
    expect((await call('one', 'send', { by, content: 'note 1; pay 2; say Hello' })).body).toMatchObject({ isPending: true });
    await until('one', 'waiting');
    expect(ran).toStrictEqual(['note 1']);
    expect((await call('one', 'approve', { by, wait: await getWait(desk, 'one') })).status).toBe(200);
    await until('one', 'completed');
    expect([ran, (await runtime.get('one')).text, (await runtime.get('one')).owner]).toStrictEqual([['note 1', 'pay 2'], 'Hello', 'ann']);
  });

  test('acts once if a handler is repeated', async () => {
    let failures = 2;
    const desk = await openDesk({}, (runtime) => ({
      ...runtime,
      send: async (...given) => {
        const result = await runtime.send(...given);
        if ((failures -= 1) >= 0) throw new Error('the process died before it could say so');
        return result;
      },
    }));
    await desk.call('one', 'create', { by });
    expect((await desk.call('one', 'send', { by, content: 'note 1; say Hello' })).status).toBe(200);
    await desk.until('one', 'completed');
    const session = await desk.runtime.get('one');
    expect([failures, session.executions, desk.ran]).toStrictEqual([-1, 1, ['note 1']]);
    expect((await desk.runtime.actions('one')).filter(({ type }) => type === 'send')).toHaveLength(1);
  });

  test('runs a session in another process if one does not have its agent', async () => {
    let misses = 2;
    const { call, until } = await openDesk({}, (runtime) => ({
      ...runtime,
      runOnce: (...given) => ((misses -= 1) >= 0 ? Promise.reject(new UnknownAgentError('desk', ['other'])) : runtime.runOnce(...given)),
    }));
    await call('one', 'create', { by });
    await call('one', 'send', { by, content: 'say Hello' });
    await until('one', 'completed');
    expect(misses).toBeLessThan(0);
  });

  test('says why an action is refused, and does not repeat it', async () => {
    const { call } = await openDesk();
    expect(await call('two', 'send')).toMatchObject({ status: 400, body: { metadata: { code: 'invalid-argument' } } });
    expect(await call('two', 'send', { by, content: 'Hello?' })).toMatchObject({
      status: 404,
      body: { metadata: { code: 'unknown-session' } },
    });
    await call('one', 'create', { by });
    const wait = { id: 'c1', sessionId: 'one', digest: 'other' };
    expect(await call('one', 'approve', { by, wait })).toMatchObject({ status: 409, body: { metadata: { code: 'not-waiting' } } });
    expect(await call('one', 'send', { content: 'Hello?' })).toMatchObject({
      status: 400,
      body: { metadata: { code: 'invalid-argument' } },
    });
  });

  test('leaves a session between two steps when the time is over, and continues it in another call', async () => {
    const types: string[] = [];
    const { call, until, ran } = await openDesk({ untilMs: stepMs / 2 }, (runtime) => ({
      ...runtime,
      runOnce: async (...given) => {
        const once = await runtime.runOnce(...given);
        types.push(once.type);
        return once;
      },
    }));
    await call('one', 'create', { by });
    await call('one', 'send', { by, content: 'note 1; note 2; note 3; say End' });
    await until('one', 'completed');
    expect([ran, types.includes('left')]).toStrictEqual([['note 1', 'note 2', 'note 3'], true]);
  });

  test('continues a session when the hold on it is released', async () => {
    const { call, until, runtime, ran } = await openDesk({ untilMs: 100 });
    await call('one', 'create', { by });
    const { id } = await runtime.hold({}, 'The provider asks us to wait.');
    await call('one', 'send', { by, content: 'note 1; say End' });
    expect((await call('one', 'run')).body).toStrictEqual({ type: 'left' });
    expect(ran).toStrictEqual([]);
    await runtime.release(id);
    await until('one', 'completed');
    expect(ran).toStrictEqual(['note 1']);
  });

  test('rejects an approval that nobody gave in time, by a delayed call', async () => {
    const { call, until, ran, runtime } = await openDesk({ approvals: { expireAfterMs: 300 } });
    await call('one', 'create', { by });
    await call('one', 'send', { by, content: 'pay 1; say End' });
    await until('one', 'waiting');
    expect((await call('one', 'run')).body).toMatchObject({ type: 'rested', wakeAt: expect.any(Number) as number });
    await until('one', 'completed');
    expect([ran, (await runtime.get('one')).text]).toStrictEqual([[], 'End']);
  });

  test('runs what was asked for past the object', async () => {
    const { call, until, runtime, ran } = await openDesk();
    await runtime.create({ id: 'one' }, { by });
    await runtime.send('one', 'note 1; say End', { by, until: 'accepted' });
    expect((await call('one', 'run')).body).toStrictEqual({ type: 'rested' });
    await until('one', 'completed');
    expect(ran).toStrictEqual(['note 1']);
  });
});
