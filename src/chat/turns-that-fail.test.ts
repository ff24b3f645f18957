import { describe, expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import { stopWhen, when } from '../continuation/index.ts';
import { ErrorPolicy, ModelFailedError, RateLimitedError } from '../errors/index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedEntry } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { ChatEvent, ChatOptions, Participant } from './index.ts';
import {
  agentParticipant,
  ChatState,
  ConversationFailedError,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
  scriptedParticipant,
} from './index.ts';

const usage = { input: 3, output: 2 };
const says = (name: string, ...words: readonly string[]): Participant => scriptedParticipant({ name, says: words });
const llm = (name: string, ...script: readonly ScriptedEntry[]) => llmParticipant({ name, model: scriptedModel(script) });
const never = <Value>(): Promise<Value> => new Promise<Value>(() => undefined);
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const order = (state: ChatState) => state.steps.map(({ participant }) => participant);

function setUp(options: Omit<ChatOptions<readonly Participant[]>, 'ports'>) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const events: ChatEvent[] = [];
  const problems: unknown[] = [];
  const chat = createChat({ ...options, ports: { clock, ids, random: () => 1, onProblem: (problem) => problems.push(problem) } });
  chat.wiretap((event) => events.push(event));
  const host = new AbortController();
  return { chat, clock, ids, events, host, problems, start: ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

describe('a failed turn', () => {
  test('is recorded once, charged to its speaker, told once, and leaves no message', async () => {
    const { chat, start, events } = setUp({
      participants: [says('a', 'x'), llm('m', { text: 'Half', usage, error: new ModelFailedError('line cut') }), says('c', 'z')],
    });
    const end = await chat.run(start);
    expect([order(end), end.status, end.stopReason, end.participant]).toStrictEqual([['a', 'm'], 'failed', 'error', 'm']);
    expect([end.usage.total, end.session.usage.total, end.transcript.length]).toStrictEqual([5, 5, 2]);
    expect(end.errors).toHaveLength(1);
    const own = events.filter(({ agentId }) => agentId === end.agentId);
    expect(own.filter(({ type }) => type === 'AgentFailed')).toHaveLength(1);
    expect(own.filter(({ type }) => type === 'AgentStepCompleted').map(({ participant }) => participant)).toStrictEqual(['a', 'm']);
    expect(own.at(-1)?.type).toBe('AgentFinished');
    expect(end.explain()).toContain('m');
  });

  test('comes out of start() as a failed result, which says what went wrong', async () => {
    const { chat, start } = setUp({ participants: [llm('m', { error: new ModelFailedError('line cut') })] });
    const result = await chat.start(start).result;
    expect(result).toMatchObject({
      status: 'failed',
      stopReason: 'error',
      state: { participant: 'm' },
      text: '',
      error: { message: 'line cut', type: 'model' },
    });
  });

  test('rejects the run where the host wants that, with everything in the error', async () => {
    const { chat, start } = setUp({ participants: [llm('m', { error: new ModelFailedError('line cut') })], throwOnFailure: true });
    const error: unknown = await chat.run(start).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConversationFailedError);
    expect(error).toMatchObject({ code: 'conversation-failed', message: expect.stringMatching(/m.*line cut/) as string });
    expect((error as ConversationFailedError).state.errors).toHaveLength(1);
    await expect(chat.start(start).result).rejects.toThrow(ConversationFailedError);
  });

  test('does not reject a run that a store keeps: the failure is in what was stored', async () => {
    const { chat, start } = setUp({ participants: [llm('m', { error: new ModelFailedError('line cut') })], throwOnFailure: true });
    const { result } = chat.start(start, { commit: () => undefined });
    await expect(result).resolves.toMatchObject({ error: { message: 'line cut' } });
  });

  test('does not hold the conversation up: the next input is answered', async () => {
    const { chat, start, ids } = setUp({ participants: [llm('m', { error: new ModelFailedError('line cut') }, { text: 'Back.' })] });
    const failed = await chat.run(start);
    const end = await chat.run(roundTrip(failed).withUserMessage('And now?', { ids }));
    expect([end.status, end.text, end.session.stepCount]).toStrictEqual(['completed', 'Back.', 2]);
  });

  test.each(['just words', undefined, null, 4])('of one who throws %j is told in words', async (thrown) => {
    const speak = (): string => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is the case
      throw thrown;
    };
    const { chat, start } = setUp({ participants: [functionParticipant({ name: 'f', speak })] });
    const end = await chat.run(start);
    expect([end.status, end.participant, end.errors.length, typeof end.errors[0]?.message]).toStrictEqual(['failed', 'f', 1, 'string']);
  });

  test('a rule that throws gives one failed result, with the words of the turn kept', async () => {
    const brittle = when<ChatState>('Brittle', ({ stepCount }) => {
      if (stepCount === 1) throw new Error('brittle rule');
      return 'request';
    });
    const { chat, start, events } = setUp({ participants: [llm('m', { text: 'Said.', usage })], criteria: [brittle] });
    const end = await chat.run(start);
    expect([end.status, end.stopReason, end.stepResults.length, end.participant, end.usage.total]).toStrictEqual([
      'failed',
      'error',
      1,
      'm',
      5,
    ]);
    expect(end.errors.map(({ message }) => message)).toStrictEqual([expect.stringContaining('brittle rule')]);
    expect(end.transcript.at(-1)).toStrictEqual({ speaker: 'm', text: 'Said.' });
    expect(events.filter(({ type, agentId }) => type === 'ContinuationEvaluated' && agentId === end.agentId)).toHaveLength(1);
  });
});

describe('a turn that is tried again', () => {
  test('stays with its speaker, and counts as a step', async () => {
    const { chat, start } = setUp({
      participants: [says('a', 'x'), llm('m', { error: new ModelFailedError('once'), usage }, { text: 'Now.', usage }), says('c', 'z')],
      errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }),
    });
    const end = await chat.run(start);
    expect([order(end), end.status, end.usage.total]).toStrictEqual([['a', 'm', 'm', 'c'], 'completed', 10]);
    expect(end.steps[2]?.selection?.by).toBe('retry');
    expect(end.transcript.map(({ speaker }) => speaker)).toStrictEqual([undefined, 'a', 'm', 'c']);
  });

  test('stays with its speaker also where the state was stored in between, whatever the selector says', async () => {
    let chosen = 0;
    const { chat, start } = setUp({
      participants: [says('a', 'x'), llm('m', { error: new ModelFailedError('once') }, { text: 'Now.' })],
      selector: () => ((chosen += 1) === 1 ? 'm' : 'a'),
      errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }),
    });
    let state = start;
    while (chat.hasNextStep(state)) state = roundTrip(await chat.nextStep(state));
    expect([order(state), chosen]).toStrictEqual([['m', 'm', 'a'], 2]);
  });

  test('ends it with retry_limit when it failed too often', async () => {
    const broken = functionParticipant({ name: 'f', speak: () => Promise.reject(new Error('never')) });
    const { chat, start } = setUp({ participants: [broken, says('b', 'y')], errors: ErrorPolicy.retryAll(2).withBackoff({ baseMs: 0 }) });
    const end = await chat.run(start);
    expect([order(end), end.status, end.stopReason]).toStrictEqual([['f', 'f'], 'failed', 'retry_limit']);
  });

  test('waits before it is tried again, on the wall clock', async () => {
    const slow = new RateLimitedError('slow down', { retryAfterMs: 700 });
    const model = scriptedModel([{ error: slow }, { error: new ModelFailedError('hm') }, { text: 'Now.' }]);
    // The turn itself tries nothing again: the policy of the chat is seen at work.
    const m = llmParticipant({ name: 'm', model, errors: ErrorPolicy.stopOnAnyError() });
    const { chat, start, clock, events } = setUp({ participants: [m], errors: ErrorPolicy.retryAll(4) });
    const at: number[] = [];
    chat.onEvent('ParticipantSelected', () => at.push(clock.monotonic()));
    const run = chat.run(start);
    await clock.advance(20_000);
    const end = await run;
    // As long as the provider asked for; then the second wait, whose ceiling is twice the base of 1000.
    expect([at, end.text]).toStrictEqual([[0, 700, 2700], 'Now.']);
    expect(events.filter(({ type, agentId }) => type === 'RetryScheduled' && agentId === end.agentId)).toHaveLength(2);
  });

  test('a failure that cannot get better is not tried again', async () => {
    const { chat, start } = setUp({
      participants: [llm('m', { error: new ModelFailedError('bad key', { retryable: false }) })],
      errors: ErrorPolicy.retryAll(5),
    });
    const end = await chat.run(start);
    expect([end.stepCount, end.stopReason]).toStrictEqual([1, 'error']);
  });

  test('a failure cannot be ignored: nobody has read of it', async () => {
    const { chat, start } = setUp({
      participants: [functionParticipant({ name: 'f', speak: () => Promise.reject(new Error('no')) }), says('b', 'y')],
      errors: ErrorPolicy.stopOnAnyError().withUnknownErrorHandling('ignore'),
    });
    const end = await chat.run(start);
    expect([order(end), end.status]).toStrictEqual([['f'], 'failed']);
  });
});

const hang = defineTool({ name: 'hang', description: 'A tool.', input: { type: 'object' }, effect: 'pure', run: () => never<string>() });
async function* slowly(): AsyncGenerator<string> {
  yield 'Half a ';
  yield 'sentence';
  await never();
}

describe('an abort', () => {
  const rows: readonly { what: string; who: Participant; text?: string; total?: number }[] = [
    { what: 'a model that streams', who: llm('z', { chunks: slowly() }), text: 'Half a sentence' },
    { what: 'a model that hangs', who: llm('z', () => never()) },
    {
      what: 'a tool in a turn',
      who: llmParticipant({ name: 'z', model: scriptedModel([{ text: 'I look.', toolCalls: [{ name: 'hang' }], usage }]), tools: [hang] }),
      text: 'I look.',
      total: 5,
    },
    {
      what: 'an agent',
      who: agentParticipant({ name: 'z', agent: createAgent({ model: scriptedModel([{ chunks: slowly() }]) }) }),
      text: 'Half a sentence',
    },
    { what: 'a function that ignores its signal', who: functionParticipant({ name: 'z', speak: () => never<string>() }) },
    {
      what: 'a function that obeys its signal',
      who: functionParticipant({
        name: 'z',
        speak: ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
      }),
    },
    { what: 'a person who is asked by a callback', who: humanParticipant({ name: 'z', reply: () => never<string>() }) },
  ];

  test.each(rows)('during $what settles at once, keeps what was said, and is charged to the speaker', async ({ who, text, total = 0 }) => {
    const { chat, start, clock, host } = setUp({ participants: [says('a', 'x'), who, says('c', 'z')] });
    const run = chat.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort('enough');
    await clock.advance(100);
    const end = await run;
    expect([end.status, end.stopReason, order(end), end.participant]).toStrictEqual(['stopped', 'user_requested', ['a', 'z'], 'z']);
    expect([end.errors, end.currentStep?.interrupted, end.usage.total]).toStrictEqual([[], 'signal', total]);
    expect(end.transcript.slice(2)).toStrictEqual(text === undefined ? [] : [{ speaker: 'z', text }]);
    expect([roundTrip(end).stopReason, clock.pendingTimers()]).toStrictEqual(['user_requested', 0]);
  });

  test('before the first turn leaves the conversation as it was', async () => {
    const { chat, start } = setUp({ participants: [says('a', 'x')] });
    const end = await chat.run(start, { signal: AbortSignal.abort('no') });
    expect([end.stopReason, end.transcript]).toStrictEqual(['user_requested', [{ text: 'Go.' }]]);
  });

  test('gives the turn to the same one at the next input, where nothing was said', async () => {
    let isHanging = true;
    const z = functionParticipant({ name: 'z', speak: () => (isHanging ? never<string>() : 'Here.') });
    const { chat, start, clock, host, ids } = setUp({ participants: [says('a', 'x'), z, says('c', 'z')] });
    const run = chat.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort();
    await clock.advance(100);
    isHanging = false;
    const end = await chat.run(roundTrip(await run).withUserMessage('Go on.', { ids }));
    expect(order(end)).toStrictEqual(['z', 'c', 'a']);
  });
});

describe('whose turn it is after one that came to no end', () => {
  const broken = () => {
    let isBroken = true;
    return functionParticipant({
      name: 'b',
      speak: () => {
        if (!isBroken) return 'y';
        isBroken = false;
        throw new Error('no');
      },
    });
  };

  test('failed, and the run ended: its own', async () => {
    const { chat, start, ids } = setUp({ participants: [says('a', 'x'), broken(), says('c', 'z')] });
    const failed = await chat.run(start);
    const end = await chat.run(roundTrip(failed).withUserMessage('Go on.', { ids }));
    expect([order(failed), order(end)]).toStrictEqual([
      ['a', 'b'],
      ['b', 'c', 'a'],
    ]);
  });

  test('failed, and the run went on: that of the next one', async () => {
    const { chat, start } = setUp({ participants: [says('a', 'x'), broken(), says('c', 'z')], onlyCriteria: [], limits: { steps: 5 } });
    const end = await chat.run(start);
    expect([order(end), end.steps[1]?.errors.length]).toStrictEqual([['a', 'b', 'c', 'a', 'b'], 1]);
  });

  test('cut off in the middle of its words: its own, and the words stay', async () => {
    const model = scriptedModel([{ chunks: slowly() }, { text: 'A whole one.' }]);
    const { chat, start, ids, clock, host } = setUp({
      participants: [says('a', 'x'), llmParticipant({ name: 'm', model }), says('c', 'z')],
    });
    const run = chat.run(start, { signal: host.signal });
    await clock.advance(10);
    host.abort('enough');
    await clock.advance(100);
    const end = await chat.run(roundTrip(await run).withUserMessage('Go on.', { ids }));
    expect(order(end)).toStrictEqual(['m', 'c', 'a']);
    expect(end.transcript.flatMap(({ speaker, text }) => (speaker === 'm' ? [text] : []))).toStrictEqual([
      'Half a sentence',
      'A whole one.',
    ]);
  });

  test('stopped before it had read what its call gave: its own', async () => {
    const look = defineTool({ name: 'look', description: 'A tool.', input: { type: 'object' }, run: () => 'seen' });
    const model = scriptedModel([
      { text: 'I look.', toolCalls: [{ name: 'look' }], usage },
      { text: 'Seen.', usage },
    ]);
    const { chat, start, ids } = setUp({
      participants: [says('a', 'x'), llmParticipant({ name: 'm', model, tools: [look] }), says('c', 'z')],
    });
    const run = chat.start(start, { onEvent: ({ type }) => type === 'ToolCallStarted' && run.requestStop('lunch') });
    const { state: stopped } = await run.result;
    const end = await chat.run(roundTrip(stopped).withUserMessage('Go on.', { ids }));
    expect([stopped.transcript.length, order(end), end.transcript[3]]).toStrictEqual([2, ['m', 'c', 'a'], { speaker: 'm', text: 'Seen.' }]);
  });

  test('to be tried again, where a limit came between and more was granted: its own, whatever the selector says', async () => {
    const m = llm('m', { error: new ModelFailedError('once') }, { text: 'Now.' });
    const { chat, start } = setUp({
      participants: [m, says('b', 'y')],
      selector: ({ state }) => (state.stepCount === 0 ? 'm' : 'b'),
      errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }),
      limits: { steps: 1, onLimit: 'pause' },
    });
    const parked = roundTrip(await chat.run(start));
    expect([parked.status, parked.waitingFor.map(({ type }) => type), parked.lastStepResult?.handling?.decision]).toStrictEqual([
      'waiting',
      ['grant'],
      'retry',
    ]);
    const end = await chat.run(roundTrip(parked.grant({ steps: 5 })));
    expect([order(end).slice(0, 2), end.steps[1]?.selection?.by, end.steps[1]?.outputMessages[0]?.text]).toStrictEqual([
      ['m', 'm'],
      'retry',
      'Now.',
    ]);
  });
});

describe('what the functions of a host throw', () => {
  const error = new Error('deep inside');
  const fail = (): never => {
    throw error;
  };
  const rows: readonly { what: string; options: Omit<ChatOptions<readonly Participant[]>, 'ports'>; where: string }[] = [
    { what: 'one who speaks', options: { participants: [functionParticipant({ name: 'f', speak: fail })] }, where: 'f' },
    {
      what: 'one who speaks later',
      options: { participants: [functionParticipant({ name: 'f', speak: async () => fail() })] },
      where: 'f',
    },
    { what: 'one who asks a person', options: { participants: [humanParticipant({ name: 'h', reply: fail })] }, where: 'h' },
    { what: 'a selector', options: { participants: [says('a', 'x')], selector: fail }, where: 'selector' },
  ];

  test.each(rows)('$what, is reported once, as it was thrown, with the place', async ({ options, where }) => {
    const heard: (readonly [unknown, string])[] = [];
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const chat = createChat({ ...options, ports: { clock, ids, onProblem: (problem, place) => heard.push([problem, place]) } });
    const end = await chat.run(ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }));
    expect([end.status, end.errors[0]?.message]).toStrictEqual(['failed', expect.stringContaining('deep inside')]);
    expect(heard).toStrictEqual([[error, expect.stringContaining(where)]]);
  });

  test('a reporter that throws itself disturbs nothing', async () => {
    const ports = { clock: createFakeClock(), ids: createCountingIds(), onProblem: fail };
    const chat = createChat({ participants: [functionParticipant({ name: 'f', speak: fail })], ports });
    const end = await chat.run(ChatState.empty(ports).withUserMessage('Go.', ports));
    expect([end.status, end.errors.length]).toStrictEqual(['failed', 1]);
  });

  test('a model that fails is no problem of the host', async () => {
    const { chat, start, problems } = setUp({ participants: [llm('m', { error: new ModelFailedError('line cut') })] });
    await chat.run(start);
    expect(problems).toStrictEqual([]);
  });
});

describe('a request to stop', () => {
  test('lets the turn under way finish, and gives no other', async () => {
    let finish: (words: string) => void = () => undefined;
    const slow = functionParticipant({ name: 's', speak: () => new Promise<string>((resolve) => (finish = resolve)) });
    const { chat, start, clock } = setUp({ participants: [slow, says('b', 'y')] });
    const run = chat.start(start);
    await clock.advance(5);
    run.requestStop('time for lunch');
    finish('My last words.');
    const result = await run.result;
    expect([result.status, result.text, result.state.stopReason]).toStrictEqual(['stopped', 'My last words.', 'user_requested']);
    expect(result.explain()).toContain('time for lunch');
  });

  test('in a turn with tools: no further step of the run inside begins, and words before a call are no answer', async () => {
    let finish: (words: string) => void = () => undefined;
    const wait = defineTool({
      name: 'wait',
      description: 'A tool.',
      input: { type: 'object' },
      run: () => new Promise<string>((resolve) => (finish = resolve)),
    });
    const model = scriptedModel([
      { text: 'I look.', toolCalls: [{ name: 'wait' }], usage },
      { text: 'Seen.', usage },
    ]);
    const { chat, start, clock } = setUp({ participants: [llmParticipant({ name: 'm', model, tools: [wait] }), says('b', 'y')] });
    const run = chat.start(start);
    await clock.advance(5);
    run.requestStop('lunch');
    finish('done');
    const { state: end } = await run.result;
    expect([end.stopReason, order(end), end.text, end.errors]).toStrictEqual(['user_requested', ['m'], '', []]);
    expect([end.steps[0]?.outputMessages, end.steps[0]?.interrupted]).toStrictEqual([[], 'request']);
    expect(end.steps[0]?.inner?.calls).toStrictEqual([{ tool: 'wait', status: 'succeeded' }]);
  });

  test("is heard where rules of one's own have taken the place of all others", async () => {
    const { chat, start } = setUp({
      participants: [says('a', 'x')],
      criteria: [when<ChatState>('On', () => 'request'), stopWhen('Far', ({ stepCount }) => stepCount > 50 && 'far')],
    });
    const run = chat.start(start, { onEvent: (event) => event.type === 'AgentStepStarted' && run.requestStop('now') });
    const { state: end } = await run.result;
    expect([end.stopReason, end.stepCount]).toStrictEqual(['user_requested', 1]);
  });
});

describe('a deadline', () => {
  const own: readonly { what: string; open: (clock: FakeClock) => Participant }[] = [
    { what: 'a model', open: () => llmParticipant({ name: 'z', model: scriptedModel([() => never()]), limits: { wallMs: 500 } }) },
    {
      what: 'an agent',
      open: (clock) =>
        agentParticipant({
          name: 'z',
          agent: createAgent({ model: scriptedModel([() => never()]), limits: { wallMs: 500 }, ports: { clock } }),
        }),
    },
  ];
  test.each(own)('of its own makes one failed turn of $what that hangs', async ({ open }) => {
    const { chat: other, start, clock } = setUp({ participants: [says('b', 'y')] });
    const chat = other.with({ participants: [open(clock), says('b', 'y')] });
    const run = chat.run(start);
    await clock.advance(2000);
    const end = await run;
    expect([end.status, order(end), end.errors.length]).toStrictEqual(['failed', ['z'], 1]);
    expect([end.currentStep?.interrupted, end.currentStep?.inner?.stopReason]).toStrictEqual([undefined, 'time_limit']);
  });

  test('of its own lets a model speak that had said something by then', async () => {
    const z = llmParticipant({ name: 'z', model: scriptedModel([{ chunks: slowly() }]), limits: { wallMs: 500 } });
    const { chat, start, clock } = setUp({ participants: [z, says('b', 'y')] });
    const run = chat.run(start);
    await clock.advance(2000);
    const end = await run;
    expect([end.status, order(end), end.transcript[1]?.text]).toStrictEqual(['completed', ['z', 'b'], 'Half a sentence']);
  });

  test.each([
    { what: 'a function', who: functionParticipant({ name: 'z', speak: () => never<string>() }) },
    { what: 'a model', who: llm('z', () => never()) },
  ])('of the chat cuts $what off: interrupted, not failed, and charged to it', async ({ who }) => {
    const { chat, start, clock } = setUp({ participants: [who, says('b', 'y')], limits: { wallMs: 500 } });
    const run = chat.run(start);
    await clock.advance(1000);
    const end = await run;
    expect([end.stopReason, end.status, order(end), end.errors, end.currentStep?.interrupted]).toStrictEqual([
      'time_limit',
      'stopped',
      ['z'],
      [],
      'deadline',
    ]);
  });
});
