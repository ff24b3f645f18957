// Approvals that are given for the rest of a session.
import { describe, expect, test } from 'vitest';
import type { ApprovalScope } from '../../src/tools/index.ts';
import { defineTool } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionStore } from '../../src/sessions/index.ts';
import { pickSubjects } from '../support/test-scale.ts';
import type { Place } from './stage.ts';
import { ann, bob, getWait, places, readActions, readEvents, refusal, stageOn } from './stage.ts';

const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

/** A stage whose tool `pay` may be approved for the rest of a session. */
function setUp(place: Place, scope: Partial<ApprovalScope> = {}) {
  const stage = stageOn(place);
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input,
    effect: scope.arguments === 'any' ? 'idempotent' : 'once',
    needsApproval: true,
    approvalScope: { arguments: 'exact', maxUses: 3, expiresMs: 60_000, ...scope },
    run: ({ amount }) => {
      stage.ran.push(`pay ${amount}`);
      return 'paid';
    },
  });
  const { look, note } = stage.tools;
  const gated = defineTool({ name: 'slow', description: 'Waits.', input, needsApproval: true, run: () => 'done' });
  const start = (more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime =>
    stage.start({ agents: [stage.agent({ tools: [pay, look, note, gated] })], ...more });
  return { ...stage, start };
}

/** A session whose first payment was approved for the rest of it. */
async function approve(runtime: EmbeddedRuntime): Promise<string> {
  await runtime.create({ id: 's' }, { by: ann });
  await runtime.send('s', 'pay 5', { by: ann });
  const wait = await getWait(runtime, 's');
  expect(await runtime.approve('s', wait, { by: bob, scope: 'session' })).toMatchObject({ status: 'completed' });
  const [approval] = (await runtime.get('s')).approvals;
  return approval?.id ?? '';
}

describe.each(pickSubjects(places))('an approval for the rest of a session over %s', (_, makePlace) => {
  test('is refused with a scope that is not known, also if another process has posted it unchecked', async () => {
    const place = makePlace();
    const { start, ran } = setUp(place);
    const runtime = start();
    await runtime.create({ id: 's' }, { by: ann });
    await runtime.send('s', 'pay 5', { by: ann });
    const wait = await getWait(runtime, 's');
    // Callers without a compiler pass anything.
    const scope = 'forever' as 'session';
    const refused = await refusal(runtime.approve('s', wait, { by: bob, scope }), 'invalid-argument');
    expect(refused.message).toBe('Unknown scope of approve() "forever". Use one of session.');
    const store = place.open();
    const request = { type: 'approve', waitId: wait.id, digest: wait.digest, scope };
    const mail = await store.inbox.post({ sessionId: 's', requestId: 'r', at: 1, body: JSON.stringify({ request, by: bob }) });
    await expect
      .poll(async () => (await store.inbox.read({ isWaiting: false })).find(({ num }) => num === mail?.num)?.reply)
      .toContain('forever');
    expect([ran, (await runtime.get('s')).status]).toEqual([[], 'waiting']);
  });

  test('covers calls with the same arguments, counted, and the events say so', async () => {
    const place = makePlace();
    const { start, ran, clock } = setUp(place);
    const runtime = start();
    const id = await approve(runtime);
    expect((await runtime.get('s')).approvals).toStrictEqual([
      { id, toolName: 'pay', args: { amount: 5 }, by: bob, at: clock.now(), maxUses: 3, uses: 1, expiresAt: clock.now() + 60_000 },
    ]);
    expect(await runtime.send('s', 'pay 5', { by: ann })).toMatchObject({ status: 'completed', execution: 2 });
    expect(await runtime.send('s', 'pay 6', { by: ann })).toMatchObject({ status: 'waiting' });
    await runtime.reject('s', await getWait(runtime, 's'), { by: ann });
    expect(await runtime.send('s', 'pay 5', { by: ann })).toMatchObject({ status: 'completed' });
    // Three uses: the fourth call is asked about again.
    expect(await runtime.send('s', 'pay 5', { by: ann })).toMatchObject({ status: 'waiting' });
    expect(ran).toStrictEqual(['pay 5', 'pay 5', 'pay 5']);
    const resolved = (await readEvents(runtime, 's')).filter((event) => event.type === 'WaitResolved');
    expect(resolved.map(({ decision, by, approval }) => ({ decision, by, approval }))).toStrictEqual([
      { decision: 'approved', by: bob, approval: { id, use: 1, maxUses: 3 } },
      { decision: 'approved', by: bob, approval: { id, use: 2, maxUses: 3 } },
      { decision: 'rejected', by: ann, approval: undefined },
      { decision: 'approved', by: bob, approval: { id, use: 3, maxUses: 3 } },
    ]);
    const actions = (await readActions(place.open(), 's')).filter(({ type }) => type === 'approve');
    expect(actions).toMatchObject([{ scope: 'session' }, { coveredBy: id, by: bob }, { coveredBy: id, by: bob }]);
  });

  test('covers several calls of one step, but no more than are left', async () => {
    const { start, ran } = setUp(makePlace());
    const runtime = start();
    await approve(runtime);
    const { status, waitingFor } = await runtime.send('s', 'pay 5 & pay 5 & pay 5', { by: ann });
    expect([status, waitingFor.length, ran.length]).toStrictEqual(['waiting', 1, 3]);
  });

  test('covers other arguments only if the tool says so', async () => {
    const { start, ran } = setUp(makePlace(), { arguments: 'any' });
    const runtime = start();
    await approve(runtime);
    expect(await runtime.send('s', 'pay 7', { by: ann })).toMatchObject({ status: 'completed' });
    expect(ran).toStrictEqual(['pay 5', 'pay 7']);
    expect((await runtime.get('s')).approvals[0]).not.toHaveProperty('args');
  });

  test('expires', async () => {
    const { start, clock } = setUp(makePlace());
    const runtime = start();
    await approve(runtime);
    await clock.advance(60_000);
    expect(await runtime.send('s', 'pay 5', { by: ann })).toMatchObject({ status: 'waiting' });
  });

  test('covers no call after somebody was told that it is revoked', async () => {
    const place = makePlace();
    const { start, ran } = setUp(place, { maxUses: 9 });
    const store = place.open();
    const revoked: Promise<unknown>[] = [];
    const watched: SessionStore = {
      ...store,
      log: {
        ...store.log,
        write: async (write) => {
          const written = await store.log.write(write);
          // Revoked between the first covered call of a step and the second.
          const isCovered = write.entries?.some(({ body }) => body.includes('coveredBy')) === true;
          if (isCovered && revoked.length === 0) revoked.push(runtime.revokeApproval('s', id, { by: ann, until: 'accepted' }));
          return written;
        },
      },
    };
    const runtime = start({ store: watched });
    const id = await approve(runtime);
    await runtime.send('s', 'pay 5 & pay 5 & pay 5 & pay 5', { by: ann, until: 'accepted' });
    await expect.poll(async () => (await runtime.get('s')).approvals).toStrictEqual([]);
    await Promise.all(revoked);
    await expect.poll(async () => (await runtime.get('s')).waitingFor.length).toBeGreaterThan(0);
    const actions = await readActions(place.open(), 's');
    const revokedAt = actions.findIndex(({ type }) => type === 'revoke');
    expect(revokedAt).toBeGreaterThan(0);
    expect(actions.slice(revokedAt).filter(({ type }) => type === 'approve')).toStrictEqual([]);
    expect(ran.length).toBeLessThan(5);
  });

  test('can be revoked, once, by its id', async () => {
    const place = makePlace();
    const { start } = setUp(place);
    const runtime = start();
    const id = await approve(runtime);
    const error = await refusal(runtime.revokeApproval('s', 'nothing', { by: ann }), 'invalid-argument');
    expect(error.message).toBe(`Unknown approval "nothing". It has ${id}; see session.approvals.`);
    await runtime.revokeApproval('s', id, { by: ann });
    expect((await runtime.get('s')).approvals).toStrictEqual([]);
    expect(await runtime.send('s', 'pay 5', { by: ann })).toMatchObject({ status: 'waiting' });
    await refusal(runtime.revokeApproval('s', id, { by: ann }), 'invalid-argument');
    expect((await readEvents(runtime, 's')).filter(({ type }) => type === 'ApprovalRevoked')).toMatchObject([{ by: ann, approvalId: id }]);
    expect((await readActions(place.open(), 's')).filter(({ type }) => type === 'revoke')).toMatchObject([{ approvalId: id, by: ann }]);
  });

  test('survives a restart, is shown to clients, and is not inherited by a fork', async () => {
    const place = makePlace();
    const { start } = setUp(place);
    const id = await approve(start());
    const runtime = start();
    const client = start({ store: place.open(), role: 'client' });
    for (const each of [runtime, client]) expect((await each.get('s')).approvals).toMatchObject([{ id, uses: 1 }]);
    expect(await runtime.send('s', 'pay 5', { by: ann })).toMatchObject({ status: 'completed' });
    expect((await client.get('s')).approvals).toMatchObject([{ id, uses: 2 }]);
    const fork = await runtime.fork('s', { execution: 1, step: 2 }, { by: ann, id: 'f' });
    expect(fork.approvals).toStrictEqual([]);
    expect(await runtime.send('f', 'pay 5', { by: ann })).toMatchObject({ status: 'waiting' });
    expect((await start().get('f')).approvals).toStrictEqual([]);
  });

  test('is refused if the tool does not allow it, or with other arguments', async () => {
    const { start } = setUp(makePlace());
    const runtime = start();
    await runtime.create({ id: 's' }, { by: ann });
    await runtime.send('s', 'slow 1', { by: ann });
    const wait = await getWait(runtime, 's');
    const error = await refusal(runtime.approve('s', wait, { by: bob, scope: 'session' }), 'invalid-argument');
    expect(error.message).toContain('"slow" cannot be approved for the rest of the session: its tool has no approvalScope.');
    await refusal(runtime.approve('s', wait, { by: bob, scope: 'session', args: { amount: 1 } }), 'invalid-argument');
    expect((await runtime.get('s')).status).toBe('waiting');
  });
});

test.each<readonly [string, object, RegExp]>([
  [
    'any arguments of a once tool',
    { needsApproval: true, approvalScope: { arguments: 'any', maxUses: 2, expiresMs: 1 } },
    /must be 'exact' for a tool/,
  ],
  ['a tool that needs none', { approvalScope: { arguments: 'exact', maxUses: 2, expiresMs: 1 } }, /has no effect without needsApproval/],
  ['no number of uses', { needsApproval: true, approvalScope: { arguments: 'exact', expiresMs: 1 } }, /approvalScope must be \{ arguments/],
])('defineTool refuses an approvalScope with %s', (_, options, message) => {
  expect(() => defineTool({ name: 'pay', description: 'Pays.', input, run: () => 1, ...options })).toThrow(message);
});
