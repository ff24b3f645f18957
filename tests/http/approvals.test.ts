// Approvals over HTTP: who may give them, and for what was shown only.
import { describe, expect, it } from 'vitest';
import type { AuthorizationRequest } from '../../src/broadcasting/http/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { JsonObject } from '../../src/lib/index.ts';
import type { OpenEvent } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { Site } from './stage.ts';
import { ann, authorize, bob, openSite } from './stage.ts';

// Written in pieces so that secret scanners leave this file alone.
const password = ['hunter', '2'].join('');

const transfer = defineTool({
  name: 'transfer',
  description: 'Moves money.',
  input: { type: 'object', properties: { euros: { type: 'number' }, password: { type: 'string' }, note: { type: 'string' } } } as const,
  needsApproval: true,
  run: ({ euros = 0 }) => `moved ${euros}`,
});

const openTransfer = (args: JsonObject): Promise<Site> => {
  const model = scriptedModel([{ toolCalls: [{ name: 'transfer', args }] }, { text: 'Done.' }]);
  return openSite({ agents: [createAgent({ id: 'desk', model, tools: [transfer] })] });
};

/** Starts a session that waits for an approval; returns the path of the wait, and the wait. */
async function startWaiting(site: Site, text = 'pay 5') {
  const id = await site.start(ann, text);
  const [wait] = (await site.request(ann, 'GET', `/sessions/${id}/waits`)).body.waits;
  return { id, wait, path: `/sessions/${id}/waits/${wait.wait_id}` };
}

describe('an approval over HTTP', () => {
  it('runs the call that was shown', async () => {
    const site = await openSite();
    const { wait, path } = await startWaiting(site);
    expect(wait).toMatchObject({ type: 'approval', tool: 'pay', args: { amount: 5 }, hidden_fields: [] });
    const approved = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, until: 'rest' });
    expect(approved).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  it('can change the arguments, which are checked', async () => {
    const site = await openSite();
    const { wait, path } = await startWaiting(site);
    const wrong = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, args: { amount: 'much' } });
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'invalid-argument' } } });
    const edited = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, args: { amount: 4 }, until: 'rest' });
    expect(edited).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  it('covers later calls of the session if the tool allows it, until it is revoked', async () => {
    const move = defineTool({
      name: 'move',
      description: 'Moves money.',
      input: { type: 'object', properties: { euros: { type: 'number' } } } as const,
      needsApproval: true,
      approvalScope: { arguments: 'exact', maxUses: 5, expiresMs: 60_000 },
      run: ({ euros = 0 }) => `moved ${euros}`,
    });
    const call = { toolCalls: [{ name: 'move', args: { euros: 5 } }] };
    const model = scriptedModel([call, call, { text: 'Moved twice.' }, call, { text: 'Moved again.' }]);
    const site = await openSite({ agents: [createAgent({ id: 'desk', model, tools: [move] })] });
    const { id, wait, path } = await startWaiting(site, 'Go.');
    const wrong = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, scope: 'forever' });
    expect(wrong).toMatchObject({ status: 400, body: { error: { message: 'scope must be "session" if it is given, not "forever".' } } });
    const approved = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, scope: 'session', until: 'rest' });
    expect(approved).toMatchObject({ status: 200 });
    // The second call is approved as soon as its step has parked.
    await expect.poll(async () => (await site.request(ann, 'GET', `/sessions/${id}`)).body.text).toBe('Moved twice.');
    const [approval] = (await site.request(ann, 'GET', `/sessions/${id}`)).body.approvals;
    expect(approval).toMatchObject({ tool: 'move', args: { euros: 5 }, by: { id: 'bob' }, uses: 2, max_uses: 5 });
    const revoked = await site.request(bob, 'POST', `/sessions/${id}/approvals/${approval.approval_id}/revoke`, { until: 'rest' });
    expect(revoked.status).toBe(200);
    expect((await site.request(ann, 'GET', `/sessions/${id}`)).body.approvals).toEqual([]);
    const again = await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'Again.', until: 'rest' });
    expect(again).toMatchObject({ status: 200, body: { status: 'waiting' } });
  });

  it('is rejected with a reason', async () => {
    const site = await openSite();
    const { path } = await startWaiting(site);
    const rejected = await site.request(ann, 'POST', `${path}/reject`, { reason: 'too much', until: 'rest' });
    expect(rejected).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  it('asks the host with the tool, all arguments and who wanted the call', async () => {
    const asked: AuthorizationRequest[] = [];
    const site = await openSite({
      handler: {
        authorize: (question) => {
          asked.push(question);
          return authorize(question);
        },
      },
    });
    const { id, wait, path } = await startWaiting(site);
    await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, until: 'rest' });
    expect(asked.at(-1)).toMatchObject({
      action: 'approve',
      session: { id, tenant: 'north', owner: 'ann' },
      wait: { toolName: 'pay', args: { amount: 5 }, digest: wait.digest, requestedBy: { id: 'ann', kind: 'user' } },
    });
  });

  it('is refused for those who may see the session but not approve', async () => {
    const site = await openSite();
    const { wait, path } = await startWaiting(site);
    const refused = await site.request(ann, 'POST', `${path}/approve`, { digest: wait.digest });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'not-allowed', message: 'Only staff approves.' } } });
  });

  it('is refused to the person who asked for the call', async () => {
    const site = await openSite();
    const id = await site.start(bob, 'pay 5');
    const [wait] = (await site.request(bob, 'GET', `/sessions/${id}/waits`)).body.waits;
    const refused = await site.request(bob, 'POST', `/sessions/${id}/waits/${wait.wait_id}/approve`, { digest: wait.digest });
    expect(refused.body.error.message).toBe('Somebody else has to approve this.');
  });

  it.each([
    ['without a digest', {}, 400, 'invalid-argument'],
    ['with a forged digest', { digest: 'a'.repeat(64) }, 403, 'forged-approval'],
    ['with a digest that is not text', { digest: 7 }, 400, 'invalid-argument'],
    ['for another session', { digest: 'a', session_id: 'other' }, 403, 'foreign-approval'],
    ['with an unknown field', { digest: 'a', force: true }, 400, 'invalid-argument'],
  ])('is refused %s', async (_name, body, status, code) => {
    const site = await openSite();
    const { id, path } = await startWaiting(site);
    expect(await site.request(bob, 'POST', `${path}/approve`, body)).toMatchObject({ status, body: { error: { code } } });
    expect((await site.runtime.get(id)).status).toBe('waiting');
  });

  it('of something that nobody waits for names what is waited for', async () => {
    const site = await openSite();
    const { id, wait } = await startWaiting(site);
    const refused = await site.request(bob, 'POST', `/sessions/${id}/waits/other/approve`, { digest: wait.digest });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'not-waiting' } } });
    expect(refused.body.error.message).toContain(wait.wait_id);
  });

  it('is stale if the arguments have changed since they were shown', async () => {
    const site = await openSite();
    // Approved, this payment is changed by a hook, and waits again.
    const { wait, path } = await startWaiting(site, 'pay 13');
    await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, until: 'rest' });
    const stale = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest });
    expect(stale).toMatchObject({ status: 409, body: { error: { code: 'stale-approval' } } });
  });

  it('may come while the step still works, for a call that was shown', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'look 1@slow & pay 5' });
    let asked: OpenEvent | undefined;
    for await (const item of site.runtime.openStep(id, { follow: true })) {
      if (item.type !== 'event' || item.event.type !== 'ToolApprovalRequested') continue;
      asked = item.event;
      break;
    }
    const path = `/sessions/${id}/waits/${JSON.stringify(asked?.['waitId'] ?? asked?.['toolCallId']).slice(1, -1)}`;
    expect(await site.request(ann, 'POST', `${path}/approve`, { digest: asked?.['digest'] })).toMatchObject({ status: 403 });
    expect(await site.request(bob, 'POST', `${path}/approve`, { digest: 'forged' })).toMatchObject({ status: 403 });
    expect(await site.request(bob, 'POST', `${path}/approve`, { digest: asked?.['digest'] })).toMatchObject({ status: 202 });
    site.open('slow');
    for await (const event of site.runtime.events(id, { follow: true })) if (event.type === 'AgentFinished') break;
    const approved = (await site.runtime.actions(id)).filter(({ type }) => type === 'approve');
    expect(approved).toMatchObject([{ by: { id: 'bob' } }]);
  });

  it('is repeated with the result of the first', async () => {
    const site = await openSite();
    const { wait, path } = await startWaiting(site);
    const approve = () => site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, request_id: 'a-1', until: 'rest' });
    await approve();
    expect(await approve()).toMatchObject({ status: 200, body: { is_repeated: true, status: 'completed' } });
  });
});

describe('arguments that are not shown whole', () => {
  it('are hidden in what a session waits for, and named', async () => {
    const site = await openTransfer({ euros: 5, password, note: 'rent' });
    const { id, wait } = await startWaiting(site);
    expect(wait).toMatchObject({ args: { euros: 5, password: '[redacted]', note: 'rent' }, hidden_fields: ['password'] });
    const shown = JSON.stringify((await site.request(bob, 'GET', `/sessions/${id}`)).body);
    expect(shown).not.toContain(password);
  });

  it('are approved only by somebody who fetched all of them', async () => {
    const site = await openTransfer({ euros: 5, password });
    const { wait, path } = await startWaiting(site);
    const unseen = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest });
    expect(unseen).toMatchObject({ status: 428, body: { error: { code: 'hidden-arguments' } } });
    expect(unseen.body.error.message).toContain('password');
    const whole = await site.request(bob, 'GET', path);
    expect(whole).toMatchObject({ status: 200, body: { args: { euros: 5, password }, requested_by: { id: 'ann', kind: 'user' } } });
    const { seen } = whole.body;
    const byAnother = await site.request('zoe staff north', 'POST', `${path}/approve`, { digest: wait.digest, seen });
    expect(byAnother).toMatchObject({ status: 428 });
    const forged = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, seen: `${seen.slice(0, -2)}AA` });
    expect(forged).toMatchObject({ status: 428 });
    const approved = await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest, seen, until: 'rest' });
    expect(approved).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  it('count as hidden if they are too long to be shown', async () => {
    const site = await openTransfer({ euros: 5, note: 'x'.repeat(2000) });
    const { wait, path } = await startWaiting(site);
    expect(wait.args).toBeUndefined();
    expect(wait.hidden_fields).toEqual(['…']);
    expect(await site.request(bob, 'POST', `${path}/approve`, { digest: wait.digest })).toMatchObject({ status: 428 });
  });

  it('are never approved by somebody who saw only a summary: an envelope that cuts them has no digest', async () => {
    const site = await openTransfer({ euros: 5, note: 'A note that is longer than the summary of an envelope.' });
    const { id, wait } = await startWaiting(site);
    const page = await fetch(`${site.url}/sessions/${id}/events`, { headers: { 'x-caller': ann, accept: 'application/json' } });
    const { envelopes } = (await page.json()) as { envelopes: readonly { event: string; data: JsonObject }[] };
    const asked = envelopes.find(({ event }) => event === 'agent.tool.approval_requested');
    expect(asked?.data).toMatchObject({ wait_id: wait.wait_id, hidden_fields: ['note'] });
    expect(asked?.data).not.toHaveProperty('digest');
    const [listed] = (await site.request(bob, 'GET', '/waits')).body.waits;
    expect(listed).toMatchObject({ digest: wait.digest, args: { euros: 5 }, hidden_fields: [] });
  });

  it('may be rejected unseen', async () => {
    const site = await openTransfer({ euros: 5, password });
    const { path } = await startWaiting(site);
    expect(await site.request(bob, 'POST', `${path}/reject`, { until: 'rest' })).toMatchObject({ status: 200 });
  });
});
