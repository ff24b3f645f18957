// `npm start` as people use it: the page, the sessions and the tour, with processes that are ended and killed.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { leadsBeside } from './support/desk.ts';
import { listProcesses, makeFolder, serveDesk, startServing } from './support/served-desk.ts';

const isAlive = (pid: number): boolean => listProcesses().some((process) => process.pid === pid);
const polling = { timeout: 20_000, interval: 50 };

describe('a desk that is served', () => {
  it('answers a question of the page, and keeps what was done', async () => {
    const { url, post, db } = await serveDesk();
    expect((await fetch(url)).headers.get('content-type')).toContain('text/html');
    const { session_id } = await post('/agents/sessions');
    const message = { text: 'Create a lead for Lumen in program Gold', until: 'rest' };
    expect(await post(`/agents/sessions/${session_id}/messages`, message)).toMatchObject({
      status: 'completed',
      text: 'Done: Lumen Optics is lead 4 in the program Gold.',
    });
    expect(leadsBeside(db)).toEqual([1, 2, 3, 4]);
  });

  it('has another worker finish an answer whose worker was killed, and a new one soon', async () => {
    const { post, get, whenIt, findProcesses, findWorker } = await serveDesk();
    const { session_id } = await post('/agents/sessions');
    await post(`/agents/sessions/${session_id}/messages`, { text: 'Write a report on Berlin' });
    await vi.waitFor(async () => expect((await get(`/agents/sessions/${session_id}`)).step_count).toBe(1), polling);
    const worker = await findWorker(session_id);
    process.kill(worker, 'SIGKILL');
    const session = await whenIt(session_id, 'completed');
    expect(session.sentence).toContain('Step 2: a process ended in this step, and another one resumed it.');
    await vi.waitFor(() => expect(findProcesses('worker-process.ts')).toHaveLength(2), polling);
    expect(findProcesses('worker-process.ts')).not.toContain(worker);
  });

  it('has a new web server on the same port after the old one was killed', async () => {
    const { url, get, post, findProcesses } = await serveDesk();
    const { session_id } = await post('/agents/sessions');
    const [web = 0] = findProcesses('web-process.ts');
    process.kill(web, 'SIGKILL');
    const found = await vi.waitFor(() => get('/agents/sessions'), polling);
    expect(found.sessions.map((session) => session.session_id)).toEqual([session_id]);
    expect((await fetch(url)).status).toBe(200);
    expect(findProcesses('web-process.ts')).not.toContain(web);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at a %s with all its processes', async (signal) => {
    const { kill, exit, findProcesses, output } = await serveDesk();
    const children = [...findProcesses('web-process.ts'), ...findProcesses('worker-process.ts')];
    expect(children).toHaveLength(3);
    kill(signal);
    expect(await exit).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
    expect(output()).not.toContain('has ended');
  });

  it('leaves no process behind if its supervisor is killed', async () => {
    const { kill, findProcesses } = await serveDesk();
    const children = [...findProcesses('web-process.ts'), ...findProcesses('worker-process.ts')];
    expect(children.filter(isAlive)).toEqual(children);
    kill('SIGKILL');
    await vi.waitFor(() => expect(children.filter(isAlive)).toEqual([]), polling);
  });

  it('says that a port is taken, and exits', async () => {
    const { url } = await serveDesk();
    const port = new URL(url).port;
    const second = startServing(join(makeFolder(), 'desk.db'), '--port', port);
    expect(await second.exit).toBe(1);
    expect(second.output()).toContain(`Port ${port} is taken. Choose another with --port, or leave it out.`);
  });

  it('takes a free port if the usual one is taken, and says so', async () => {
    const server = createServer();
    // If that fails, somebody else has taken it.
    await new Promise<void>((resolve) => server.once('error', () => resolve()).listen(4747, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const desk = startServing(join(makeFolder(), 'desk.db'));
    await vi.waitFor(() => expect(desk.output()).toContain('Port 4747 is taken, so this is another one.'), polling);
    expect(desk.output()).toMatch(/Partner desk: http:\/\/localhost:(?!4747)\d+/);
  });

  it('shares a file with another desk', async () => {
    const { db, post } = await serveDesk();
    const second = startServing(db, '--port', '0');
    await vi.waitFor(() => expect(second.output()).toContain('Partner desk: http://localhost:'), polling);
    const { session_id } = await post('/agents/sessions');
    const message = { text: 'Create a lead for Lumen in program Gold', until: 'rest' };
    expect(await post(`/agents/sessions/${session_id}/messages`, message)).toMatchObject({ status: 'completed' });
    expect(leadsBeside(db)).toEqual([1, 2, 3, 4]);
  });
});

describe('the tour', () => {
  it('shows a tool that fails until the policy gives up', async () => {
    const { startAct, whenIt } = await serveDesk();
    const { stop_reason, sentence } = await whenIt(await startAct('failing-tool'), 'failed');
    expect(stop_reason).toBe('retry_limit');
    expect(sentence).toContain('third failure in a row (limit 3)');
    expect(sentence).toContain('The index is being rebuilt.');
  });

  it('shows a limit that waits for a grant, and an approval, and leaves the real leads alone', async () => {
    const { startAct, whenIt, post, approve, db } = await serveDesk();
    const [limit, approval] = [await startAct('limit'), await startAct('approval')];
    expect((await whenIt(limit, 'waiting')).waiting_for).toMatchObject([{ type: 'grant' }]);
    const granted = await post(`/agents/sessions/${limit}/grant`, { steps: 2, until: 'rest' });
    expect(granted).toMatchObject({ status: 'completed', text: 'Done: Nordwind Energy is lead 4 in the program Growth.' });
    expect((await whenIt(approval, 'waiting')).waiting_for).toMatchObject([{ type: 'approval' }]);
    expect(await approve(approval)).toMatchObject({ status: 'completed', text: 'Done: lead 2 of Tinkerbox in Startup is deleted.' });
    expect(leadsBeside(db)).toEqual([1, 2, 3]);
  });

  it('kills the worker in the middle of an answer, once, however often it is asked to', async () => {
    const { startAct, whenIt, findProcesses, findWorker, output } = await serveDesk();
    const before = findProcesses('worker-process.ts');
    const [first, second] = await Promise.all([startAct('killed'), startAct('killed')]);
    expect(second).toBe(first);
    const survivor = await vi.waitFor(() => {
      const left = findProcesses('worker-process.ts').filter((pid) => before.includes(pid));
      expect(left).toHaveLength(1);
      return left[0];
    }, polling);
    await vi.waitFor(async () => expect(await findWorker(first)).toBe(survivor), polling);
    const { sentence, text } = await whenIt(first, 'completed');
    expect(sentence).toContain('Step 2: a process ended in this step, and another one resumed it.');
    expect(text).toContain('I would begin with Acme Robotics');
    await vi.waitFor(() => expect(findProcesses('worker-process.ts')).toHaveLength(2), polling);
    expect(findProcesses('worker-process.ts').filter((pid) => before.includes(pid))).toHaveLength(1);
    expect(output().match(/has ended \(killed by SIGKILL\)/g)).toHaveLength(1);
  });

  it('kills no worker for an answer that somebody stopped', async () => {
    const { startAct, whenIt, post, output } = await serveDesk();
    const first = await startAct('killed');
    await post(`/agents/sessions/${first}/cancel`, { reason: 'not now', until: 'rest' });
    const second = await vi.waitFor(async () => {
      const id = await startAct('killed');
      if (id === first) throw new Error('The act is still going on.');
      return id;
    }, polling);
    await whenIt(second, 'completed');
    expect((await whenIt(first, 'stopped')).stop_reason).toBe('user_requested');
    expect(output().match(/has ended \(killed by SIGKILL\)/g)).toHaveLength(1);
  });

  it('shows a night that counts nowhere, and goes on with the regular worker', async () => {
    const { startAct, get, approve, post, whenIt } = await serveDesk();
    // One that runs meanwhile goes on with the time of day.
    const other = (await post('/agents/sessions')).session_id;
    await post(`/agents/sessions/${other}/messages`, { text: 'Create a lead for Lumen in program Gold' });
    const id = await startAct('overnight');
    const asked = await get(`/agents/sessions/${id}`);
    expect(asked.status).toBe('waiting');
    const hoursAgo = (Date.now() - Date.parse(asked.updated_at)) / 3_600_000;
    expect(hoursAgo).toBeGreaterThan(8.9);
    expect(hoursAgo).toBeLessThan(9.1);
    const done = await approve(id);
    expect(done).toMatchObject({ status: 'completed', stop_reason: 'completed', text: 'Done: lead 3 of Vela Health in Gold is deleted.' });
    const after = await get(`/agents/sessions/${id}`);
    expect(Date.parse(after.updated_at) - Date.parse(asked.updated_at)).toBeGreaterThan(8.9 * 3_600_000);
    expect(Date.now() - Date.parse((await whenIt(other, 'completed')).updated_at)).toBeLessThan(60_000);
    expect(await startAct('why')).toBe(id);
  });

  it('explains a session of its own if somebody asks why first', async () => {
    const { startAct, whenIt } = await serveDesk();
    expect((await whenIt(await startAct('why'), 'failed')).stop_reason).toBe('retry_limit');
  });
});
