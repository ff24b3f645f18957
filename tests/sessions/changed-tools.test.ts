// A call waits for approval while the agent changes: whoever approves is told what the call cannot do any more, and it goes on waiting.
import { describe, expect, test } from 'vitest';
import { subAgents } from '../../src/capabilities/index.ts';
import { createChat, llmParticipant } from '../../src/chat/index.ts';
import type { Tool } from '../../src/entry/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { SessionRuntimeOptions } from '../../src/sessions/index.ts';
import type { JsonObject } from '../../src/lib/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import type { Orchestrator } from '../../src/step-by-step/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { Stage } from './stage.ts';
import { ann, bob, createGate, dump, getWait, refusal, stageOn, until } from './stage.ts';

const paid: string[] = [];
const pay = (name: string, key: string): Tool =>
  defineTool({
    name,
    description: 'Pays.',
    input: { type: 'object', properties: { [key]: { type: 'number' } }, required: [key], additionalProperties: false } as const,
    needsApproval: true,
    run: (args) => {
      paid.push(`${name} ${JSON.stringify(args)}`);
      return 'paid';
    },
  });

/** A model that calls a tool first, and is done when it has read the result. */
const caller = (name: string, args: JsonObject): ScriptedModel =>
  scriptedModel([({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'Done.' : { toolCalls: [{ name, args }] })], {
    repeatLast: true,
  });
const payer = (): ScriptedModel => caller('pay', { amount: 5 });

/** Ways to have the tool: each makes a version of the agent with it. */
const owners: readonly (readonly [string, (version: string, tool: Tool) => Orchestrator])[] = [
  ['an agent', (version, tool) => createAgent({ id: 'desk', version, model: payer(), tools: [tool] })],
  [
    'a sub-agent',
    (version, tool) =>
      createAgent({
        id: 'desk',
        version,
        model: caller('spawn_subagent', { subagent: 'clerk', prompt: 'Pay.' }),
        capabilities: [
          subAgents({ agents: { clerk: { agent: createAgent({ id: 'clerk', model: payer(), tools: [tool] }), description: 'Pays.' } } }),
        ],
      }),
  ],
  [
    'a participant of a chat',
    (version, tool) =>
      createChat({ id: 'desk', version, participants: [llmParticipant({ name: 'clerk', model: payer(), tools: [tool] })] }),
  ],
];

describe.each(owners)('a call of %s that waits', (_, make) => {
  async function park() {
    paid.length = 0;
    const stage: Stage = stageOn(createMemoryPlace());
    const first = stage.start({ agents: [make('1', pay('pay', 'amount'))] });
    await first.create({ id: 's' }, { by: ann });
    expect(await first.send('s', 'Pay.', { by: ann })).toMatchObject({ status: 'waiting' });
    await first.drain();
    return stage;
  }

  test.each([
    { what: 'was renamed', tool: pay('transfer', 'amount'), says: /no tool named "pay"/ },
    { what: 'takes other arguments', tool: pay('pay', 'euros'), says: /euros/ },
  ])('cannot be approved if its tool $what; it can be rejected', async ({ tool, says }) => {
    const stage = await park();
    const runtime = stage.start({ agents: [make('2', tool)] });
    const wait = await getWait(runtime, 's');
    const before = await dump(stage.place.open());
    for (const args of [undefined, { amount: 4 }]) {
      const { message } = await refusal(runtime.approve('s', wait, { by: bob, ...(args && { args }) }), 'agent-changed');
      expect(message).toMatch(says);
      expect(message).toMatch(/version 1 .*version 2 /);
    }
    expect(await dump(stage.place.open())).toStrictEqual(before);
    expect(await runtime.reject('s', wait, { by: bob, reason: 'Not any more.' })).toMatchObject({ status: 'completed' });
    expect(paid).toStrictEqual([]);
  });

  test('is approved by the version that asked', async () => {
    const stage = await park();
    await refusal(
      (async () => {
        const second = stage.start({ agents: [make('2', pay('transfer', 'amount'))] });
        await second.approve('s', await getWait(second, 's'), { by: bob });
      })(),
      'agent-changed',
    );
    const back = stage.start({ agents: [make('1', pay('pay', 'amount'))] });
    expect(await back.approve('s', await getWait(back, 's'), { by: bob })).toMatchObject({ status: 'completed' });
    expect(paid).toStrictEqual(['pay {"amount":5}']);
  });

  test('is approved with arguments that fit the new tool', async () => {
    const stage = await park();
    const runtime = stage.start({ agents: [make('2', pay('pay', 'euros'))] });
    const wait = await getWait(runtime, 's');
    expect(await runtime.approve('s', wait, { by: bob, args: { euros: 5 } })).toMatchObject({ status: 'completed' });
    expect(paid).toStrictEqual(['pay {"euros":5}']);
  });

  test('is refused to a client too', async () => {
    const stage = await park();
    const agents = [make('2', pay('transfer', 'amount'))];
    stage.start({ agents });
    const options: Partial<SessionRuntimeOptions> = { role: 'client', heartbeatClock: createFakeClock() };
    const client = stage.start({ agents: [make('1', pay('pay', 'amount'))], ...options });
    const { message } = await refusal(client.approve('s', await getWait(client, 's'), { by: bob }), 'agent-changed');
    expect(message).toMatch(/no tool named "pay"/);
    expect((await client.get('s')).status).toBe('waiting');
  });
});

test('an approval that expires as approved is kept and reported, if the tool is gone', async () => {
  paid.length = 0;
  const stage = stageOn(createMemoryPlace());
  const { clock } = stage;
  const make = (version: string, tool: Tool): Orchestrator =>
    createAgent({ id: 'desk', version, model: payer(), tools: [tool], ports: { clock } });
  const approvals = { expireAfterMs: 60_000, whenExpired: 'approve' } as const;
  const first = stage.start({ agents: [make('1', pay('pay', 'amount'))], approvals });
  await first.create({ id: 's' }, { by: ann });
  await first.send('s', 'Pay.', { by: ann });
  await first.drain();
  const runtime = stage.start({ agents: [make('2', pay('transfer', 'amount'))], approvals });
  await runtime.ready;
  await stage.clock.advance(60_000);
  await until(() => expect(stage.problems).toMatchObject([{ code: 'agent-changed' }]));
  expect(await runtime.get('s')).toMatchObject({ status: 'waiting' });
});

test('a call cannot be approved if its tool is gone, also after the new version ran what was answered beside it', async () => {
  const stage = stageOn(createMemoryPlace());
  const first = stage.start();
  await first.create({ id: 's' }, { by: ann });
  const { waitingFor } = await first.send('s', 'pay 5 & ask 3; say End', { by: ann });
  const tools = Object.values(stage.tools).filter(({ name }) => name !== 'pay');
  const runtime = stage.start({ agents: [stage.agent({ version: '2', tools })], onVersionChange: 'continue' });
  const [payment, question] = waitingFor;
  if (payment === undefined || question === undefined) throw new Error('nothing waits');
  expect(await runtime.answer('s', question, { by: bob, value: 'yes' })).toMatchObject({ status: 'waiting' });
  await refusal(runtime.approve('s', payment, { by: bob }), 'agent-changed');
  expect(await getWait(runtime, 's')).toMatchObject({ type: 'approval', toolName: 'pay' });
  await runtime.reject('s', payment, { by: bob, reason: 'no' });
  expect(await runtime.get('s')).toMatchObject({ status: 'completed', agent: { version: '2' } });
});

test('an approval for the rest of the session does not cover a call whose tool is gone', async () => {
  paid.length = 0;
  const stage = stageOn(createMemoryPlace());
  const createPay = (name: string): Tool =>
    defineTool({
      name,
      description: 'Pays.',
      input: { type: 'object', properties: { amount: { type: 'number' } } } as const,
      needsApproval: true,
      approvalScope: { arguments: 'exact', maxUses: 5, expiresMs: 600_000 },
      run: () => void paid.push(name),
    });
  const gate = createGate();
  // The second call is asked for while the runtime drains: nobody approves it any more.
  const model = scriptedModel(
    [
      async ({ messages }) => {
        const results = messages.filter(({ role }) => role === 'tool').length;
        if (results === 1) {
          gate.reach();
          await gate.passed;
        }
        return results < 2 ? { toolCalls: [{ name: 'pay', args: { amount: 5 } }] } : 'Done.';
      },
    ],
    { repeatLast: true },
  );
  const make = (version: string, tool: Tool): Orchestrator => createAgent({ id: 'desk', version, model, tools: [tool] });
  const first = stage.start({ agents: [make('1', createPay('pay'))] });
  await first.create({ id: 's' }, { by: ann });
  await first.send('s', 'Pay twice.', { by: ann });
  await first.approve('s', await getWait(first, 's'), { by: bob, scope: 'session', until: 'accepted' });
  await gate.reached;
  const draining = first.drain();
  gate.open();
  await draining;
  const runtime = stage.start({ agents: [make('2', createPay('transfer'))] });
  await runtime.ready;
  const wait = await getWait(runtime, 's');
  await refusal(runtime.approve('s', wait, { by: bob }), 'agent-changed');
  expect([(await runtime.get('s')).status, paid]).toStrictEqual(['waiting', ['pay']]);
});
