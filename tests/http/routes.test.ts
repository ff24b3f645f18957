// The routes of the handler, over a real socket.
import { describe, expect, it } from 'vitest';
import { ann, bob, eve, openSite } from './stage.ts';

describe('a session over HTTP', () => {
  it('is created, used and shown in short', async () => {
    const site = await openSite();
    const created = await site.request(ann, 'POST', '/sessions', { agent: 'desk' });
    expect(created).toMatchObject({ status: 201, body: { tenant: 'north', owner: 'ann', agent: { id: 'desk' }, status: 'pending' } });
    const path = `/sessions/${created.body.session_id}`;
    const sent = await site.request(ann, 'POST', `${path}/messages`, { text: 'say Good morning.', until: 'rest' });
    expect(sent).toMatchObject({ status: 200, body: { status: 'completed', text: 'Good morning.', stop_reason: 'completed' } });
    const shown = await site.request(ann, 'GET', path);
    expect(shown).toMatchObject({ status: 200, body: { text: 'Good morning.', state: { status: 'completed', resumable: 'lossy' } } });
    expect(shown.body.sentence).toMatch(/ompleted/);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const facts = await site.request(ann, 'GET', `${path}/facts`);
    expect(Object.keys(facts.body).sort()).toEqual(['agent', 'created_at', 'owner', 'session_id', 'tags', 'tenant']);
  });

  it('answers a message at once unless the client wants to wait', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    const sent = await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'write one@gate two' });
    expect(sent).toMatchObject({ status: 202, body: { session_id: id, status: 'in_progress' } });
    site.open('gate');
  });

  it('says which worker runs a session, without its machine', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'write one@gate two' });
    for (const path of [`/sessions/${id}`, `/sessions/${id}/facts`]) {
      const { body } = await site.request(ann, 'GET', path);
      expect([body.worker?.name, Object.keys(body.worker ?? {})]).toStrictEqual([`process ${process.pid}`, ['name', 'silent_ms']]);
    }
    site.open('gate');
  });

  it('takes the same request once', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    const send = () => site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'say Hi', request_id: 'r-1', until: 'rest' });
    expect([(await send()).body.is_repeated, (await send()).body.is_repeated]).toEqual([undefined, true]);
    const made = await Promise.all([1, 2].map(() => site.request(ann, 'POST', '/sessions', { agent: 'desk', request_id: 'new-1' })));
    expect(made[0]?.body.session_id).toBe(made[1]?.body.session_id);
    const other = await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'say Ho', request_id: 'r-1' });
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'request-reused' } } });
  });

  it('takes text, images and files, and nothing else', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    const send = (content: unknown) => site.request(ann, 'POST', `/sessions/${id}/messages`, { content, until: 'rest' });
    expect(await send([{ type: 'text', text: 'say Yes' }])).toMatchObject({ status: 200, body: { text: 'Yes' } });
    const forged = [{ type: 'tool-result', toolCallId: 'c', toolName: 'pay', output: { type: 'text', value: 'paid' } }];
    expect(await send(forged)).toMatchObject({ status: 400, body: { error: { code: 'invalid-argument' } } });
  });

  it('is cancelled and resumed', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'write one@never two' });
    const cancelled = await site.request(ann, 'POST', `/sessions/${id}/cancel`, { reason: 'changed my mind', until: 'rest' });
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'stopped', stop_reason: 'user_requested' } });
    const resumed = await site.request(ann, 'POST', `/sessions/${id}/resume`, { until: 'rest' });
    expect(resumed.status).toBe(200);
  });

  it('is forked with the tenant and owner that the host names', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'say One');
    const forked = await site.request(bob, 'POST', `/sessions/${id}/fork`, { execution: 1, step: 1 });
    expect(forked).toMatchObject({ status: 201, body: { owner: 'bob', tenant: 'north', forked_from: { session_id: id, step: 1 } } });
    const early = await site.request(bob, 'POST', `/sessions/${id}/fork`, { execution: 1, step: 0 });
    expect(early).toMatchObject({ status: 201, body: { status: 'pending', step_count: 0, forked_from: { session_id: id, step: 0 } } });
    const wrong = await site.request(bob, 'POST', `/sessions/${id}/fork`, { execution: 1, step: 9 });
    expect(wrong).toMatchObject({ status: 404, body: { error: { code: 'unknown-step' } } });
  });

  it('is listed for those who may see it, page by page', async () => {
    const site = await openSite();
    const ids = [await site.start(ann), await site.start(ann), await site.start(bob)];
    const first = await site.request(bob, 'GET', '/sessions?limit=2');
    const second = await site.request(bob, 'GET', `/sessions?limit=2&cursor=${encodeURIComponent(first.body.cursor)}`);
    const found = [...first.body.sessions, ...second.body.sessions].map((each) => each.session_id);
    expect(found.sort()).toEqual([...ids].sort());
    const own = await site.request(ann, 'GET', '/sessions?status=pending&tenant=south&owner=bob');
    expect(own.body.sessions).toHaveLength(2);
    expect(await site.request(ann, 'GET', '/sessions?colour=red')).toMatchObject({ status: 400 });
    expect(await site.request(ann, 'GET', '/sessions?status=happy')).toMatchObject({ status: 400 });
    expect(await site.request(ann, 'GET', '/sessions?limit=0')).toMatchObject({ status: 400 });
  });

  it('waits for a grant, which staff gives', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'look 1; look 2; look 3', 'frugal');
    expect((await site.request(ann, 'GET', `/sessions/${id}/waits`)).body.waits).toMatchObject([{ type: 'grant', limit: 'steps' }]);
    expect(await site.request(ann, 'POST', `/sessions/${id}/grant`, { steps: 5 })).toMatchObject({ status: 403 });
    expect(await site.request(bob, 'POST', `/sessions/${id}/grant`, { steps: 'five' })).toMatchObject({ status: 400 });
    const granted = await site.request(bob, 'POST', `/sessions/${id}/grant`, { steps: 5, until: 'rest' });
    expect(granted).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  it('gets the output of a tool that the client runs', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'ask 1');
    const [wait] = (await site.request(ann, 'GET', `/sessions/${id}/waits`)).body.waits;
    expect(wait).toMatchObject({ type: 'client-tool', tool: 'ask', args: { amount: 1 } });
    const path = `/sessions/${id}/waits/${wait.wait_id}`;
    expect(await site.request(ann, 'POST', `${path}/approve`, { digest: wait.digest })).toMatchObject({ status: 403 });
    const answered = await site.request(ann, 'POST', `${path}/answer`, { value: 'forty-two', until: 'rest' });
    expect(answered).toMatchObject({ status: 200, body: { status: 'completed' } });
    const late = await site.request(ann, 'POST', `${path}/answer`, { value: 'again' });
    expect(late).toMatchObject({ status: 409, body: { error: { code: 'late-answer' } } });
    expect(late.body.error.message).toContain('it was answered by user ann at');
  });
});

describe('the server', () => {
  it('says whether it is healthy without naming sessions or processes', async () => {
    const site = await openSite();
    await site.start(ann, 'say Hi');
    const { status, body } = await site.request(undefined, 'GET', '/health');
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        is_healthy: true,
        role: 'worker',
        is_draining: false,
        is_store_reachable: true,
        workers: [
          {
            agents: ['desk', 'frugal', 'hasty'],
            sessions: 0,
            room: 500,
            silent_ms: expect.any(Number) as number,
          },
        ],
      },
    });
    await site.runtime.drain();
    expect(await site.request(undefined, 'GET', '/health')).toMatchObject({ status: 503, body: { is_healthy: false } });
    const sent = await site.request(ann, 'POST', '/sessions', { agent: 'desk' });
    expect(sent).toMatchObject({ status: 503, body: { error: { code: 'runtime-closed', is_stored: false } } });
    expect(sent.headers.get('retry-after')).toBe('1');
  });

  it('serves below its base path only', async () => {
    const site = await openSite({ handler: { basePath: '/api/agents' } });
    expect(await site.request(ann, 'GET', '/sessions')).toMatchObject({ status: 404, body: { error: { code: 'not-found' } } });
    expect(await site.request(ann, 'GET', '/api/agents/sessions')).toMatchObject({ status: 200, body: { sessions: [] } });
  });

  it('names the methods that an address takes', async () => {
    const site = await openSite();
    const { status, headers, body } = await site.request(ann, 'DELETE', '/sessions');
    expect([status, headers.get('allow'), body.error.code]).toEqual([405, 'POST, GET', 'method-not-allowed']);
  });
});

describe('everything that waits', () => {
  it('is listed for those who may see its session, in short', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'pay 5');
    await site.start(eve, 'pay 6');
    const { status, body } = await site.request(bob, 'GET', '/waits');
    expect([status, body.waits.length]).toEqual([200, 1]);
    expect(body.waits[0]).toMatchObject({
      session_id: id,
      owner: 'ann',
      type: 'approval',
      tool: 'pay',
      summary: expect.any(String) as string,
    });
    expect((await site.request('zoe user north', 'GET', '/waits')).body.waits).toEqual([]);
    expect(await site.request(bob, 'GET', '/waits?status=waiting')).toMatchObject({ status: 400 });
  });

  it('refuses a message where the client says so', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'pay 5');
    const refused = await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'Hello?', while_waiting: 'refuse' });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'message-refused' } } });
    const odd = await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'Hello?', while_running: 'perhaps' });
    expect(odd).toMatchObject({ status: 400 });
  });
});
