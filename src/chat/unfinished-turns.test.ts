// Turns that did not come to their end: what was done in them is known to who takes them again, and is not done twice.
import { describe, expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import { ErrorPolicy, ModelFailedError } from '../errors/index.ts';
import type { ModelRequest } from '../inference/index.ts';
import type { Json } from '../lib/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedModel } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { ChatOptions, Participant } from './index.ts';
import { agentParticipant, ChatState, createChat, llmParticipant, scriptedParticipant } from './index.ts';

const usage = { input: 3, output: 2 };
const never = (): Promise<ScriptedAnswer> => new Promise(() => undefined);
const says = (name: string, ...words: readonly string[]): Participant => scriptedParticipant({ name, says: words });
const plain = (state: ChatState): unknown => JSON.parse(JSON.stringify(state));
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(plain(state));
const order = (state: ChatState) => state.steps.map(({ participant }) => participant);
const allSteps = ({ session }: ChatState) => session.executions.flatMap(({ results }) => results.toArray().map(({ step }) => step));
const getUnfinished = (state: ChatState) => allSteps(state).filter(({ unfinished }) => unfinished !== undefined);

/** A request in short: roles with their words, calls by name, results by name and what became of them. */
const read = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? [])
    .filter((message) => !message.isSystem())
    .map((message) => {
      const calls = message.toolCalls.map(({ name }) => ` calls ${name}`).join('');
      const results = message.toolResults.map(({ toolName, output }) => ` ${toolName} ${output.type}`).join('');
      return `${message.role}:${message.text === '' || message.isTool() ? '' : ` ${message.text}`}${calls}${results}`;
    });

/** Finds what providers refuse: a call without its result right behind it, a result without its call, an id twice. */
function checkPairs({ messages }: ModelRequest): void {
  const ids = messages.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  let open: string[] = [];
  for (const message of messages) {
    if (message.isTool()) for (const { toolCallId } of message.toolResults) expect(open).toContain(toolCallId);
    else expect(open).toStrictEqual([]);
    if (message.isTool()) open = open.filter((id) => !message.toolResults.some(({ toolCallId }) => toolCallId === id));
    else open = message.toolCalls.map(({ id }) => id);
  }
  expect([open, messages.at(-1)?.isAssistant()]).toStrictEqual([[], false]);
}

const knows = (request: ModelRequest, tool: string): boolean =>
  request.messages.some(({ toolResults }) => toolResults.some(({ toolName, output }) => toolName === tool && output.type === 'text'));

/** A model that sends unless it knows that it has sent; then the given event happens; from then on it speaks. */
function sender(...then: readonly ScriptedEntry[]): ScriptedModel {
  const left = [...then];
  let spoken = 0;
  return scriptedModel(
    [
      (request) => {
        checkPairs(request);
        if (!knows(request, 'send') && spoken === 0) return { text: 'I send it.', toolCalls: [{ name: 'send' }], usage };
        const next = left.shift();
        if (next !== undefined) return typeof next === 'function' ? next(request) : next;
        return { text: `Said ${(spoken += 1)}.`, usage };
      },
    ],
    { repeatLast: true },
  );
}

type Kind = 'llm' | 'agent';

function setUp(
  model: ScriptedModel,
  options: Omit<ChatOptions<readonly Participant[]>, 'ports' | 'participants'> = {},
  kind: Kind = 'llm',
) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const ports = { clock, ids, random: () => 0 };
  const sent: Json[] = [];
  const input = { type: 'object' } as const;
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    input,
    effect: 'once',
    run: () => {
      sent.push('sent');
      return 'sent';
    },
  });
  const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' });
  const given = { model, tools: [send, pay], errors: ErrorPolicy.stopOnAnyError() };
  const m =
    kind === 'llm' ? llmParticipant({ name: 'm', ...given }) : agentParticipant({ name: 'm', agent: createAgent({ ...given, ports }) });
  const chat = createChat({ participants: [m, says('b', 'y')], ports, ...options });
  const host = new AbortController();
  return { chat, clock, ids, sent, host, start: ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

const down: ScriptedEntry = { error: new ModelFailedError('503 Service Unavailable', { retryable: true }), usage };
const retrying = ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 });
const kinds: readonly Kind[] = ['llm', 'agent'];
const begun = ['user: Go.', 'assistant: I send it. calls send', 'tool: send text'];

describe.each(kinds)('what was called in a turn of a participant (%s)', (kind) => {
  test('that failed for a moment is read at the next try: nothing is sent twice', async () => {
    const model = sender(down);
    const { chat, start, sent } = setUp(model, { errors: retrying }, kind);
    const end = await chat.run(start);
    expect([end.status, order(end), sent.length, model.calls.length]).toStrictEqual(['completed', ['m', 'm', 'b'], 1, 3]);
    expect(read(model.calls[2])).toStrictEqual(begun);
    expect(end.transcript.map(({ text }) => text)).toStrictEqual(['Go.', 'Said 1.', 'y']);
    expect(end.steps.map(({ unfinished }) => unfinished?.messages.length)).toStrictEqual([2, undefined, undefined]);
    expect([end.steps[0]?.unfinished?.at, end.steps[1]?.selection?.by, end.usage.total]).toStrictEqual([1, 'retry', 15]);
  });

  test('whose failure ended the run is read at the next input, before that', async () => {
    const model = sender(down);
    const { chat, start, sent, ids } = setUp(model, {}, kind);
    const failed = await chat.run(start);
    expect([failed.status, failed.messages.length, sent.length]).toStrictEqual(['failed', 1, 1]);
    const end = await chat.run(roundTrip(failed).withUserMessage('And now?', { ids }));
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'b'], 1]);
    expect(read(model.calls[2])).toStrictEqual([...begun, 'user: And now?']);
  });

  test('that a limit paused is read after the grant, by the same participant', async () => {
    const model = sender();
    const { chat, start, sent } = setUp(model, { limits: { tokens: 4, onLimit: 'pause' } }, kind);
    const parked = roundTrip(await chat.run(start));
    expect([parked.status, parked.waitingFor.map(({ type }) => type), parked.steps[0]?.interrupted]).toStrictEqual([
      'waiting',
      ['grant'],
      'vote',
    ]);
    // Words before a call that nobody followed up are not an answer.
    expect([parked.transcript, parked.errors]).toStrictEqual([[{ text: 'Go.' }], []]);
    const end = await chat.run(roundTrip(parked.grant({ tokens: 1000 })));
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'm', 'b'], 1]);
    expect(read(model.calls[1])).toStrictEqual(begun);
  });

  test('that limits paused again and again stays with its participant until it comes to an end', async () => {
    const model = scriptedModel(
      [
        (request) => {
          checkPairs(request);
          const done = request.messages.filter((message) => message.isTool()).length;
          return done < 3 ? { toolCalls: [{ name: 'send' }], usage } : { text: 'All three.', usage };
        },
      ],
      { repeatLast: true },
    );
    const { chat, start, sent } = setUp(model, { limits: { tokens: 4, onLimit: 'pause' } }, kind);
    let state = roundTrip(await chat.run(start));
    for (const tokens of [5, 5]) {
      expect([state.status, new Set(order(state))]).toStrictEqual(['waiting', new Set(['m'])]);
      state = roundTrip(await chat.run(state.grant({ tokens })));
    }
    const end = await chat.run(state.grant({ tokens: 1000 }));
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'm', 'm', 'm', 'b'], 3]);
  });

  test('that a limit of tokens stopped is read at the next input, by the same participant', async () => {
    const model = sender();
    const { chat, start, sent, ids } = setUp(model, { limits: { tokens: 4 } }, kind);
    const stopped = await chat.run(start);
    expect([stopped.status, stopped.stopReason, order(stopped), stopped.steps[0]?.interrupted]).toStrictEqual([
      'stopped',
      'token_limit',
      ['m'],
      'vote',
    ]);
    const end = await chat.with({ limits: { tokens: 1000 } }).run(roundTrip(stopped).withUserMessage('Go on.', { ids }));
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'b'], 1]);
    expect(read(model.calls[1])).toStrictEqual([...begun, 'user: Go on.']);
  });

  test('that gave up waiting for a message is read in its next turn; the call that waited is closed', async () => {
    const model = sender({ toolCalls: [{ name: 'pay', id: 'p1' }], usage });
    const { chat, start, sent, ids } = setUp(model, {}, kind);
    const parked = roundTrip(await chat.run(start));
    expect(parked.waitingFor.map(({ id }) => id)).toStrictEqual(['m/p1']);
    const passedOver = roundTrip(parked.withUserMessage('Never mind.', { ids }));
    const closed = allSteps(passedOver).at(-1);
    expect([closed?.interrupted, closed?.memo, closed?.inner?.status]).toStrictEqual(['superseded', undefined, 'stopped']);
    expect(closed?.inner?.calls).toStrictEqual([
      { tool: 'send', status: 'succeeded' },
      { tool: 'pay', status: expect.stringMatching(/cancelled|rejected/) as string },
    ]);
    const end = await chat.run(passedOver);
    // Its turn was given up, and so it counts: the other one is first.
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['b', 'm'], 1]);
    expect(read(model.calls[2])).toStrictEqual([
      ...begun,
      'assistant: calls pay',
      expect.stringMatching(/^tool: pay (error|rejected)$/),
      'user: Never mind.',
      'user: [b] y',
    ]);
  });

  test('that gave up waiting beside a call that was done: in one answer of the model', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'send' }, { name: 'pay', id: 'p1' }], usage },
      (request) => {
        checkPairs(request);
        return knows(request, 'send') ? { text: 'Sent it is.' } : { toolCalls: [{ name: 'send' }] };
      },
    ]);
    const { chat, start, sent, ids } = setUp(model, {}, kind);
    const parked = roundTrip(await chat.run(start));
    expect([parked.waitingFor.map(({ id }) => id), sent.length]).toStrictEqual([['m/p1'], 1]);
    const end = await chat.run(roundTrip(parked.withUserMessage('Never mind.', { ids })));
    expect([end.status, end.text, sent.length]).toStrictEqual(['completed', 'Sent it is.', 1]);
  });

  test('that was cancelled while it waited is read by the same participant', async () => {
    const model = sender({ toolCalls: [{ name: 'pay', id: 'p1' }], usage });
    const { chat, start, sent, ids } = setUp(model, {}, kind);
    const cancelled = roundTrip(await chat.run(start)).cancel('no more', { ids });
    const end = await chat.run(roundTrip(cancelled).withUserMessage('Again.', { ids }));
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'b'], 1]);
  });

  test('that had waited, went on and then failed is read whole: what was approved is not done twice either', async () => {
    const model = sender({ toolCalls: [{ name: 'pay', id: 'p1' }], usage }, down);
    const { chat, start, sent } = setUp(model, { errors: retrying }, kind);
    const parked = roundTrip(await chat.run(start));
    const end = await chat.run(roundTrip(parked.approve('m/p1')));
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'm', 'b'], 1]);
    expect(read(model.calls.at(-1))).toStrictEqual([...begun, 'assistant: calls pay', 'tool: pay text']);
  });

  test('that failed in the middle of a call is read without that call', async () => {
    const model = sender({ text: 'And again', toolCalls: [{ name: 'send' }], error: new ModelFailedError('cut'), usage });
    const { chat, start, sent } = setUp(model, { errors: retrying }, kind);
    const end = await chat.run(start);
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'm', 'b'], 1]);
    expect(read(model.calls.at(-1)).slice(0, 3)).toStrictEqual(begun);
  });

  test('that could not go on, because somebody of another kind had its place, is read when it is back', async () => {
    const model = sender({ toolCalls: [{ name: 'pay', id: 'p1' }], usage });
    const { chat, start, sent, ids } = setUp(model, {}, kind);
    const parked = roundTrip(await chat.run(start));
    const other = chat.with({ participants: [says('m', 'By rote.'), says('b', 'y')] });
    const failed = roundTrip(await other.run(parked.approve('m/p1')));
    expect(failed.errors[0]?.code).toBe('participant-changed');
    const end = await chat.run(failed.withUserMessage('Back again?', { ids }));
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'b'], 1]);
  });

  test('that may not wait, because the run has to end, is kept', async () => {
    const model = sender({ toolCalls: [{ name: 'pay', id: 'p1' }], usage });
    const { chat, start, sent, ids } = setUp(model, {}, kind);
    const run = chat.start(start, {
      onEvent: (event) => event.type === 'ToolCallCompleted' && run.requestStop('lunch'),
    });
    const stopped = roundTrip((await run.result).state);
    expect([stopped.stopReason, stopped.waitingFor, getUnfinished(stopped).length]).toStrictEqual(['user_requested', [], 1]);
    const end = await chat.run(stopped.withUserMessage('Back.', { ids }));
    expect([end.status === 'failed', sent.length]).toStrictEqual([false, 1]);
  });

  test.each([
    { how: 'an abort', options: {}, interrupted: 'signal' },
    { how: 'a deadline', options: { limits: { wallMs: 500 } }, interrupted: 'deadline' },
  ])('that was cut off by $how is read again, by the same participant', async ({ options, interrupted }) => {
    const model = sender(never);
    const { chat, start, sent, ids, clock, host } = setUp(model, options, kind);
    const run = chat.run(start, { signal: host.signal });
    await clock.advance(100);
    if (interrupted === 'signal') host.abort('enough');
    await clock.advance(1000);
    const cut = await run;
    expect([cut.status, order(cut), cut.steps[0]?.interrupted, cut.steps[0]?.unfinished?.at]).toStrictEqual([
      'stopped',
      ['m'],
      interrupted,
      1,
    ]);
    const end = await chat.run(roundTrip(cut).withUserMessage('Go on.', { ids }));
    expect([end.status, order(end), sent.length]).toStrictEqual(['completed', ['m', 'b'], 1]);
  });
});

describe('a turn without an end', () => {
  test('is read until its participant comes to the end of one, and never after that', async () => {
    const model = sender(down);
    const { chat, start, ids } = setUp(model, { errors: retrying });
    const first = await chat.run(start);
    await chat.run(roundTrip(first).withUserMessage('More.', { ids }));
    expect(read(model.calls.at(-1))).toStrictEqual(['user: Go.', 'assistant: Said 1.', 'user: [b] y', 'user: More.']);
  });

  test('comes once for each time, in its place, where several came to no end', async () => {
    const second: ScriptedEntry = { toolCalls: [{ name: 'send' }], usage };
    const model = sender(down, second, down);
    const { chat, start, ids, sent } = setUp(model);
    const one = await chat.run(start);
    const two = await chat.run(roundTrip(one).withUserMessage('Second.', { ids }));
    const end = await chat.run(roundTrip(two).withUserMessage('Third.', { ids }));
    expect([one.status, two.status, end.status, sent.length]).toStrictEqual(['failed', 'failed', 'completed', 2]);
    expect(read(model.calls.at(-1))).toStrictEqual([...begun, 'user: Second.', 'assistant: calls send', 'tool: send text', 'user: Third.']);
  });

  test('with half an answer: calls, then the half that was said, then what came since', async () => {
    async function* slowly(): AsyncGenerator<string> {
      yield 'Half a ';
      yield 'sentence';
      await never();
    }
    const model = sender({ chunks: slowly() });
    const { chat, start, ids, clock, host, sent } = setUp(model);
    const run = chat.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort('enough');
    await clock.advance(100);
    const cut = await run;
    expect([cut.text, cut.steps[0]?.unfinished !== undefined]).toStrictEqual(['Half a sentence', true]);
    const end = await chat.run(roundTrip(cut).withUserMessage('Go on.', { ids }));
    // Also with partial text the turn was not taken.
    expect([order(end), sent.length]).toStrictEqual([['m', 'b'], 1]);
    const last = read(model.calls.at(-1));
    expect(last.slice(0, 3)).toStrictEqual(begun);
    // The half is read, and once.
    expect(last.filter((line) => line.includes('Half a sentence'))).toHaveLength(1);
    expect(last.at(-1)).toBe('user: Go on.');
  });

  test('that was cut off in a tool: the words before its call are read once', async () => {
    const hang = defineTool({ name: 'hang', description: 'A tool.', input: { type: 'object' }, run: () => new Promise(() => undefined) });
    const model = scriptedModel([
      { text: 'I look.', toolCalls: [{ name: 'hang' }] },
      (request) => {
        checkPairs(request);
        return { text: 'Well.' };
      },
    ]);
    const { start, ids, clock, host } = setUp(model);
    const chat = createChat({ participants: [llmParticipant({ name: 'm', model, tools: [hang] })], ports: { clock, ids } });
    const run = chat.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort('enough');
    await clock.advance(100);
    const end = await chat.run(roundTrip(await run).withUserMessage('Go on.', { ids }));
    expect(end.text).toBe('Well.');
    const last = read(model.calls.at(-1));
    // The words stand in the conversation, the call before them.
    expect(last).toContain('assistant: calls hang');
    expect(last.filter((line) => line.includes('I look.'))).toHaveLength(1);
  });

  test('is read by nobody else', async () => {
    const other = scriptedModel([{ text: 'Hm.' }], { repeatLast: true });
    const { chat, start, ids } = setUp(sender(down));
    const failed = await chat.run(start);
    const wide = chat.with({ participants: [llmParticipant({ name: 'o', model: other })] });
    await wide.run(roundTrip(failed).withUserMessage('And you?', { ids }));
    expect(read(other.calls[0])).toStrictEqual(['user: Go.', 'user: And you?']);
  });

  test('without a call leaves nothing behind', async () => {
    const model = scriptedModel([down, { text: 'Now.' }]);
    const { chat, start } = setUp(model, { errors: retrying });
    const end = await chat.run(start);
    expect([end.status, getUnfinished(end), read(model.calls[1])]).toStrictEqual(['completed', [], ['user: Go.']]);
  });

  test('that a limit of its own ended is read again as well', async () => {
    const model = sender();
    const { start, ids, clock } = setUp(model);
    const sent: string[] = [];
    const send = defineTool({
      name: 'send',
      description: 'A tool.',
      input: { type: 'object' },
      run: () => `sent ${sent.push('x')}`,
    });
    const chat = createChat({
      participants: [llmParticipant({ name: 'm', model, tools: [send], limits: { steps: 1 } })],
      ports: { clock, ids },
    });
    const failed = await chat.run(start);
    expect([failed.errors[0]?.code, failed.messages.length]).toStrictEqual(['turn-incomplete', 1]);
    const end = await chat.run(roundTrip(failed).withUserMessage('Well?', { ids }));
    expect([end.status, end.text, sent.length]).toStrictEqual(['completed', 'Said 1.', 1]);
  });

  test('is the same after JSON, and as a change from the state before', async () => {
    const { chat, start, ids } = setUp(sender(down, { toolCalls: [{ name: 'pay', id: 'p1' }], usage }), { errors: retrying });
    const parked = await chat.run(start);
    const passedOver = parked.withUserMessage('Never mind.', { ids });
    const end = await chat.run(passedOver);
    expect([parked.status, getUnfinished(parked).length, getUnfinished(passedOver).length, end.status]).toStrictEqual([
      'waiting',
      1,
      2,
      'completed',
    ]);
    let patched = start;
    const stations = [start, parked, passedOver, end];
    for (const [index, state] of stations.entries()) {
      const again = roundTrip(state);
      expect(plain(again)).toStrictEqual(plain(state));
      expect(getUnfinished(again).map(({ unfinished }) => unfinished)).toStrictEqual(
        getUnfinished(state).map(({ unfinished }) => unfinished),
      );
      const change: unknown = JSON.parse(JSON.stringify(ChatState.codec.diff(stations[index - 1] ?? start, state)));
      patched = ChatState.codec.patch(patched, change);
      expect(plain(patched)).toStrictEqual(plain(state));
    }
    // What goes on from the change reads the same as what goes on from the state.
    const [one, other] = [sender(), sender()];
    const patchedParked = ChatState.codec.patch(roundTrip(start), JSON.parse(JSON.stringify(ChatState.codec.diff(start, passedOver))));
    await setUp(one).chat.run(passedOver);
    await setUp(other).chat.run(patchedParked);
    expect(read(one.calls[0])).toStrictEqual(read(other.calls[0]));
    expect(read(one.calls[0]).slice(0, 3)).toStrictEqual(begun);
  });
});

describe('a turn that did not come to its end comes to the same one again', () => {
  const failing = (times: number) => {
    let left = times;
    return scriptedModel([() => ((left -= 1) >= 0 ? { error: new ModelFailedError('503'), usage } : { text: 'Here.', usage })], {
      repeatLast: true,
    });
  };
  const room = (model: ScriptedModel, options: Omit<ChatOptions<readonly Participant[]>, 'participants'> = {}) => {
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const participants = [llmParticipant({ name: 'm', model, tools: [slow] }), says('b', 'y'), says('c', 'z')];
    return {
      ids,
      chat: createChat({ participants, ports: { clock, ids }, ...options }),
      start: ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }),
    };
  };
  const slow = defineTool({ name: 'slow', description: 'A tool.', input: { type: 'object' }, effect: 'pure', run: () => 'done' });

  test('where it was tried again and failed for good', async () => {
    const { chat, start, ids } = room(failing(2), { errors: ErrorPolicy.retryAll(2).withBackoff({ baseMs: 0 }) });
    const failed = await chat.run(start);
    expect([failed.status, order(failed)]).toStrictEqual(['failed', ['m', 'm']]);
    const next = await chat.run(roundTrip(failed).withUserMessage('Again.', { ids }));
    expect([next.status, order(next)]).toStrictEqual(['completed', ['m', 'b', 'c']]);
  });

  test('whoever gives the turns, where a limit cut it off and more was granted', async () => {
    const model = scriptedModel(
      [
        (request) =>
          request.messages.some(({ toolResults }) => toolResults.length > 0)
            ? { text: 'Here.', usage }
            : { toolCalls: [{ name: 'slow' }], usage },
      ],
      { repeatLast: true },
    );
    const asked: string[] = [];
    const selector = ({ next }: { readonly next: string }): string => (asked.push(next), next);
    const { chat, start } = room(model, { selector, limits: { tokens: 4, onLimit: 'pause' } });
    const paused = await chat.run(start);
    expect([paused.status, order(paused)]).toStrictEqual(['waiting', ['m']]);
    const end = await chat.run(roundTrip(paused).grant({ tokens: 100 }));
    expect([order(end), asked]).toStrictEqual([
      ['m', 'm', 'b', 'c'],
      ['m', 'b', 'c'],
    ]);
    expect(end.steps[1]?.selection).toStrictEqual({ by: 'retry', reason: 'its last turn was interrupted' });
  });
});
