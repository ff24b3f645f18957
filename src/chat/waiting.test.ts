import { describe, expect, test } from 'vitest';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../lib/index.ts';
import type { Json } from '../lib/index.ts';
import { AlreadyAnsweredError, NotWaitingError } from '../step-by-step/index.ts';
import type { ScriptedEntry, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { ChatEvent, ChatOptions, Participant } from './index.ts';
import { ChatState, createChat, humanParticipant, llmParticipant, scriptedParticipant } from './index.ts';

const usage = { input: 3, output: 2 };
const says = (name: string, ...words: readonly string[]): Participant => scriptedParticipant({ name, says: words });
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const order = (state: ChatState) => state.steps.map(({ participant }) => participant);
const texts = (state: ChatState) => state.transcript.map(({ text }) => text);

function setUp(options: Omit<ChatOptions<readonly Participant[]>, 'ports'>) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const events: ChatEvent[] = [];
  const chat = createChat({ ...options, ports: { clock, ids } });
  chat.wiretap((event) => events.push(event));
  return { chat, clock, ids, events, start: ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

describe('a person whose words are waited for', () => {
  const open = () =>
    setUp({ participants: [says('a', 'x', 'xx'), humanParticipant({ name: 'ann', prompt: 'Your view?' }), says('c', 'z')] });

  test('ends the run as waiting, with whose words are wanted', async () => {
    const { chat, start, events } = open();
    const result = await chat.start(start).result;
    expect(result).toMatchObject({
      status: 'waiting',
      state: { participant: 'ann', speaker: 'a' },
      text: 'x',
      waitingFor: [{ type: 'person', id: 'ann/2', participant: 'ann', prompt: 'Your view?' }],
    });
    expect([result.state.stopReason, result.state.stepCount, order(result.state)]).toStrictEqual([undefined, 1, ['a']]);
    expect(events.at(-1)?.type).toBe('AgentFinished');
    expect(result.explain()).toContain('ann');
  });

  test.each([
    { how: 'as it is', pass: (state: ChatState) => state },
    { how: 'after a JSON round trip', pass: roundTrip },
  ])('gives them $how, and the conversation goes on', async ({ pass }) => {
    const { chat, start } = open();
    const parked = pass(await chat.run(start));
    const end = await chat.run(pass(parked.answer('ann/2', 'I agree.')));
    expect(end.transcript).toStrictEqual([
      { text: 'Go.' },
      { speaker: 'a', text: 'x' },
      { speaker: 'ann', text: 'I agree.' },
      { speaker: 'c', text: 'z' },
    ]);
    expect([end.status, end.stepCount, end.session.executions.length, end.steps[1]?.memo]).toStrictEqual(['completed', 3, 1, undefined]);
    expect(end.messages.toArray()[2]).toMatchObject({ role: 'user', name: 'ann' });
  });

  test('on another machine: another chat object of the same make, a week later, without limits of time', async () => {
    const { chat, start, clock } = open();
    const text = JSON.stringify(await chat.run(start));
    clock.skip(7 * 24 * 3_600_000);
    const elsewhere = open().chat;
    const end = await elsewhere.run(elsewhere.restore(JSON.parse(text)).answer('ann/2', 'Hi.'));
    expect([texts(end), end.status]).toStrictEqual([['Go.', 'x', 'Hi.', 'z'], 'completed']);
  });

  test('may say nothing: that is a turn', async () => {
    const { chat, start } = open();
    const end = await chat.run((await chat.run(start)).answer('ann/2', ''));
    expect([end.status, order(end), texts(end)]).toStrictEqual(['completed', ['a', 'ann', 'c'], ['Go.', 'x', '', 'z']]);
  });

  test.each<{ what: string; given: Json }>([
    { what: 'a number', given: 4 },
    { what: 'an object', given: { text: 'x' } },
    { what: 'a list', given: ['x'] },
    { what: 'null', given: null },
  ])('who gives $what is asked again, with the problem, and no turn is lost', async ({ given }) => {
    const { chat, start } = open();
    const again = roundTrip(await chat.run((await chat.run(start)).answer('ann/2', given)));
    expect([again.status, again.stepCount]).toStrictEqual(['waiting', 1]);
    expect(again.waitingFor).toMatchObject([{ id: 'ann/2', prompt: 'Your view?', problem: expect.stringContaining('text') as string }]);
    const end = await chat.run(again.answer('ann/2', 'Sorry: yes.'));
    expect([texts(end), end.status, end.stepCount]).toStrictEqual([['Go.', 'x', 'Sorry: yes.', 'z'], 'completed', 3]);
  });

  test.each([
    { what: 'an approval', act: (state: ChatState) => state.approve('ann/2'), error: InvalidArgumentError },
    { what: 'a rejection', act: (state: ChatState) => state.reject('ann/2', 'no'), error: InvalidArgumentError },
    { what: 'an answer to another id', act: (state: ChatState) => state.answer('ann/7', 'x'), error: NotWaitingError },
    { what: 'a second answer', act: (state: ChatState) => state.answer('ann/2', 'x').answer('ann/2', 'y'), error: AlreadyAnsweredError },
  ])('refuses $what, and waits on', async ({ act, error }) => {
    const { chat, start } = open();
    const parked = await chat.run(start);
    expect(() => act(parked)).toThrow(error);
    expect(parked.waitingFor).toHaveLength(1);
  });

  test('running a state that waits changes nothing', async () => {
    const { chat, start } = open();
    const parked = await chat.run(start);
    expect([await chat.run(parked), chat.hasNextStep(parked)]).toStrictEqual([parked, false]);
  });

  test('is passed over by a message from outside, which opens a new execution', async () => {
    const { chat, start, ids } = open();
    const superseding = roundTrip(await chat.run(start)).withUserMessage('Never mind.', { ids });
    expect([superseding.waitingFor, superseding.status]).toStrictEqual([[], 'pending']);
    const parked = await chat.run(superseding);
    // Her turn was given up; the round goes on behind it, and comes to her again.
    expect([order(parked), parked.waitingFor.map(({ id }) => id)]).toStrictEqual([['c', 'a'], ['ann/5']]);
    expect(parked.session.executions[0]?.results.last?.step).toMatchObject({
      participant: 'ann',
      interrupted: 'superseded',
      outputMessages: [],
    });
    const end = await chat.run(parked.answer('ann/5', 'Fine.'));
    expect([texts(end), end.status]).toStrictEqual([['Go.', 'x', 'Never mind.', 'z', 'xx', 'Fine.'], 'completed']);
  });

  test('may be given up by cancel, which ends the execution for that reason', async () => {
    const { chat, start, ids } = open();
    const cancelled = roundTrip(await chat.run(start)).cancel('she has left', { ids });
    expect([cancelled.status, cancelled.stopReason, cancelled.waitingFor]).toStrictEqual(['stopped', 'user_requested', []]);
    expect(cancelled.steps.at(-1)).toMatchObject({ participant: 'ann', interrupted: 'request' });
    const told: string[] = [];
    const settled = await chat.run(cancelled, { onEvent: ({ type }) => told.push(type) });
    expect([settled.stopReason, told.at(-1)]).toStrictEqual(['user_requested', 'AgentFinished']);
    const end = await chat.run(settled.withUserMessage('Who is left?', { ids }));
    expect(end.status).toBe('waiting');
  });

  test('takes no time of the run', async () => {
    const { chat, start, clock } = setUp({ participants: [humanParticipant({ name: 'ann' })], limits: { activeMs: 1000, wallMs: 1000 } });
    const parked = await chat.run(start);
    clock.skip(3_600_000);
    const end = await chat.run(parked.answer('ann/1', 'Here.'));
    expect([end.status, end.lastStepResult?.timing.activeMs]).toStrictEqual(['completed', 0]);
  });

  test('is not waited for in a run that has to stop', async () => {
    const { chat, start } = open();
    const run = chat.start(start, {
      onEvent: (event) => event.type === 'ParticipantSelected' && event.participant === 'ann' && run.requestStop('lunch'),
    });
    const { state: end } = await run.result;
    expect([end.status, end.stopReason, end.waitingFor, end.participant]).toStrictEqual(['stopped', 'user_requested', [], 'ann']);
  });

  test('who has answered is heard before a message that came since', async () => {
    const { chat, start, ids } = open();
    const answered = (await chat.run(start)).answer('ann/2', 'I agree.').withUserMessage('Also this.', { ids });
    const next = await chat.run(roundTrip(answered));
    expect(texts(next)).toStrictEqual(['Go.', 'x', 'I agree.', 'Also this.', 'z', 'xx']);
    expect([next.waitingFor.map(({ id }) => id), next.session.executions.length]).toStrictEqual([['ann/5'], 1]);
  });

  test('two people one after the other are told apart by their ids', async () => {
    const { chat, start } = setUp({ participants: [humanParticipant({ name: 'ann' }), humanParticipant({ name: 'bob' })] });
    const first = await chat.run(start);
    const second = await chat.run(first.answer('ann/1', 'A.'));
    expect([first.waitingFor[0]?.id, second.waitingFor[0]?.id]).toStrictEqual(['ann/1', 'bob/2']);
    expect(texts(await chat.run(second.answer('bob/2', 'B.')))).toStrictEqual(['Go.', 'A.', 'B.']);
  });
});

const ran: Json[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object', properties: { usd: { type: 'number' } }, required: ['usd'] },
  needsApproval: true,
  run: (args) => {
    ran.push(args);
    return 'paid';
  },
});
const calls = (...each: readonly ScriptedToolCall[]): ScriptedEntry => ({ toolCalls: each, usage });
const payCall = (id: string, usd: number): ScriptedToolCall => ({ name: 'pay', id, args: { usd } });

describe('approvals inside a turn', () => {
  const open = (first: ScriptedEntry) => {
    ran.length = 0;
    const model = scriptedModel([
      first,
      ({ messages }) => ({ text: `It read: ${messages.at(-1)?.toolResults.length ?? 0} result`, usage }),
    ]);
    const m = llmParticipant({ name: 'm', model, tools: [pay] });
    return { ...setUp({ participants: [says('a', 'x'), m, says('c', 'z')] }), model };
  };

  test('make the chat wait, and go on when approved, also after JSON; usage counts once', async () => {
    const { chat, start, model } = open(calls(payCall('p1', 5)));
    const parked = roundTrip(await chat.run(start));
    expect([parked.status, parked.participant, parked.usage.total, ran]).toStrictEqual(['waiting', 'm', 5, []]);
    expect(parked.waitingFor).toMatchObject([{ type: 'approval', id: 'm/p1', toolName: 'pay', args: { usd: 5 }, agent: 'm' }]);
    expect(parked.pendingStep?.partial.inner).toMatchObject({ status: 'waiting', orchestrator: 'tool-use' });
    const end = await chat.run(roundTrip(parked.approve('m/p1')));
    expect([end.status, end.usage.total, end.stepCount, ran, model.calls.length]).toStrictEqual(['completed', 10, 3, [{ usd: 5 }], 2]);
    expect(end.steps[1]).toMatchObject({
      participant: 'm',
      inner: { status: 'completed', stepCount: 2, calls: [{ tool: 'pay', status: 'succeeded' }] },
    });
    expect([end.steps[1]?.memo, end.steps[1]?.usage.total]).toStrictEqual([undefined, 10]);
  });

  test('that are refused: the model reads the reason, nothing runs', async () => {
    const { chat, start, model } = open(calls(payCall('p1', 5)));
    const end = await chat.run(roundTrip((await chat.run(start)).reject('m/p1', 'too dear')));
    expect([end.status, ran, end.steps[1]?.inner?.calls]).toStrictEqual(['completed', [], [{ tool: 'pay', status: 'rejected' }]]);
    expect(JSON.stringify(model.calls[1]?.messages)).toContain('too dear');
    expect(JSON.stringify(end.messages)).not.toContain('too dear');
  });

  test('with other arguments run with those', async () => {
    const { chat, start } = open(calls(payCall('p1', 500)));
    const end = await chat.run((await chat.run(start)).approve('m/p1', { args: { usd: 1 } }));
    expect([end.status, ran]).toStrictEqual(['completed', [{ usd: 1 }]]);
  });

  test('with arguments that do not fit wait again, and say what is wrong', async () => {
    const { chat, start } = open(calls(payCall('p1', 500)));
    const again = roundTrip(await chat.run((await chat.run(start)).approve('m/p1', { args: { usd: 'one' } })));
    expect([again.status, ran]).toStrictEqual(['waiting', []]);
    expect(again.waitingFor).toMatchObject([{ id: 'm/p1', problem: expect.any(String) as string }]);
    expect((await chat.run(again.approve('m/p1', { args: { usd: 2 } }))).status).toBe('completed');
    expect(ran).toStrictEqual([{ usd: 2 }]);
  });

  test('of two calls may come one after the other, stored in between', async () => {
    const { chat, start } = open(calls(payCall('p1', 1), payCall('p2', 2)));
    const parked = roundTrip(await chat.run(start));
    expect(parked.waitingFor.map(({ id }) => id)).toStrictEqual(['m/p1', 'm/p2']);
    const half = roundTrip(await chat.run(parked.approve('m/p2')));
    expect([half.status, half.waitingFor.map(({ id }) => id), ran]).toStrictEqual(['waiting', ['m/p1'], [{ usd: 2 }]]);
    const end = await chat.run(half.reject('m/p1', 'no'));
    expect([end.status, ran, end.usage.total, end.stepCount]).toStrictEqual(['completed', [{ usd: 2 }], 10, 3]);
    expect(order(end)).toStrictEqual(['a', 'm', 'c']);
  });

  test('that a message passes over are closed, nothing runs, and what was used still counts', async () => {
    const { chat, start, ids } = open(calls(payCall('p1', 5)));
    const next = roundTrip((await chat.run(start)).withUserMessage('Stop that.', { ids }));
    expect([next.session.usage.total, next.status, ran]).toStrictEqual([5, 'pending', []]);
    const closed = next.session.executions[0]?.results.last?.step;
    expect([closed?.participant, closed?.interrupted, closed?.memo]).toStrictEqual(['m', 'superseded', undefined]);
    expect(order(await chat.run(next))).toStrictEqual(['c', 'a', 'm']);
  });

  test('and then cut off: the call is closed, and the turn is charged with what it had', async () => {
    const { clock, ids } = open(calls());
    const hanging = defineTool({
      name: 'pay',
      description: 'A tool.',
      input: { type: 'object' },
      needsApproval: true,
      run: () => new Promise(() => undefined),
    });
    const model = scriptedModel([{ text: 'May I?', toolCalls: [{ name: 'pay', id: 'p1' }], usage }]);
    const chat = createChat({
      participants: [llmParticipant({ name: 'm', model, tools: [hanging] }), says('c', 'z')],
      ports: { clock, ids },
    });
    const parked = roundTrip(await chat.run(ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids })));
    const host = new AbortController();
    const run = chat.run(parked.approve('m/p1'), { signal: host.signal });
    await clock.advance(5);
    host.abort('enough');
    await clock.advance(100);
    const end = await run;
    expect([end.stopReason, order(end), texts(end), end.usage.total]).toStrictEqual(['user_requested', ['m'], ['Go.', 'May I?'], 5]);
    expect([end.steps[0]?.inner?.calls, end.steps[0]?.memo]).toStrictEqual([[{ tool: 'pay', status: 'unknown' }], undefined]);
  });

  test('nobody is selected a second time for a turn that waited: it is told as taken up again', async () => {
    const { chat, start, events } = open(calls(payCall('p1', 5)));
    await chat.run((await chat.run(start)).approve('m/p1'));
    const told = events.filter((event) => event.type === 'ParticipantSelected');
    expect(told.map(({ participant, selectedBy, resumed }) => [participant, selectedBy, resumed])).toStrictEqual([
      ['a', 'round-robin', undefined],
      ['m', 'round-robin', undefined],
      ['m', 'round-robin', true],
      ['c', 'round-robin', undefined],
    ]);
    const begun = events.filter(({ type, parentAgentId }) => type === 'AgentStepStarted' && parentAgentId === null);
    expect(begun.map(({ participant }) => participant)).toStrictEqual(['a', 'm', 'c']);
  });
});

describe('a limit that may be raised', () => {
  test.each([
    { what: 'steps', limits: { steps: 1 }, grant: { steps: 5 } },
    { what: 'tokens', limits: { tokens: 4 }, grant: { tokens: 100 } },
  ])('of $what pauses while somebody has not spoken, and goes on when granted', async ({ limits, grant }) => {
    const m = llmParticipant({ name: 'm', model: scriptedModel([{ text: 'One.', usage }]) });
    const { chat, start } = setUp({ participants: [m, says('b', 'y')], limits: { ...limits, onLimit: 'pause' } });
    const parked = roundTrip(await chat.run(start));
    expect([parked.status, parked.waitingFor.map(({ type }) => type), order(parked)]).toStrictEqual(['waiting', ['grant'], ['m']]);
    const end = await chat.run(roundTrip(parked.grant(grant)));
    expect([end.status, order(end), end.session.executions.length]).toStrictEqual(['completed', ['m', 'b'], 1]);
  });

  test('that is reached inside a turn before a word gives the turn to the same one again', async () => {
    const free = defineTool({ name: 'look', description: 'A tool.', input: { type: 'object' }, run: () => 'seen' });
    const model = scriptedModel([calls({ name: 'look' }), { text: 'After all.', usage }]);
    const m = llmParticipant({ name: 'm', model, tools: [free] });
    const { chat, start } = setUp({ participants: [m, says('b', 'y')], limits: { tokens: 4, onLimit: 'pause' } });
    const parked = roundTrip(await chat.run(start));
    expect([parked.waitingFor.map(({ type }) => type), parked.errors, parked.steps[0]?.inner?.stopReason]).toStrictEqual([
      ['grant'],
      [],
      'token_limit',
    ]);
    const end = await chat.run(parked.grant({ tokens: 1000 }));
    expect([end.status, order(end), texts(end)]).toStrictEqual(['completed', ['m', 'm', 'b'], ['Go.', 'After all.', 'y']]);
  });

  test('is not paused at where everybody has spoken', async () => {
    const { chat, start } = setUp({ participants: [says('a', 'x'), says('b', 'y')], limits: { steps: 2, onLimit: 'pause' } });
    const end = await chat.run(start);
    expect([end.status, end.waitingFor]).toStrictEqual(['completed', []]);
  });

  test('and is not, ends the chat there', async () => {
    const { chat, start } = setUp({ participants: [says('a', 'x'), says('b', 'y')], limits: { steps: 1, onLimit: 'pause' } });
    const parked = await chat.run(start);
    const end = await chat.run(parked.reject(parked.waitingFor[0]?.id ?? '', 'no more'));
    expect([end.status, end.stopReason, order(end)]).toStrictEqual(['stopped', 'steps_limit', ['a']]);
  });
});
