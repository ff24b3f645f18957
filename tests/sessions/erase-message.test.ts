import { describe, expect, test } from 'vitest';
import type { Driver } from '../../src/tool-use/index.ts';
import { createAgent, defineTool, reActDriver } from '../../src/entry/index.ts';
import { createChat, humanParticipant, llmParticipant } from '../../src/entry/chat.ts';
import type { Message } from '../../src/messages/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { ann, bob, readEvents, newProcess, refusal, stageOn, until, getWait } from './stage.ts';

const secret = 'walnut-otter-77';

async function readEverything(store: SessionStore): Promise<string> {
  const { sessions } = await store.heads.list();
  const all = await Promise.all(
    sessions.map(async ({ id }) => [await store.log.load(id), await store.log.entries(id), await store.log.effects(id)]),
  );
  return JSON.stringify([sessions, all, await store.inbox.read()]);
}

/** Returns the last message that says the secret. */
async function findSecret(runtime: EmbeddedRuntime, id: string, role: string): Promise<Message> {
  const { state } = await runtime.get(id);
  const found = state.messages.toArray().findLast((message) => message.role === role && JSON.stringify(message).includes(secret));
  if (found === undefined) throw new Error(`No ${role} message says the secret.`);
  return found;
}

const tool = (result: unknown) =>
  defineTool({
    name: 'find',
    description: 'Finds.',
    input: { type: 'object', properties: { what: { type: 'string' } } } as const,
    run: () => result,
  });

/** A conversation with these answers, and a way to start it in another process. */
async function converse(
  answers: readonly ScriptedAnswer[],
  { words = 'Hello.', result = 'found', ...options }: { readonly words?: string; readonly result?: unknown; readonly driver?: Driver } = {},
) {
  const place = createMemoryPlace();
  const parts = { clock: createFakeClock(), ids: createCountingIds() };
  const model = scriptedModel([...answers, { text: 'More.' }], { repeatLast: true });
  const agent = createAgent({ id: 'desk', model, tools: [tool(result)], ports: parts, ...options });
  const start = (more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime =>
    createSessionRuntime({ ...newProcess, agents: [agent], store: place.open(), ...parts, ...more });
  const runtime = start();
  await runtime.create({ id: 's' }, { by: ann });
  await runtime.send('s', words, { by: ann });
  return { runtime, start, model, store: place.open() };
}

/** Erases the message that says the secret, and sees that all else is as it was. */
async function expectErased({ runtime, start, store, model }: Awaited<ReturnType<typeof converse>>, role: string): Promise<Message> {
  const before = await runtime.get('s');
  const events = await readEvents(runtime, 's');
  expect(await readEverything(store)).toContain(secret);
  const { id } = await findSecret(runtime, 's', role);
  await runtime.eraseMessage('s', id, { by: bob });
  expect(await readEverything(store)).not.toContain(secret);
  const next = start();
  const after = await next.get('s');
  expect(after).toMatchObject({
    status: before.status,
    stepCount: before.stepCount,
    executions: before.executions,
    lastSeq: before.lastSeq,
  });
  expect(after.state.messages.map((message) => message.id)).toEqual(before.state.messages.map((message) => message.id));
  expect((await readEvents(next, 's')).map(({ type, seq }) => [type, seq])).toEqual(events.map(({ type, seq }) => [type, seq]));
  expect((await next.actions('s')).at(-1)).toMatchObject({ type: 'erase', messageId: id, by: bob });
  for (const { number, results } of after.state.session.executions)
    for (const result of results) await next.fork('s', { execution: number, step: result.number }, { by: bob });
  expect(await next.send('s', 'Go on.', { by: ann })).toMatchObject({ status: 'completed', text: 'More.' });
  expect(JSON.stringify(model.calls.at(-1)?.messages)).not.toContain(secret);
  const found = after.state.messages.find((message) => message.id === id);
  if (found === undefined) throw new Error('The message is gone.');
  return found;
}

describe('erasing a message', () => {
  test('of the user', async () => {
    const message = await expectErased(await converse([{ text: 'Yes?' }], { words: `I am ${secret}.` }), 'user');
    expect(message.text).toBe('[erased]');
  });

  test('of the assistant', async () => {
    const message = await expectErased(await converse([{ text: `You are ${secret}.` }]), 'assistant');
    expect(message.text).toBe('[erased]');
  });

  test('of the assistant, with the arguments of its call wherever they are', async () => {
    const calls = [{ text: `I look for ${secret}.`, toolCalls: [{ name: 'find', id: 'c1', args: { what: secret } }] }, { text: 'Done.' }];
    const message = await expectErased(await converse(calls), 'assistant');
    expect(message.text).toBe('[erased]');
    expect(message.toolCalls).toMatchObject([{ id: 'c1', name: 'find', args: {} }]);
  });

  test.each([
    ['text', `It is ${secret}.`],
    ['data', { name: secret, size: 3 }],
    ['a list', [secret, secret]],
    ['parts', [{ type: 'text', text: secret }]],
  ])('of a tool, whose result is %s', async (_, result) => {
    const conversation = await converse([{ toolCalls: [{ name: 'find', id: 'c1', args: {} }] }, { text: 'Done.' }], { result });
    const message = await expectErased(conversation, 'tool');
    expect(message.toolResults).toMatchObject([{ toolCallId: 'c1', output: { type: 'text', value: '[erased]' } }]);
  });

  test('of a tool that failed with it', async () => {
    const place = createMemoryPlace();
    const broken = defineTool({
      name: 'find',
      description: 'Finds.',
      input: { type: 'object' } as const,
      run: () => {
        throw new Error(`cannot find ${secret}`);
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'find', id: 'c1', args: {} }] }, { text: 'More.' }], { repeatLast: true });
    const parts = { clock: createFakeClock(), ids: createCountingIds() };
    const start = (): EmbeddedRuntime =>
      createSessionRuntime({
        ...newProcess,
        agents: [createAgent({ id: 'desk', model, tools: [broken], ports: parts })],
        store: place.open(),
        ...parts,
      });
    const runtime = start();
    await runtime.create({ id: 's' }, { by: ann });
    await runtime.send('s', 'Find it.', { by: ann });
    await expectErased({ runtime, start, model, store: place.open() }, 'tool');
  });

  test('leaves other calls of the same step as they are', async () => {
    const toolCalls = [
      { name: 'find', id: 'c1', args: { what: 'a' } },
      { name: 'find', id: 'c2', args: { what: 'b' } },
    ];
    const conversation = await converse([{ toolCalls }, { text: 'Done.' }], { result: { name: 'kept' } });
    const { runtime, store, start } = conversation;
    const second = (await runtime.get('s')).state.messages.find((message) => message.toolResults[0]?.toolCallId === 'c2');
    await runtime.eraseMessage('s', second?.id ?? '', { by: bob });
    expect((await readEverything(store)).split('kept').length).toBeGreaterThan(1);
    const results = (await start().get('s')).state.messages.toArray().flatMap(({ toolResults }) => toolResults);
    expect(results.map(({ output }) => output)).toEqual([
      { type: 'json', value: { name: 'kept' } },
      { type: 'text', value: '[erased]' },
    ]);
    const completed = (await readEvents(start(), 's')).filter((event) => event.type === 'ToolCallCompleted');
    expect(completed.map(({ result }) => result)).toEqual([{ name: 'kept' }, '[erased]']);
  });

  test('of a model that calls tools in plain words, and what it observed', async () => {
    const decision = JSON.stringify({ thought: `look for ${secret}`, type: 'call_tool', tool: 'find', args: { what: secret } });
    const answers = [{ text: decision }, { text: JSON.stringify({ thought: 'done', type: 'final_answer', answer: 'Done.' }) }];
    const driver = { driver: reActDriver() };
    const conversation = await converse(answers, { ...driver, result: { name: 'other' } });
    expect((await conversation.runtime.get('s')).stepCount).toBe(2);
    const { id } = await findSecret(conversation.runtime, 's', 'assistant');
    await conversation.runtime.eraseMessage('s', id, { by: bob });
    expect(await readEverything(conversation.store)).not.toContain(secret);
    expect((await conversation.start().get('s')).stepCount).toBe(2);

    const observed = await converse(
      answers.map(({ text }) => ({ text: text.replaceAll(secret, 'it') })),
      { ...driver, result: { name: secret } },
    );
    const found = await findSecret(observed.runtime, 's', 'user');
    await observed.runtime.eraseMessage('s', found.id, { by: bob });
    expect(await readEverything(observed.store)).not.toContain(secret);
    expect((await observed.start().get('s')).stepCount).toBe(2);
  });

  test('that came during a step', async () => {
    const { start, gate, place } = stageOn(createMemoryPlace());
    const runtime = start();
    await runtime.create({ id: 's' }, { by: ann });
    const first = runtime.send('s', 'slow 1; say End', { by: ann });
    await gate.current.reached;
    const second = runtime.send('s', `say I am ${secret}`, { by: ann });
    await until(async () => expect(await runtime.actions('s')).toHaveLength(3));
    gate.current.open();
    await Promise.all([first, second]);
    const store = place.open();
    for (const role of ['assistant', 'user']) await runtime.eraseMessage('s', (await findSecret(runtime, 's', role)).id, { by: bob });
    expect(await readEverything(store)).not.toContain(secret);
    expect(await start().send('s', 'say More', { by: ann })).toMatchObject({ text: 'More' });
  });

  test('from every snapshot', async () => {
    const { start, place } = stageOn(createMemoryPlace());
    const runtime = start();
    await runtime.create({ id: 's' }, { by: ann });
    await runtime.send('s', `say ${secret}`, { by: ann });
    for (const name of ['A', 'B', 'C']) await runtime.send('s', `say ${name}${'x'.repeat(300_000)}`, { by: ann });
    const store = place.open();
    expect((await store.log.entries('s')).filter(({ isSnapshot, body }) => isSnapshot && body.includes(secret)).length).toBeGreaterThan(1);
    for (const role of ['assistant', 'user']) await runtime.eraseMessage('s', (await findSecret(runtime, 's', role)).id, { by: bob });
    expect(await readEverything(store)).not.toContain(secret);
    expect(await start().send('s', 'say More', { by: ann })).toMatchObject({ text: 'More' });
  });

  test('after its call was approved with other arguments', async () => {
    const { start, place } = stageOn(createMemoryPlace());
    const runtime = start();
    await runtime.create({ id: 's' }, { by: ann });
    await runtime.send('s', 'pay 778811; say End', { by: ann });
    const [asked] = (await runtime.get('s')).state.pendingStep?.partial.outputMessages ?? [];
    const id = asked?.id ?? '';
    expect((await refusal(runtime.eraseMessage('s', id, { by: bob }), 'invalid-argument')).message).toContain('are waiting for a person');
    const wait = await getWait(runtime, 's');
    expect(await runtime.approve('s', wait, { by: bob, args: { amount: 443322 } })).toMatchObject({ text: 'End' });
    const all = (await runtime.get('s')).state.messages.toArray();
    // The words of the user and the result of the tool name the amounts too.
    for (const message of all) await runtime.eraseMessage('s', message.id, { by: bob });
    expect(await readEverything(place.open())).not.toMatch(/778811|443322/);
    expect(await start().send('s', 'say More', { by: ann })).toMatchObject({ text: 'More' });
  });

  test('after its call was approved for the session, with the reason that the rule gave and arguments of any length', async () => {
    const { start, place, clock, ids } = stageOn(createMemoryPlace());
    const long = `${secret}-${'x'.repeat(300)}`;
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: { to: { type: 'string' } } } as const,
      needsApproval: ({ to = '' }) => `${to} is new`,
      approvalScope: { arguments: 'exact', maxUses: 3, expiresMs: 60_000 },
      run: () => 'paid',
    });
    const call = { toolCalls: [{ name: 'pay', id: 'c1', args: { to: long } }] };
    const again = { toolCalls: [{ name: 'pay', id: 'c2', args: {} }] };
    const model = scriptedModel([call, { text: 'Done.' }, again, { text: 'End' }]);
    const startDesk = (): EmbeddedRuntime => start({ agents: [createAgent({ id: 'desk', model, tools: [pay], ports: { clock, ids } })] });
    const runtime = startDesk();
    await runtime.create({ id: 's' }, { by: ann });
    await runtime.send('s', 'Go.', { by: ann });
    expect(await getWait(runtime, 's')).toMatchObject({ reason: `${long} is new` });
    await runtime.approve('s', await getWait(runtime, 's'), { by: bob, scope: 'session' });
    const store = place.open();
    await runtime.eraseMessage('s', (await findSecret(runtime, 's', 'assistant')).id, { by: bob });
    expect(await readEverything(store)).not.toContain(secret);
    const next = startDesk();
    expect((await next.get('s')).approvals).toEqual([]);
    const asked = (await readEvents(next, 's')).find(({ type }) => type === 'ToolApprovalRequested');
    expect(asked).toMatchObject({ args: {}, reason: '[erased]' });
    // The approval does not cover a call without arguments either.
    expect(await next.send('s', 'Go on.', { by: ann })).toMatchObject({ status: 'waiting' });
  });

  test('of a chat, with what the run inside the turn told of it', async () => {
    const place = createMemoryPlace();
    const parts = { clock: createFakeClock(), ids: createCountingIds() };
    const model = scriptedModel([{ text: `I am ${secret}.` }, { text: 'More.' }], { repeatLast: true });
    const chat = createChat({
      id: 'desk',
      participants: [llmParticipant({ name: 'clerk', model }), humanParticipant({ name: 'boss' })],
      ports: parts,
    });
    const start = (): EmbeddedRuntime => createSessionRuntime({ ...newProcess, agents: [chat], store: place.open(), ...parts });
    const runtime = start();
    await runtime.create({ id: 's' }, { by: ann });
    await runtime.send('s', 'Who are you?', { by: ann });
    const wait = await getWait(runtime, 's');
    await runtime.answer('s', wait, { by: bob, value: `No, I am ${secret}!` });
    const store = place.open();
    const { state } = await runtime.get('s');
    const said = state.messages.toArray().filter(({ text }) => text.includes(secret));
    expect(said).toHaveLength(2);
    for (const { id } of said) await runtime.eraseMessage('s', id, { by: bob });
    expect(await readEverything(store)).not.toContain(secret);
    expect((await start().get('s')).state.messages.length).toBe(state.messages.length);
  });

  test('of a fork does not set it going', async () => {
    const { start, place, ran } = stageOn(createMemoryPlace());
    const runtime = start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', `look 1; look 2; say ${secret}`, { by: ann });
    await runtime.fork('one', { execution: 1, step: 1 }, { by: bob, id: 's' });
    ran.length = 0;
    await runtime.eraseMessage('s', (await findSecret(runtime, 's', 'user')).id, { by: bob });
    await runtime.delete('one', { by: bob });
    expect(await readEverything(place.open())).not.toContain(secret);
    const next = start();
    expect((await next.ready).resumed).toEqual([]);
    expect([(await next.get('s')).status, ran]).toEqual(['in_progress', []]);
  });

  test('that is not there is refused, and nothing is stored', async () => {
    const { runtime, store } = await converse([{ text: 'Yes?' }]);
    const before = await readEverything(store);
    expect((await refusal(runtime.eraseMessage('s', 'nobody', { by: bob }), 'invalid-argument')).message).toContain(
      'has no message "nobody"',
    );
    expect(await readEverything(store)).toBe(before);
  });

  test('a second time changes nothing', async () => {
    const { runtime, store } = await converse([{ text: 'Yes?' }], { words: `I am ${secret}.` });
    const { id } = await findSecret(runtime, 's', 'user');
    await runtime.eraseMessage('s', id, { by: bob, requestId: 'r' });
    const before = await readEverything(store);
    await runtime.eraseMessage('s', id, { by: bob, requestId: 'r' });
    expect(await readEverything(store)).toBe(before);
  });
});
