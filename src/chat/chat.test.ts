import { describe, expect, test } from 'vitest';
import type { ContinuationCriterion } from '../continuation/index.ts';
import { ContinuationDecision, ResponseContentCheck, StepsLimit, stopWhen, when } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { createEventBus } from '../events/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { Message, textPart } from '../messages/index.ts';
import type { Limits } from '../step-by-step/index.ts';
import type { ScriptedEntry } from '../testing/index.ts';
import { orchestratorConformance, scriptedModel } from '../testing/index.ts';
import type { ChatEvent, ChatOptions, Participant } from './index.ts';
import {
  ChatState,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
  ParticipantKind,
  scriptedParticipant,
} from './index.ts';

const usage = { input: 3, output: 2 };
const says = (name: string, ...words: readonly string[]): Participant => scriptedParticipant({ name, says: words });
const model = (...script: readonly ScriptedEntry[]) => scriptedModel(script);
const answers = (...texts: readonly string[]) => scriptedModel(texts.map((text) => ({ text, usage })));
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const order = (state: ChatState) => state.steps.map(({ participant }) => participant);

function setUp(options: Omit<ChatOptions<readonly Participant[]>, 'ports'>) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const chat = createChat({ ...options, ports: { clock, ids, random: () => 0, onProblem: () => undefined } });
  return { chat, clock, ids, start: ChatState.empty({ clock, ids }).withUserMessage('Shall we ship?', { ids }) };
}

describe('moderator, engineer and researcher', () => {
  const open = () => {
    const [engineer, researcher] = [answers('It builds.', 'Two days.'), answers('Nobody knows.', 'Maybe three.')];
    const { chat, start, ids } = setUp({
      participants: [
        says('moderator', 'Does it build?', 'How long?', ''),
        llmParticipant({ name: 'engineer', model: engineer, instructions: 'You build.' }),
        llmParticipant({ name: 'researcher', model: researcher, instructions: 'You doubt.' }),
      ],
      limits: { steps: 8 },
      criteria: [
        new ResponseContentCheck<ChatState, string>(
          (state) => state.currentStep?.outputMessages.at(-1)?.text,
          (text) => text !== '',
        ),
      ],
    });
    return { chat, start, ids, engineer, researcher };
  };

  test('take turns until the moderator says nothing more', async () => {
    const { chat, start } = open();
    const end = await chat.run(start);
    expect(order(end)).toStrictEqual(['moderator', 'engineer', 'researcher', 'moderator', 'engineer', 'researcher', 'moderator']);
    expect([end.status, end.stopReason, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual([
      'completed',
      'completed',
      'EveryoneHasSpoken',
    ]);
    expect(end.transcript).toStrictEqual([
      { text: 'Shall we ship?' },
      { speaker: 'moderator', text: 'Does it build?' },
      { speaker: 'engineer', text: 'It builds.' },
      { speaker: 'researcher', text: 'Nobody knows.' },
      { speaker: 'moderator', text: 'How long?' },
      { speaker: 'engineer', text: 'Two days.' },
      { speaker: 'researcher', text: 'Maybe three.' },
      { speaker: 'moderator', text: '' },
    ]);
    expect([end.usage.total, end.text, end.speaker, end.participant]).toStrictEqual([20, 'Maybe three.', 'researcher', 'moderator']);
  });

  test('each model reads its own words as its own, and the others by name', async () => {
    const { chat, start, engineer, researcher } = open();
    await chat.run(start);
    const listSeen = (of: typeof engineer, call: number) => of.calls[call]?.messages.slice(1).map(({ role, text }) => `${role}: ${text}`);
    expect(listSeen(engineer, 1)).toStrictEqual([
      'user: Shall we ship?',
      'user: [moderator] Does it build?',
      'assistant: It builds.',
      'user: [researcher] Nobody knows.',
      'user: [moderator] How long?',
    ]);
    expect(listSeen(researcher, 0)).toStrictEqual([
      'user: Shall we ship?',
      'user: [moderator] Does it build?',
      'user: [engineer] It builds.',
    ]);
    expect(engineer.calls[0]?.messages[0]).toMatchObject({ role: 'system' });
    expect(engineer.calls[0]?.messages[0]?.text).not.toContain('You doubt.');
  });

  test('stop at the limit of steps where that comes first', async () => {
    const { chat, start } = open();
    const end = await chat.with({ limits: { steps: 5 } }).run(start);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['stopped', 'steps_limit', 5]);
  });

  test('come to the same end where the conversation is stored after every turn', async () => {
    const { chat, start } = open();
    let state = start;
    while (chat.hasNextStep(state)) state = roundTrip(await chat.nextStep(state));
    expect([order(state).length, state.stopReason, state.usage.total]).toStrictEqual([7, 'completed', 20]);
  });
});

describe('what holds without a word about it', () => {
  test('it ends when everybody has spoken since the last input', async () => {
    const { chat, start } = setUp({ participants: [says('a', 'x'), says('b', ''), says('c', 'z')] });
    const end = await chat.run(start);
    expect([order(end), end.status, end.stopReason]).toStrictEqual([['a', 'b', 'c'], 'completed', 'completed']);
    expect(end.lastContinuationOutcome?.resolvedBy).toBe('EveryoneHasSpoken');
    expect(end.explain()).toContain('everyone has spoken');
  });

  test('at most 16 turns', async () => {
    const { chat, start } = setUp({ participants: [says('a', 'x'), says('b', 'y')], selector: () => 'a' });
    const end = await chat.run(start);
    expect([end.stepCount, end.stopReason]).toStrictEqual([16, 'steps_limit']);
  });

  test.each([
    { tokens: 499_999, steps: 2 },
    { tokens: 500_000, steps: 1 },
  ])('$tokens tokens in the first turn leave room for $steps', async ({ tokens, steps }) => {
    const big = llmParticipant({ name: 'big', model: model({ text: 'Long.', usage: { input: tokens, output: 0 } }) });
    const { chat, start } = setUp({ participants: [big, says('b', 'y')] });
    const end = await chat.run(start);
    expect([end.stepCount, end.stopReason]).toStrictEqual([steps, steps === 2 ? 'completed' : 'token_limit']);
  });

  test.each([
    { finishReason: 'length', stopReason: 'finish_reason' },
    { finishReason: 'content_filter', stopReason: 'finish_reason' },
    { finishReason: 'stop', stopReason: 'completed' },
  ])('a model that ends with $finishReason ends it with $stopReason', async ({ finishReason, stopReason }) => {
    const cut = llmParticipant({ name: 'cut', model: model({ text: 'Half a sen', finishReason }) });
    const { chat, start } = setUp({ participants: [cut, says('b', 'y')] });
    const end = await chat.run(start);
    expect([end.stopReason, end.transcript[1]?.text]).toStrictEqual([stopReason, 'Half a sen']);
  });

  test('any failed turn ends it', async () => {
    const broken = functionParticipant({ name: 'broken', speak: () => Promise.reject(new Error('no')) });
    const { chat, start } = setUp({ participants: [broken, says('b', 'y')] });
    const end = await chat.run(start);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['failed', 'error', 1]);
  });

  test('no limit of time', async () => {
    const { chat, start, clock } = setUp({
      participants: [functionParticipant({ name: 'a', speak: () => (clock.skip(3_600_000), 'x'), timeoutMs: Infinity }), says('b', 'y')],
    });
    expect((await chat.run(start)).status).toBe('completed');
  });

  test('its rules can be read', () => {
    const { chat } = setUp({ participants: [says('a', 'x')] });
    const { criteria, errors, selector, participants } = chat.describe();
    for (const name of ['StepsLimit', 'TokenUsageLimit', 'FinishReasonCheck', 'ErrorPolicyCriterion', 'EveryoneHasSpoken'])
      expect(criteria).toContain(name);
    expect([selector, errors !== undefined, participants]).toStrictEqual(['round-robin', true, [{ name: 'a', kind: 'scripted' }]]);
  });
});

describe("rules of one's own", () => {
  const resumeTurn = when<ChatState>('GoOn', () => ContinuationDecision.RequestContinuation);
  const [a, b] = [says('a', 'x'), says('b', 'y')];
  const cut = llmParticipant({
    name: 'cut',
    model: scriptedModel([{ text: 'Half', finishReason: 'length', usage: { input: 9000, output: 1 } }], { repeatLast: true }),
  });
  const broken = functionParticipant({ name: 'broken', speak: () => Promise.reject(new Error('no')) });
  const until = (steps: number) => stopWhen<ChatState>('Until', ({ stepCount }) => stepCount >= steps && 'that is enough');

  const rows: readonly {
    what: string;
    options: Pick<ChatOptions<readonly Participant[]>, 'participants' | 'onlyCriteria' | 'limits' | 'errors' | 'finishReasons'>;
    end: readonly unknown[];
  }[] = [
    {
      what: 'replace the driver and the limit of steps',
      options: { participants: [a, b], onlyCriteria: [resumeTurn, until(20)] },
      end: ['guard', 20],
    },
    {
      what: 'replace the limit of tokens and the finish reasons',
      options: { participants: [cut], onlyCriteria: [resumeTurn, until(3)] },
      end: ['guard', 3],
    },
    {
      what: 'leave limits that are given',
      options: { participants: [a, b], onlyCriteria: [resumeTurn], limits: { steps: 5 } },
      end: ['steps_limit', 5],
    },
    {
      what: 'leave a limit of tokens, and add none of steps',
      options: { participants: [cut, ...[a, b]], onlyCriteria: [resumeTurn], limits: { tokens: 20_000 } },
      end: ['token_limit', 7],
    },
    {
      what: 'leave finish reasons that are given',
      options: { participants: [cut], onlyCriteria: [resumeTurn], finishReasons: ['length'] },
      end: ['finish_reason', 1],
    },
    {
      what: 'leave an error policy that is given',
      options: { participants: [broken], onlyCriteria: [resumeTurn], errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }) },
      end: ['retry_limit', 3],
    },
    {
      what: 'that only allow, go on (and a limit ends it)',
      options: { participants: [a], onlyCriteria: [], limits: { steps: 3 } },
      end: ['steps_limit', 3],
    },
    { what: 'that are none end it after one turn', options: { participants: [a, b], onlyCriteria: [] }, end: ['completed', 1] },
  ];
  test.each(rows)('$what', async ({ options, end }) => {
    const { chat, start } = setUp(options);
    const last = await chat.run(start);
    expect([last.stopReason, last.stepCount]).toStrictEqual(end);
  });

  test('a failed turn does not pass for success where nobody judges failures', async () => {
    const afterOne = when<ChatState>('AfterOne', ({ stepCount }) =>
      stepCount === 0 ? ContinuationDecision.AllowContinuation : ContinuationDecision.AllowStop,
    );
    const { chat, start } = setUp({ participants: [broken], onlyCriteria: [afterOne] });
    const end = await chat.run(start);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['failed', 'error', 1]);
  });

  test('limits alone change what is said, and leave the other defaults', async () => {
    const { chat, start } = setUp({ participants: [a, b], limits: { steps: 1 } });
    const end = await chat.run(start);
    expect([end.stopReason, end.stepCount, chat.describe().criteria.includes('TokenUsageLimit')]).toStrictEqual(['steps_limit', 1, true]);
  });

  test('given as criteria are added to the default ones', async () => {
    const participants = [a, b];
    const { chat, start } = setUp({ participants, criteria: [until(1)] });
    expect(chat.describe().criteria).toStrictEqual([...createChat({ participants }).describe().criteria, 'Until']);
    expect((await chat.run(start)).stopReason).toBe('guard');
  });

  test('may have the name of a default one', async () => {
    const second: readonly ContinuationCriterion<ChatState>[] = [new StepsLimit<ChatState>(1, ({ stepCount }) => stepCount)];
    const { chat, start } = setUp({ participants: [a, b], criteria: second });
    expect((await chat.run(start)).lastContinuationOutcome?.resolvedBy).toBe('StepsLimit#2');
  });
});

describe('a chat', () => {
  test('takes a second input after a finished run, with fresh limits and the old words', async () => {
    const { chat, start, ids } = setUp({ participants: [says('a', 'x', 'xx'), says('b', 'y')], limits: { steps: 2 } });
    const again = roundTrip(await chat.run(start)).withUserMessage('And now?', { ids });
    expect([again.status, again.stepCount, chat.hasNextStep(again)]).toStrictEqual(['pending', 0, true]);
    const end = await chat.run(again);
    expect(end.transcript.map(({ text }) => text)).toStrictEqual(['Shall we ship?', 'x', 'y', 'And now?', 'xx', 'y']);
    expect([end.status, end.stepCount, end.session.stepCount, end.session.executions.length]).toStrictEqual(['completed', 2, 4, 2]);
    expect(await chat.run(end)).toBe(end);
  });

  test('lets a message join while it runs: everybody speaks again since then', async () => {
    const { chat, start, ids } = setUp({ participants: [says('a', 'x'), says('b', 'y')] });
    let asked = 0;
    const end = await chat.run(start, {
      between: (state) => ((asked += 1) === 2 ? { state: state.withUserMessage('One more thing.', { ids }) } : undefined),
    });
    expect(end.transcript.map(({ speaker, text }) => speaker ?? text)).toStrictEqual(['Shall we ship?', 'a', 'One more thing.', 'b', 'a']);
    expect([end.session.executions.length, end.stepCount]).toStrictEqual([1, 3]);
  });

  test('leaves the state that it was given as it was', async () => {
    const { chat, start } = setUp({ participants: [says('a', 'x'), llmParticipant({ name: 'm', model: answers('Yes.') })] });
    const before = JSON.stringify(start);
    const middle = await chat.nextStep(start);
    const between = JSON.stringify(middle);
    await chat.run(middle);
    expect([JSON.stringify(start), JSON.stringify(middle)]).toStrictEqual([before, between]);
  });

  test.each([
    { what: 'words', input: 'Shall we?' },
    { what: 'parts', input: [textPart('Shall we?')] },
    { what: 'a message', input: Message.user('Shall we?') },
    { what: 'a state', input: ChatState.empty().withUserMessage('Shall we?') },
  ])('starts with $what', async ({ input }) => {
    const result = await createChat({ participants: [says('a', 'We shall.')] }).start(input).result;
    expect([result.status, result.text, result.state.speaker]).toStrictEqual(['completed', 'We shall.', 'a']);
    expect(result.state.transcript[0]).toStrictEqual({ text: 'Shall we?' });
    expect(result.explain()).toBe(result.state.explain());
  });

  test('begins with nobody having said anything, too', async () => {
    const first = answers('I begin.');
    const { chat } = setUp({ participants: [llmParticipant({ name: 'm', model: first })] });
    expect((await chat.run(ChatState.empty())).text).toBe('I begin.');
    expect(first.calls[0]?.messages.at(-1)?.role).toBe('user');
  });

  test('has a fingerprint that tells other participants, selectors, orders and rules apart', () => {
    const [a, b] = [says('a', 'x'), says('b', 'y')];
    const of = (options: ChatOptions<readonly Participant[]>) => createChat(options).fingerprint;
    const all = [
      of({ participants: [a, b] }),
      of({ participants: [b, a] }),
      of({ participants: [says('a', 'other'), b] }),
      of({ participants: [a, b], selector: () => 'a' }),
      of({ participants: [a, b], limits: { steps: 3 } }),
      of({ participants: [a, b], errors: ErrorPolicy.retryAll(2) }),
      of({ participants: [a, b], introduce: false }),
      of({ participants: [a, b], finishReasons: [] }),
    ];
    expect([new Set(all).size, of({ participants: [says('a', 'x'), says('b', 'y')] })]).toStrictEqual([all.length, all[0]]);
  });

  test('with() keeps everything else, its listeners too', async () => {
    const heard: ChatEvent[] = [];
    const { chat, start } = setUp({ participants: [says('a', 'x'), says('b', 'y')], throwOnFailure: true, id: 'talk', version: '2' });
    chat.wiretap((event) => heard.push(event));
    const shorter = chat.with({ limits: { steps: 1 } });
    const end = await shorter.run(start);
    expect([end.stopReason, shorter.id, shorter.version, heard.length > 0]).toStrictEqual(['steps_limit', 'talk', '2', true]);
    expect(end.execution).toMatchObject({ agent: { id: 'talk', version: '2', fingerprint: shorter.fingerprint } });
    const failing = chat.with({ selector: () => 'stranger' });
    await expect(failing.run(start)).rejects.toThrow(/stranger/);
  });
});

describe.each(['scripts alone', 'a model among them'])('a chat of %s does what every orchestrator must', (who) => {
  const cases = orchestratorConformance<ChatState>(() => {
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const speaker = scriptedModel([{ text: 'Yes.', usage }], { repeatLast: true });
    const orchestrator = createChat({
      participants: [
        says('a', 'x', 'xx'),
        says('b', ''),
        ...(who === 'scripts alone' ? [] : [llmParticipant({ name: 'm', model: speaker })]),
      ],
      ports: { clock, ids },
    });
    const start = ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids });
    return { orchestrator, start, restore: (text) => ChatState.fromJSON(JSON.parse(text)) };
  });
  test.each(cases)('$name', ({ run }) => run());
});

test('the kinds of participants are five', () => {
  expect(Object.values(ParticipantKind)).toStrictEqual(['llm', 'agent', 'human', 'scripted', 'function']);
  expect(humanParticipant({ name: 'h', description: 'decides' })).toMatchObject({ name: 'h', kind: 'human', description: 'decides' });
});

test('one bus may serve several chats', async () => {
  const events = createEventBus<ChatEvent>();
  const heard = new Set<string>();
  events.wiretap(({ agentId }) => heard.add(agentId));
  const limits: Limits = { steps: 1 };
  for (const name of ['a', 'b']) await createChat({ participants: [says(name, 'x')], events, limits }).start('Go.').result;
  expect(heard.size).toBe(2);
});
