// What stands in the state of a collaboration, whatever became of the turn: each write once, each approval once, and all of it stored.
import { describe, expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import { ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import type { Collaboration, CollaborationEvent, CollaborationOptions } from './index.ts';
import { agentCollaborator, BoardTool, CollaborationState, createCollaboration, llmCollaborator, scriptedCollaborator } from './index.ts';

const usage = { input: 3, output: 2 };
const write = (artifact: string, content: string): ScriptedToolCall => ({ name: BoardTool.Write, args: { artifact, content } });
const approve = (artifact: string): ScriptedToolCall => ({ name: BoardTool.Approve, args: { artifact } });
const call = (name: string): ScriptedToolCall => ({ name });
const calls = (...toolCalls: readonly ScriptedToolCall[]): ScriptedAnswer => ({ toolCalls, usage });
const says = (text: string): ScriptedAnswer => ({ text, usage });

const input = { type: 'object' } as const;
const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' });
const ask = defineClientTool({ name: 'ask', description: 'Asks the client.', input });
const breaks = defineTool({
  name: 'breaks',
  description: 'Breaks.',
  input,
  run: () => {
    throw new ToolFailedError('It broke.');
  },
});
const hangs = defineTool({ name: 'hangs', description: 'Hangs.', input, run: () => new Promise(() => undefined) });
const tools = [pay, ask, breaks, hangs];

function setUp(script: readonly ScriptedEntry[], more: Pick<CollaborationOptions, 'done' | 'errors' | 'limits'> = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const model = scriptedModel(script);
  const collaboration = createCollaboration({
    collaborators: [
      llmCollaborator({ name: 'ann', model, tools, errors: ErrorPolicy.stopOnAnyError() }),
      scriptedCollaborator({ name: 'bob', says: ['Hm.'] }),
    ],
    ports: { clock, ids, random: () => 0 },
    ...more,
  });
  return { collaboration, clock, ids, model, start: CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

const { codec } = CollaborationState;

/** The state after being stored, whole and as a change of an earlier one; both must say the same. */
function roundTrip(state: CollaborationState, before: CollaborationState): CollaborationState {
  const whole = CollaborationState.fromJSON(JSON.parse(JSON.stringify(state)));
  const patched = codec.patch(
    CollaborationState.fromJSON(JSON.parse(JSON.stringify(before))),
    JSON.parse(JSON.stringify(codec.diff(before, state))) as never,
  );
  for (const read of [whole, patched]) {
    expect(read.board.artifacts).toStrictEqual(state.board.artifacts);
    expect(read.approvals).toStrictEqual(state.approvals);
    expect(read.steps).toStrictEqual(state.steps);
    expect(JSON.parse(JSON.stringify(read))).toStrictEqual(JSON.parse(JSON.stringify(state)));
  }
  return whole;
}

const contents = (state: CollaborationState, name: string) =>
  state.board.get(name)?.versions.map(({ version, content }) => `${version} ${content}`);

describe('a turn that writes', () => {
  test.each([
    { what: 'its tool broke', script: [calls(write('draft', 'one')), calls(call('breaks'))] },
    { what: 'the model failed', script: [calls(write('draft', 'one')), { error: new Error('The model is down.') }] },
    { what: 'the model said nothing', script: [calls(write('draft', 'one')), { text: '', usage }] },
    { what: 'a call of the same answer broke', script: [calls(write('draft', 'one'), call('breaks'))] },
    { what: 'a call before it in the answer broke', script: [calls(call('breaks'), write('draft', 'one'))] },
  ])('and fails because $what: it is on the board once, and so after another try', async ({ script }) => {
    const { collaboration, start, ids } = setUp([...script, calls(write('draft', 'two')), says('Now.')]);
    const failed = await collaboration.run(start);
    expect([failed.status, failed.stepCount, failed.steps[0]?.participant]).toStrictEqual(['failed', 1, 'ann']);
    expect([contents(failed, 'draft'), failed.steps[0]?.changes]).toStrictEqual([
      ['1 one'],
      [{ type: 'write', artifact: 'draft', version: 1 }],
    ]);
    expect(failed.messages.length).toBe(1);
    const again = roundTrip(failed, start).withUserMessage('Again.', { ids });
    const end = await collaboration.run(again);
    // Whoever had the turn that failed has it again.
    expect([end.steps.map(({ participant }) => participant), end.status]).toStrictEqual([['ann', 'bob'], 'completed']);
    expect(contents(roundTrip(end, again), 'draft')).toStrictEqual(['1 one', '2 two']);
  });

  test('and fails, and is tried again by the policy: the write of each try is there once', async () => {
    const policy = ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 });
    const { collaboration, start } = setUp(
      [calls(write('draft', 'one')), { error: new Error('The model is down.') }, calls(write('draft', 'two')), says('Now.')],
      { errors: policy },
    );
    const end = await collaboration.run(start);
    expect(end.steps.map(({ participant, errors }) => [participant, errors.length])).toStrictEqual([
      ['ann', 1],
      ['ann', 0],
      ['bob', 0],
    ]);
    expect([end.status, contents(roundTrip(end, start), 'draft'), end.usage.total]).toStrictEqual(['completed', ['1 one', '2 two'], 15]);
  });

  test('and fits, fails, and is tried again: what was written since the input counts, whoever failed then', async () => {
    const { collaboration, start } = setUp([calls(write('data', '{}')), { error: new Error('The model is down.') }, says('It stands.')], {
      errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }),
      done: { artifact: 'data', schema: { type: 'object' } },
    });
    const end = await collaboration.run(start);
    expect(end.steps.map(({ participant, fit }) => [participant, fit?.ok])).toStrictEqual([
      ['ann', true],
      ['ann', true],
    ]);
    expect(end.status).toBe('completed');
  });

  test('and approves, and fails as the first since the input: it is one of the turns since then, also when another follows', async () => {
    const { collaboration, start } = setUp(
      [calls(write('draft', 'one'), approve('draft')), { error: new Error('The model is down.') }, says('It stands.')],
      { errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }), done: { approvedBy: ['ann'] }, limits: { steps: 3 } },
    );
    const first = await collaboration.nextStep(start);
    const second = await collaboration.nextStep(first);
    expect(second.turnsSinceInput.map(({ errors }) => errors.length)).toStrictEqual([1, 0]);
    expect(first.turnsSinceInput.map(({ errors }) => errors.length)).toStrictEqual([1]);
    // What was approved in a turn that failed was not approved.
    expect([first.approvals, second.approvals]).toStrictEqual([[], []]);
  });

  test('and is cut off by the signal: it is on the board once', async () => {
    const { collaboration, start } = setUp([calls(write('draft', 'one')), calls(call('hangs'))]);
    const host = new AbortController();
    const end = await collaboration.run(start, {
      signal: host.signal,
      onEvent: (event) => {
        if (event.type === 'ToolCallStarted' && event.tool === 'hangs') host.abort('enough');
      },
    });
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['stopped', 'user_requested', 1]);
    expect([contents(roundTrip(end, start), 'draft'), end.steps[0]?.changes]).toStrictEqual([
      ['1 one'],
      [{ type: 'write', artifact: 'draft', version: 1 }],
    ]);
  });

  test('and is cut off by a limit of time: it is on the board once', async () => {
    const { collaboration, start, clock } = setUp([calls(write('draft', 'one')), calls(call('hangs'))], { limits: { wallMs: 1000 } });
    const running = collaboration.run(start);
    await clock.advance(1000);
    const end = await running;
    expect([end.stopReason, contents(roundTrip(end, start), 'draft')]).toStrictEqual(['time_limit', ['1 one']]);
  });

  test('and is cut off by the budget of the whole: all that it wrote is on the board once', async () => {
    const { collaboration, start } = setUp([calls(write('draft', 'one')), calls(write('draft', 'two')), says('Never said.')], {
      limits: { tokens: 7 },
    });
    const end = await collaboration.run(start);
    expect([end.stopReason, end.stepCount, end.errors, end.messages.length]).toStrictEqual(['token_limit', 1, [], 1]);
    expect(contents(roundTrip(end, start), 'draft')).toStrictEqual(['1 one', '2 two']);
  });

  test('in an agent that fails: it is on the board all the same', async () => {
    const model = scriptedModel([calls(write('draft', 'one')), { error: new Error('The model is down.') }]);
    const agent = agentCollaborator({ name: 'ann', agent: (board) => createAgent({ model, capabilities: [board] }) });
    const { status, state } = await createCollaboration({ collaborators: [agent] }).start('Go.').result;
    expect([status, state.board.text('draft'), state.steps[0]?.changes]).toStrictEqual([
      'failed',
      'one',
      [{ type: 'write', artifact: 'draft', version: 1 }],
    ]);
  });
});

describe('a turn that writes, and waits', () => {
  const scripts: Readonly<Record<string, readonly ScriptedEntry[]>> = {
    'in a later answer': [calls(write('draft', 'one')), calls(call('pay')), calls(write('draft', 'two')), says('Done.')],
    'in the same answer, after the write': [calls(write('draft', 'one'), call('pay')), calls(write('draft', 'two')), says('Done.')],
    'in the same answer, before the write': [calls(call('pay'), write('draft', 'one')), calls(write('draft', 'two')), says('Done.')],
  };
  type Park = {
    readonly waiting: CollaborationState;
    readonly id: string;
    readonly collaboration: Collaboration;
    readonly start: CollaborationState;
  };
  const park = async (script: readonly ScriptedEntry[], events: CollaborationEvent[] = []): Promise<Park & ReturnType<typeof setUp>> => {
    const set = setUp(script);
    set.collaboration.wiretap((event) => events.push(event));
    const waiting = await set.collaboration.run(set.start);
    expect([waiting.status, waiting.waitingFor.length]).toStrictEqual(['waiting', 1]);
    return { ...set, waiting: roundTrip(waiting, set.start), id: waiting.waitingFor[0]?.id ?? '' };
  };

  describe.each(Object.entries(scripts))('%s', (_where, script) => {
    test('has its write on the board while it waits', async () => {
      const { waiting } = await park(script);
      expect([contents(waiting, 'draft'), waiting.stepCount, waiting.participant]).toStrictEqual([['1 one'], 0, 'ann']);
      expect(waiting.pendingStep?.partial.changes).toStrictEqual([{ type: 'write', artifact: 'draft', version: 1 }]);
    });

    test.each([
      { what: 'approved', go: (state: CollaborationState, id: string) => state.approve(id) },
      { what: 'rejected', go: (state: CollaborationState, id: string) => state.reject(id, 'no') },
    ])('is $what, and goes on: each write is there once', async ({ go, what }) => {
      const events: CollaborationEvent[] = [];
      const { waiting, id, collaboration, start } = await park(script, events);
      const end = await collaboration.run(roundTrip(go(waiting, id), waiting));
      // A rejection is a failed call for the model, and this one's policy stops at none of those.
      expect([end.status, what]).toStrictEqual(['completed', what]);
      expect(contents(roundTrip(roundTrip(end, waiting), start), 'draft')).toStrictEqual(['1 one', '2 two']);
      expect(end.steps.map(({ participant, changes }) => [participant, changes?.length])).toStrictEqual([
        ['ann', 2],
        ['bob', undefined],
      ]);
      const told = events.flatMap((event) => (event.type === 'BoardUpdated' ? event.changes : []));
      expect(told.map(({ version }) => version)).toStrictEqual([1, 2]);
    });

    test('is superseded by a message: the write stays, once, and the turn is closed', async () => {
      const { waiting, collaboration, ids } = await park(script);
      const next = roundTrip(waiting.withUserMessage('Forget it.', { ids }), waiting);
      expect([next.status, contents(next, 'draft'), next.waitingFor]).toStrictEqual(['pending', ['1 one'], []]);
      expect(next.session.executions[0]?.results.last?.step.changes).toStrictEqual([{ type: 'write', artifact: 'draft', version: 1 }]);
      const end = await collaboration.nextStep(next);
      expect([end.participant, contents(roundTrip(end, next), 'draft')]).toStrictEqual(['bob', ['1 one']]);
    });

    test('is cancelled: the write stays, once', async () => {
      const { waiting, ids } = await park(script);
      const end = roundTrip(waiting.cancel('enough', { ids }), waiting);
      expect([end.status, contents(end, 'draft'), end.steps[0]?.changes]).toStrictEqual([
        'stopped',
        ['1 one'],
        [{ type: 'write', artifact: 'draft', version: 1 }],
      ]);
    });

    test('while something is put there from outside: the versions go on behind it', async () => {
      const { waiting, id, collaboration, ids } = await park(script);
      const end = await collaboration.run(roundTrip(waiting.withArtifact('draft', 'outside', { ids }).approve(id), waiting));
      expect(contents(roundTrip(end, waiting), 'draft')).toStrictEqual(['1 one', '2 outside', '3 two']);
    });
  });

  test('for a client, twice, with a write before each', async () => {
    const { collaboration, start } = setUp([
      calls(write('draft', 'one'), call('ask')),
      calls(write('draft', 'two'), write('plan', 'x'), call('ask')),
      calls(write('draft', 'three')),
      says('Done.'),
    ]);
    let state = await collaboration.run(start);
    expect(contents(state, 'draft')).toStrictEqual(['1 one']);
    state = await collaboration.run(roundTrip(state, start).answer(state.waitingFor[0]?.id ?? '', 'well'));
    expect([contents(state, 'draft'), contents(state, 'plan'), state.waitingFor.length]).toStrictEqual([['1 one', '2 two'], ['1 x'], 1]);
    const end = await collaboration.run(roundTrip(state, start).answer(state.waitingFor[0]?.id ?? '', 'well'));
    expect([contents(roundTrip(end, state), 'draft'), contents(end, 'plan')]).toStrictEqual([['1 one', '2 two', '3 three'], ['1 x']]);
    expect(end.steps[0]?.changes).toHaveLength(4);
  });

  test('keeps an approval that was given before it waited', async () => {
    const { collaboration, start } = setUp([calls(write('draft', 'one'), approve('draft'), call('pay')), says('Done.')], {
      done: { approvedBy: ['ann'] },
    });
    const waiting = await collaboration.run(start);
    const end = await collaboration.run(roundTrip(waiting, start).approve(waiting.waitingFor[0]?.id ?? ''));
    expect([end.status, end.approvals]).toStrictEqual(['completed', [{ by: 'ann', artifact: 'draft', version: 1 }]]);
  });
});

describe('a state', () => {
  test('has the first words from outside as its task', () => {
    const ids = createCountingIds();
    const empty = CollaborationState.empty({ ids });
    const asked = empty.withUserMessage('Go.', { ids });
    expect([empty.task, asked.task, asked.withUserMessage('And now?', { ids }).task]).toStrictEqual(['', 'Go.', 'Go.']);
  });

  test('takes artifacts from outside before, between and after runs, and opens no execution by that', async () => {
    const { collaboration, start, ids } = setUp([says('I see.')]);
    const begun = start.withArtifact('brief', 'x', { ids }).withArtifact('brief', 'y', { ids });
    expect([contents(begun, 'brief'), begun.status, start.board.isEmpty]).toStrictEqual([['1 x', '2 y'], 'pending', true]);
    const end = await collaboration.run(roundTrip(begun, start));
    const after = end.withArtifact('brief', 'z', { ids });
    expect([after.status, after.session.executions.length, contents(roundTrip(after, end), 'brief')]).toStrictEqual([
      'completed',
      1,
      ['1 x', '2 y', '3 z'],
    ]);
    expect([end.board.get('brief')?.version, collaboration.hasNextStep(after)]).toStrictEqual([2, false]);
  });

  test.each([
    ['', 'x'],
    [4, 'x'],
    ['a', 4],
    ['a', { b: 1 }],
  ])('refuses the artifact %j with %j', (name, content) => {
    expect(() => CollaborationState.empty().withArtifact(name as never, content as never)).toThrow(InvalidArgumentError);
  });

  test('forks with its board, and each goes its way', async () => {
    const { collaboration, start, ids } = setUp([calls(write('draft', 'one')), says('x'), calls(write('draft', 'two')), says('y')]);
    const end = await collaboration.run(start);
    const fork = end.fork({ ids }).withUserMessage('Other.', { ids });
    const other = await collaboration.run(fork);
    expect([contents(end, 'draft'), contents(other, 'draft')]).toStrictEqual([['1 one'], ['1 one', '2 two']]);
  });
});
