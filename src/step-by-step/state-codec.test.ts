import { describe, expect, test } from 'vitest';
import { ContinuationDecision, ContinuationEvaluation, StepsLimit } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { DamagedDataError } from '../lib/index.ts';
import { Message, Usage } from '../messages/index.ts';
import type { Script, ScriptedProcessOptions, ScriptedStep } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import { createStepByStep } from './step-by-step.ts';
import type { Wait } from './waiting.ts';

const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true, usage: { input: 7, output: 3 }, finishReason: 'tool_calls' };
const finishes: ScriptedStep = { text: 'Here it is.' };
const failure: Failure = {
  type: 'tool',
  code: 'not-found',
  message: 'no such file',
  retryable: true,
  retryAfterMs: 0,
  toolName: 'read_file',
  toolCallId: 'call-9',
  readable: true,
};
const waits: readonly Wait[] = [
  { type: 'approval', id: 'call-1', toolName: 'send_mail', args: { to: ['ann'] }, problem: 'nobody is called ann' },
  { type: 'client-tool', id: 'call-2', toolName: 'read_clipboard', args: null },
  { type: 'unknown-call', id: 'call-3', toolName: 'pay', args: 5 },
  { type: 'person', id: 'call-4', prompt: 'Which one?' },
  { type: 'person', id: 'call-5' },
  { type: 'grant', id: 'call-6', limit: 'tokens' },
  { type: 'provider', id: 'call-7', reason: '503', since: 1, tries: 2, nextTryAt: 3, giveUpAt: 4 },
];

function setUp(script: Script, options: ScriptedProcessOptions = {}) {
  const clock = createFakeClock(Date.UTC(2026, 0, 1));
  const ids = createCountingIds();
  const orchestrator = createStepByStep(createScriptedProcess(script, { clock, ...options }), { clock, ids, random: () => 0.5 });
  const start = ScriptedState.empty({ clock, ids, agentId: 'agent-1' }).withUserMessage('Hello.', { ids });
  return { clock, ids, orchestrator, start };
}

const run = (script: Script, options?: ScriptedProcessOptions): Promise<ScriptedState> => {
  const { orchestrator, start } = setUp(script, options);
  return orchestrator.run(start);
};
const reread = (state: ScriptedState): ScriptedState => ScriptedState.codec.parse(ScriptedState.codec.stringify(state));
const park = (): Promise<ScriptedState> => run([{ ...goesOn, waits }]);

const kinds: readonly (readonly [string, () => ScriptedState | Promise<ScriptedState>])[] = [
  ['nothing has happened to', () => ScriptedState.empty()],
  ['has a message', () => setUp([finishes]).start],
  ['has a parent and metadata', () => ScriptedState.empty({ parentAgentId: 'boss', metadata: { ticket: 7, tags: ['a', null] } })],
  ['is in progress', () => setUp([goesOn]).orchestrator.nextStep(setUp([goesOn]).start)],
  ['completed', () => run([goesOn, finishes])],
  ['was refused', () => run([finishes], { limits: { steps: 0 } })],
  ['failed, with a retry before', () => run([{ errors: [failure, { ...failure, type: 'unknown' }] }], { policy: ErrorPolicy.retryAll(2) })],
  ['waits', park],
  ['skips a model', () => setUp([finishes]).start.evolve({ coolDowns: { 'p/a': { failures: 2, until: 1 } } })],
  [
    'waited and was answered',
    async () =>
      (await park())
        .approve('call-1', { args: { to: 'bob' } })
        .reject('call-2', 'no')
        .answer('call-4', ['x']),
  ],
  ['was superseded while it waited', async () => (await park()).withUserMessage('Never mind.')],
  [
    'brought votes along',
    () =>
      run([{ ...goesOn, evaluations: [ContinuationEvaluation.fromDecision('Vote', ContinuationDecision.ForbidContinuation, 'guard')] }]),
  ],
  [
    'has several executions',
    async () => {
      const { orchestrator, start } = setUp([goesOn, finishes]);
      return orchestrator.run((await orchestrator.run(start)).withUserMessage('More.'));
    },
  ],
];

describe('C1: what was written is read again as the same state', () => {
  test.each(kinds)('one that %s', async (_, make) => {
    const state = await make();
    const read = reread(state);
    expect(read).toBeInstanceOf(ScriptedState);
    expect(JSON.parse(JSON.stringify(read))).toStrictEqual(JSON.parse(JSON.stringify(state)));
    expect(JSON.stringify(reread(read))).toBe(JSON.stringify(read));
    expect([read.status, read.stopReason, read.explain(), read.text]).toStrictEqual([
      state.status,
      state.stopReason,
      state.explain(),
      state.text,
    ]);
    expect([read.usage, read.session.usage, read.data.lastSeq, read.data.owesEvents]).toStrictEqual([
      state.usage,
      state.session.usage,
      state.data.lastSeq,
      state.data.owesEvents,
    ]);
    expect(read.stepResults).toStrictEqual(state.stepResults);
    expect(read.session.executions.map(({ results }) => results.toArray())).toStrictEqual(
      state.session.executions.map(({ results }) => results.toArray()),
    );
    expect([read.pendingStep, read.waitingFor]).toStrictEqual([state.pendingStep, state.waitingFor]);
    expect(read.messages.toArray()).toStrictEqual(state.messages.toArray());
    expect([read.info, read.metadata, read.agentId, read.parentAgentId]).toStrictEqual([
      state.info,
      state.metadata,
      state.agentId,
      state.parentAgentId,
    ]);
  });

  test('what carried it out is kept', async () => {
    const state = setUp([finishes]).start;
    const named = state.evolve({ execution: { ...state.execution, agent: { id: 'writer', version: 3 } } });
    expect(reread(named).execution.agent).toStrictEqual({ id: 'writer', version: 3 });
  });
});

describe('a time that no date has is damage', () => {
  const tooLate = 8.64e15 + 1;
  const provider = { type: 'provider', id: 'p', reason: '503', since: 1, tries: 2, nextTryAt: 3, giveUpAt: 4 } as const;

  test.each(['since', 'nextTryAt', 'giveUpAt'])('as %s of a wait for a provider', async (name) => {
    const state = await run([{ ...goesOn, waits: [{ ...provider, [name]: tooLate }] }]);
    expect(() => reread(state)).toThrow(DamagedDataError);
  });

  test('in a crash loop, an outage and a model that is skipped', () => {
    const { start } = setUp([finishes]);
    const { execution } = start;
    for (const state of [
      start.evolve({ execution: { ...execution, crashLoop: { attempts: 3, since: tooLate } } }),
      start.evolve({ execution: { ...execution, outage: { since: tooLate, tries: 1 } } }),
      start.evolve({ coolDowns: { 'p/a': { failures: 1, until: tooLate } } }),
    ])
      expect(() => reread(state)).toThrow(DamagedDataError);
  });
});

describe('C2: a message stands once', () => {
  test('a step refers to its place, and reads the very one of the conversation', async () => {
    const state = await run([goesOn, finishes]);
    const text = JSON.stringify(state);
    for (const words of ['One moment.', 'Here it is.']) expect(text.split(words)).toHaveLength(2);
    const read = reread(state);
    expect(read.steps.map(({ outputMessages }) => outputMessages[0])).toStrictEqual(read.messages.toArray().slice(1));
    expect(read.currentStep?.outputMessages[0]).toBe(read.messages.at(-1));
  });

  test('one that is not in the conversation, or was changed there, is written whole', async () => {
    const state = await run([finishes]);
    const other = state.messages
      .toArray()
      .map((message) => (message.isAssistant() ? Message.assistant('Cut.', { id: message.id }) : message));
    const compacted = state.evolve({ store: state.store.withSection('messages', other) });
    const removed = state.evolve({ store: state.store.clear('messages') });
    expect([reread(compacted).text, reread(compacted).messages.at(-1)?.text]).toStrictEqual(['Here it is.', 'Cut.']);
    expect(reread(removed).text).toBe('Here it is.');
  });
});

test('C3: the wall clock and the judged step are not written', async () => {
  const { orchestrator, start } = setUp([goesOn]);
  const one = await orchestrator.nextStep(start);
  const judged = one.evolve({ execution: { ...one.execution, judgedStep: one.currentStep } });
  const { judgedStep, wallStartedAt, startedAt } = reread(judged).execution;
  expect([judgedStep, wallStartedAt]).toStrictEqual([undefined, undefined]);
  expect(startedAt).toBe(one.execution.startedAt);
  expect(Object.keys(ScriptedState.codec.encode(judged).data['execution'] as object)).toStrictEqual([
    'id',
    'number',
    'startedAt',
    'activeMs',
    'waitedMs',
    'usage',
    'failedSteps',
    'results',
  ]);
});

test('C4: fields that this version does not know are kept and written again', async () => {
  const envelope = ScriptedState.codec.encode(await run([finishes]));
  const newer = { ...envelope, data: { ...envelope.data, mood: { since: 3, words: ['fine'] } } };
  const read = ScriptedState.codec.decode(newer);
  expect(ScriptedState.codec.encode(read)).toStrictEqual(JSON.parse(JSON.stringify(newer)));
  const { orchestrator } = setUp([finishes]);
  const later = reread(await orchestrator.run(read.withUserMessage('More.')));
  expect(ScriptedState.codec.encode(later).data['mood']).toStrictEqual({ since: 3, words: ['fine'] });
});

// Stored sessions have this form. A change here that is not an addition needs a new schema number and an upgrade.
test('the golden form of a small state', async () => {
  const criteria = [new StepsLimit<ScriptedState>(1, ({ stepCount }) => stepCount)];
  const state = await run([{ ...goesOn, takesMs: 20, errors: [failure] }], { criteria });
  expect(JSON.parse(JSON.stringify(state))).toStrictEqual({
    kind: 'scripted-state',
    schema: 1,
    data: {
      info: {
        id: 'id-1',
        startedAt: '2026-01-01T00:00:00.000Z',
        updatedAt: '2026-01-01T00:00:00.020Z',
        cumulativeExecutionSeconds: 0.02,
      },
      agentId: 'agent-1',
      store: {
        sections: [
          {
            name: 'messages',
            messages: [
              { id: 'id-2', role: 'user', content: 'Hello.' },
              { id: 'id-5', role: 'assistant', content: 'One moment.' },
            ],
          },
        ],
      },
      metadata: {},
      execution: {
        id: 'id-3',
        number: 1,
        startedAt: 1_767_225_600_000,
        activeMs: 20,
        waitedMs: 0,
        usage: { input: 7, output: 3 },
        failedSteps: 1,
        results: [
          {
            id: 'id-4',
            messages: [1],
            timing: { startedAt: 1_767_225_600_000, endedAt: 1_767_225_600_020, activeMs: 20 },
            usage: { input: 7, output: 3 },
            errors: [failure],
            finishReason: 'tool_calls',
            hasToolCalls: true,
            handling: { decision: 'stop', errorType: 'tool', consecutiveFailures: 1, totalFailures: 1 },
            outcome: {
              decision: 'forbid',
              resolvedBy: 'StepsLimit',
              stopReason: 'steps_limit',
              criteria: ['StepsLimit'],
              evaluations: {
                StepsLimit: {
                  decision: 'forbid',
                  reason: '1 of 1 steps used, limit reached',
                  stopReason: 'steps_limit',
                  limit: 'steps',
                  context: { currentSteps: 1, maxSteps: 1 },
                },
              },
            },
            fields: { answers: [] },
          },
        ],
      },
      past: [],
      lastSeq: 7,
    },
  });
});

describe('what is something else', () => {
  const envelope = ScriptedState.codec.encode(setUp([finishes]).start);

  test('of another kind is refused', () => {
    expect(() => ScriptedState.fromJSON({ ...envelope, kind: 'agent-state' })).toThrow(
      expect.objectContaining({ code: 'wrong-kind', expected: 'scripted-state', found: 'agent-state' }) as Error,
    );
  });

  test('of a newer schema is refused and left alone', () => {
    const newer = { ...envelope, schema: 2 };
    const before = JSON.stringify(newer);
    expect(() => ScriptedState.fromJSON(newer)).toThrow(expect.objectContaining({ code: 'newer-schema', found: 2, supported: 1 }) as Error);
    expect(JSON.stringify(newer)).toBe(before);
  });
});

describe('damage is refused, with its place', () => {
  type Path = readonly (string | number)[];

  /** A copy of the JSON with one value replaced; undefined takes it away. */
  function damageField(state: ScriptedState, path: Path, value: unknown): unknown {
    const copy = JSON.parse(JSON.stringify(state)) as Record<string, unknown>;
    let place = copy as Record<string | number, unknown>;
    for (const key of path.slice(0, -1)) place = place[key] as Record<string | number, unknown>;
    const last = path.at(-1)!;
    if (value === undefined) Reflect.deleteProperty(place, last);
    else place[last] = value;
    return JSON.parse(JSON.stringify(copy));
  }

  const inData = (...path: Path): Path => ['data', ...path];
  const inFirst = (...path: Path): Path => inData('execution', 'results', 0, ...path);
  const inResult = (...path: Path): Path => inData('execution', 'results', 1, ...path);
  const runToFailure = (): Promise<ScriptedState> => run([{ ...goesOn, errors: [failure] }], { policy: ErrorPolicy.retryAll(2) });

  test.each<[Path, unknown, string]>([
    [['kind'], undefined, 'kind'],
    [['schema'], 0, 'schema'],
    [['data'], [], 'data'],
    [inData('info'), undefined, 'data.info'],
    [inData('info', 'startedAt'), 'whenever', 'data.info.startedAt'],
    [inData('agentId'), 7, 'data.agentId'],
    [inData('parentAgentId'), {}, 'data.parentAgentId'],
    [inData('metadata'), [], 'data.metadata'],
    [inData('store'), undefined, 'data.store'],
    [inData('store', 'sections', 0, 'messages', 0, 'role'), 'robot', 'data.store.sections[0].messages[0].role'],
    [inData('lastSeq'), '5', 'data.lastSeq'],
    [inData('owesEvents'), 'yes', 'data.owesEvents'],
    [inData('past'), null, 'data.past'],
    [inData('past'), [7], 'data.past[0]'],
    [inData('execution'), 'gone', 'data.execution'],
    [inData('execution', 'id'), 3, 'data.execution.id'],
    [inData('execution', 'number'), undefined, 'data.execution.number'],
    [inData('execution', 'activeMs'), 'long', 'data.execution.activeMs'],
    [inData('execution', 'usage', 'input'), -1, 'data.execution.usage.input'],
    [inData('execution', 'usage'), [1, 2, 3], 'data.execution.usage'],
    [inData('execution', 'failedSteps'), undefined, 'data.execution.failedSteps'],
    [inData('execution', 'results'), {}, 'data.execution.results'],
    [inData('execution', 'startOutcome'), 'no', 'data.execution.startOutcome'],
    [inData('execution', 'agent'), 'me', 'data.execution.agent'],
    [inResult(), 5, 'data.execution.results[1]'],
    [inFirst(), 'nothing', 'data.execution.results[0]'],
    [inFirst('id'), undefined, 'data.execution.results[0].id'],
    [inResult('id'), undefined, 'data.execution.results[1].id'],
    [inResult('id'), 5, 'data.execution.results[1].id'],
    [inFirst('messages'), undefined, 'data.execution.results[0].messages'],
    [inResult('messages'), undefined, 'data.execution.results[1].messages'],
    [inResult('messages'), 'id-3', 'data.execution.results[1].messages'],
    [inResult('messages', 0), 'nobody', 'data.execution.results[1].messages[0]'],
    [inResult('messages', 0), 7, 'data.execution.results[1].messages[0]'],
    [inResult('messages', 0), -1, 'data.execution.results[1].messages[0]'],
    [inResult('messages', 0), 0.5, 'data.execution.results[1].messages[0]'],
    [inResult('usage'), 'much', 'data.execution.results[1].usage'],
    [inResult('interrupted'), 'lightning', 'data.execution.results[1].interrupted'],
    [inFirst('errors', 0, 'type'), 'cosmic', 'data.execution.results[0].errors[0].type'],
    [inFirst('errors', 0, 'retryable'), undefined, 'data.execution.results[0].errors[0].retryable'],
    [inFirst('errors', 0, 'retryAfterMs'), 'soon', 'data.execution.results[0].errors[0].retryAfterMs'],
    [inResult('errors'), [{ type: 'tool' }], 'data.execution.results[1].errors[0].code'],
    [inFirst('fields'), undefined, 'data.execution.results[0].fields.answers'],
    [inResult('fields'), 'none', 'data.execution.results[1].fields'],
    [inResult('fields'), { '-': ['answers'] }, 'data.execution.results[1].fields.answers'],
    [inResult('-'), ['usage'], 'data.execution.results[1].usage'],
    [inResult('-'), 'usage', 'data.execution.results[1].-'],
    [inResult('-'), [7], 'data.execution.results[1].-[0]'],
    [inResult('outcome'), undefined, 'data.execution.results[1].outcome'],
    [inResult('outcome'), 'go on', 'data.execution.results[1].outcome'],
    [inResult('outcome', 'decision'), undefined, 'data.execution.results[1].outcome.decision'],
    [inResult('outcome', 'decision'), 'allow', 'data.execution.results[1].outcome.decision'],
    [inFirst('outcome', 'criteria'), undefined, 'data.execution.results[0].outcome.criteria'],
    [inFirst('outcome', 'criteria', 0), 0, 'data.execution.results[0].outcome.criteria[0]'],
    [
      inFirst('outcome', 'evaluations', 'ErrorPolicyCriterion'),
      undefined,
      'data.execution.results[0].outcome.evaluations.ErrorPolicyCriterion',
    ],
    [inFirst('outcome', 'evaluations', 'ErrorPolicyCriterion'), [], 'data.execution.results[0].outcome.evaluations.ErrorPolicyCriterion'],
    [inResult('outcome', 'evaluations', 'ErrorPolicyCriterion'), 1, 'data.execution.results[1].outcome.evaluations.ErrorPolicyCriterion'],
    [
      inResult('outcome', 'evaluations', 'ErrorPolicyCriterion', 'stopReason'),
      'tired',
      'data.execution.results[1].outcome.evaluations.ErrorPolicyCriterion.stopReason',
    ],
    [
      inResult('outcome', 'evaluations', 'ErrorPolicyCriterion', 'decision'),
      'maybe',
      'data.execution.results[1].outcome.evaluations.ErrorPolicyCriterion.decision',
    ],
    [inFirst('timing'), undefined, 'data.execution.results[0].timing'],
    [inResult('timing'), undefined, 'data.execution.results[1].timing'],
    [inResult('timing', 'endedAt'), 'noon', 'data.execution.results[1].timing.endedAt'],
    [inResult('timing'), [1, 2, 1], 'data.execution.results[1].timing'],
    [inResult('handling', 'decision'), 'shrug', 'data.execution.results[1].handling.decision'],
    [inResult('handling', 'errorType'), 'cosmic', 'data.execution.results[1].handling.errorType'],
    [inResult('handling', 'delayMs'), 'long', 'data.execution.results[1].handling.delayMs'],
  ])('%j: %j', async (path, value, place) => {
    const input = damageField(await runToFailure(), path, value);
    expect(() => ScriptedState.fromJSON(input)).toThrow(expect.objectContaining({ code: 'damaged-data', path: place }) as Error);
  });

  const inPending = (...path: Path): Path => inData('execution', 'pendingStep', ...path);
  test.each<[Path, unknown, string]>([
    [inPending(), 'later', 'data.execution.pendingStep'],
    [inPending('number'), undefined, 'data.execution.pendingStep.number'],
    [inPending('partial'), undefined, 'data.execution.pendingStep.partial'],
    [inPending('parkedAt'), 'noon', 'data.execution.pendingStep.parkedAt'],
    [inPending('waits'), undefined, 'data.execution.pendingStep.waits'],
    [inPending('waits', 0, 'type'), 'bribe', 'data.execution.pendingStep.waits[0].type'],
    [inPending('waits', 0, 'toolName'), undefined, 'data.execution.pendingStep.waits[0].toolName'],
    [inPending('waits', 0, 'args'), undefined, 'data.execution.pendingStep.waits[0].args'],
    [inPending('waits', 3, 'prompt'), 5, 'data.execution.pendingStep.waits[3].prompt'],
    [inPending('waits', 5, 'limit'), 'patience', 'data.execution.pendingStep.waits[5].limit'],
    [inPending('answers'), 'yes', 'data.execution.pendingStep.answers'],
    [inPending('answers', 0, 'type'), 'bribed', 'data.execution.pendingStep.answers[0].type'],
    [inPending('answers', 0, 'id'), undefined, 'data.execution.pendingStep.answers[0].id'],
    [inPending('answers', 1, 'reason'), undefined, 'data.execution.pendingStep.answers[1].reason'],
    [inPending('answers', 2, 'value'), undefined, 'data.execution.pendingStep.answers[2].value'],
  ])('of a waiting state, %j: %j', async (path, value, place) => {
    const answered = (await park()).approve('call-1').reject('call-2', 'no').answer('call-4', 'x');
    const input = damageField(answered, path, value);
    expect(() => ScriptedState.fromJSON(input)).toThrow(expect.objectContaining({ code: 'damaged-data', path: place }) as Error);
  });

  test.each([
    ['no JSON at all', 'nonsense'],
    ['half a text', '{"kind": "scripted-st'],
    ['nothing', ''],
  ])('%s', (_, text) => {
    expect(() => ScriptedState.codec.parse(text)).toThrow(expect.objectContaining({ code: 'damaged-data', path: '' }) as Error);
  });
});

test('a session’s first words survive many executions', async () => {
  const { orchestrator, start } = setUp([{ ...finishes, usage: { input: 1, output: 0 } }]);
  let state = start;
  for (let turn = 0; turn < 20; turn += 1)
    state = reread(await orchestrator.run(turn === 0 ? state : state.withUserMessage(`Turn ${turn}.`)));
  expect([state.session.executions.length, state.session.stepCount, state.messages.length]).toStrictEqual([20, 20, 40]);
  expect([state.messages.toArray()[0]?.text, state.session.usage]).toStrictEqual(['Hello.', Usage.of({ input: 20, output: 0 })]);
});

test('a change says that a model is skipped, and that it is not any more', () => {
  const { codec } = ScriptedState;
  const { start } = setUp([finishes]);
  const skipping = start.evolve({ coolDowns: { 'p/a': { failures: 1, until: 30 } } });
  const again = skipping.evolve({ coolDowns: undefined });
  const [before, after] = [codec.diff(start, skipping), codec.diff(skipping, again)];
  expect([before, after]).toStrictEqual([{ coolDowns: { 'p/a': { failures: 1, until: 30 } } }, { coolDowns: {} }]);
  expect(codec.patch(start, before).data).toStrictEqual(skipping.data);
  expect(codec.patch(skipping, after).data).toStrictEqual(again.data);
});
