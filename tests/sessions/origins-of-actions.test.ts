// What is stored of an action beside its effect: the request that it came with, and, of an approval, what was shown and why it was asked for.
import { describe, expect, it, test } from 'vitest';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { ann, bob, places, readEvents, stageOn, getWait } from './stage.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const other = '00-11111111111111111111111111111111-2222222222222222-00';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const,
  needsApproval: ({ amount }) => amount > 100 && `${amount} EUR are more than 100`,
  run: ({ amount }) => `paid ${amount}`,
});
const createPayer = (amount: number) =>
  createAgent({ id: 'desk', model: scriptedModel([{ toolCalls: [{ name: 'pay', args: { amount } }] }, { text: 'Paid.' }]), tools: [pay] });

describe.each(places)('on %s', (_, createPlace) => {
  test('each action keeps the traceparent that it came with, and nothing if it came without', async () => {
    const runtime = stageOn(createPlace()).start();
    await runtime.create({ id: 's' }, { by: ann, traceparent });
    await runtime.send('s', 'pay 5', { by: ann, traceparent: other });
    await runtime.approve('s', await getWait(runtime, 's'), { by: bob });
    expect((await runtime.actions('s')).map((action) => [action.type, action.traceparent])).toStrictEqual([
      ['create', traceparent],
      ['send', other],
      ['approve', undefined],
    ]);
  });

  test('an action that waits in the mailbox keeps it until a worker applies it', async () => {
    const stage = stageOn(createPlace());
    const client = stage.start({ role: 'client' });
    await client.create({ id: 's' }, { by: ann });
    await client.send('s', 'Hello.', { by: ann, traceparent, until: 'accepted' });
    expect((await client.get('s')).mailbox).toMatchObject([{ type: 'send', traceparent }]);
    await stage.start().ready;
    await expect.poll(async () => (await client.get('s')).status).toBe('completed');
    expect((await client.actions('s')).at(-1)).toMatchObject({ type: 'send', traceparent });
  });

  test('an approval keeps the call that was shown, the edited arguments, and what the rule said', async () => {
    const runtime = stageOn(createPlace()).start({ agents: [createPayer(500)] });
    await runtime.create({ id: 's' }, { by: ann });
    const asked = await runtime.send('s', 'Pay.', { by: ann });
    expect(asked.waitingFor).toMatchObject([{ type: 'approval', reason: '500 EUR are more than 100' }]);
    expect(asked.explain().split('\n')[0]).toContain('500 EUR are more than 100');
    const requested = (await readEvents(runtime, 's')).find(({ type }) => type === 'ToolApprovalRequested');
    expect(requested).toMatchObject({ tool: 'pay', reason: '500 EUR are more than 100' });
    await runtime.approve('s', await getWait(runtime, 's'), { by: bob, args: { amount: 50 } });
    expect((await runtime.actions('s')).at(-1)).toMatchObject({
      type: 'approve',
      by: bob,
      args: { amount: 50 },
      shown: { toolName: 'pay', args: { amount: 500 }, reason: '500 EUR are more than 100' },
    });
  });
});

it('takes a repeated request for the same whatever trace it belongs to', async () => {
  const runtime = stageOn(createMemoryPlace()).start();
  await runtime.create({ id: 's' }, { by: ann });
  await runtime.send('s', 'Hello.', { by: ann, requestId: 'one', traceparent });
  expect(await runtime.send('s', 'Hello.', { by: ann, requestId: 'one', traceparent: other })).toMatchObject({ isRepeated: true });
});

it('asks nobody about a call that the rule lets through', async () => {
  const runtime = stageOn(createMemoryPlace()).start({ agents: [createPayer(99)] });
  await runtime.create({ id: 's' }, { by: ann });
  expect(await runtime.send('s', 'Pay.', { by: ann })).toMatchObject({ status: 'completed', text: 'Paid.' });
});

it.each(['', '00-1-2-3', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `ff${traceparent.slice(2)}`, traceparent.toUpperCase(), 7])(
  'refuses %j as a traceparent',
  async (given) => {
    const runtime = stageOn(createMemoryPlace()).start();
    // @ts-expect-error: what a program without types may pass.
    await expect(runtime.create({}, { by: ann, traceparent: given })).rejects.toThrow('traceparent must have the form "00-');
  },
);

it('keeps the fingerprint of a tool with the wait for it', async () => {
  const foreign = { ...pay, fingerprint: 'sha256:1' };
  const model = scriptedModel([{ toolCalls: [{ name: 'pay', args: { amount: 500 } }] }]);
  const place = createMemoryPlace();
  const agents = [createAgent({ id: 'desk', model, tools: [foreign] })];
  const runtime = stageOn(place).start({ agents });
  await runtime.create({ id: 's' }, { by: ann });
  await runtime.send('s', 'Pay.', { by: ann });
  await runtime.drain();
  const { waitingFor } = await stageOn(place).start({ agents }).get('s');
  expect(waitingFor).toMatchObject([{ type: 'approval', toolName: 'pay', fingerprint: 'sha256:1' }]);
});
