// Which approvals count: S1, and what a person had before their eyes.
import { describe, expect, test } from 'vitest';
import type { Participant } from '../chat/index.ts';
import { ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { CollaborationEvent, CollaborationOptions, Completion, ContributionInput } from './index.ts';
import {
  BoardTool,
  CollaborationState,
  createCollaboration,
  functionCollaborator,
  humanCollaborator,
  llmCollaborator,
  scriptedCollaborator,
} from './index.ts';

const usage = { input: 3, output: 2 };
const says = (name: string, ...words: readonly ContributionInput[]): Participant => scriptedCollaborator({ name, says: words });
const roundTrip = (state: CollaborationState): CollaborationState => CollaborationState.fromJSON(JSON.parse(JSON.stringify(state)));
const order = ({ steps }: CollaborationState) => steps.map(({ participant }) => participant);

function setUp(options: Omit<CollaborationOptions<readonly Participant[]>, 'ports'>) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const collaboration = createCollaboration({ ...options, ports: { clock, ids, random: () => 0, onProblem: () => undefined } });
  const events: CollaborationEvent[] = [];
  collaboration.wiretap((event) => events.push(event));
  const start = CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }).withArtifact('draft', 'zero', { ids });
  return { collaboration, clock, ids, events, start };
}

const policy = ErrorPolicy.retryAll(9).withBackoff({ baseMs: 0 });
const good: ContributionInput = { text: 'Good.', approves: ['draft'] };

describe('an input that joins while a turn fails', () => {
  /** ann approves, bob fails once, and approves then; cat is never content. */
  const cast = () => {
    let tries = 0;
    const bob = functionCollaborator({
      name: 'bob',
      speak: () => {
        tries += 1;
        if (tries === 1) throw new Error('not now');
        return good;
      },
    });
    return setUp({ collaborators: [says('ann', good), bob, says('cat', '.')], done: { approvedBy: ['ann', 'bob'] }, errors: policy });
  };

  test('ends the approvals before it, though the failed turn between left no word', async () => {
    const { collaboration, start, ids } = cast();
    const failed = await collaboration.nextStep(await collaboration.nextStep(start));
    expect([order(failed), failed.approvals.map(({ by }) => by), failed.currentStep?.errors.length]).toStrictEqual([
      ['ann', 'bob'],
      ['ann'],
      1,
    ]);
    const joined = roundTrip(failed.withUserMessage('Wait.', { ids }));
    expect([joined.approvals, joined.turnsSinceInput, joined.session.executions.length]).toStrictEqual([[], [], 1]);
  });

  test('lets those count that are given after it: the try that follows is one of them, and the turn that failed is none', async () => {
    const { collaboration, start, ids } = cast();
    const end = await collaboration.run(start, {
      between: (state) =>
        state.stepCount === 2 && state.messages.at(-1)?.text !== 'Wait.'
          ? { state: roundTrip(state.withUserMessage('Wait.', { ids })) }
          : undefined,
    });
    // bob tries again, and ann has to be asked again: her words did not answer that.
    expect([order(end), end.status]).toStrictEqual([['ann', 'bob', 'bob', 'cat', 'ann'], 'completed']);
    expect(end.turnsSinceInput.map(({ participant, errors }) => [participant, errors.length])).toStrictEqual([
      ['bob', 0],
      ['cat', 0],
      ['ann', 0],
    ]);
    expect(end.approvals.map(({ by }) => by)).toStrictEqual(['bob', 'ann']);
  });

  test('before the turn fails: what was approved between counts', async () => {
    const { collaboration, start, ids } = cast();
    const end = await collaboration.run(start.withUserMessage('And soon.', { ids }));
    expect([order(end), end.approvals.map(({ by }) => by), end.status]).toStrictEqual([['ann', 'bob', 'bob'], ['ann', 'bob'], 'completed']);
  });

  test('joins while a turn is under way: what that turn approves was begun without it', async () => {
    const { collaboration, start, ids } = setUp({
      collaborators: [says('ann', good), says('bob', '.')],
      done: { approvedBy: ['ann', 'bob'] },
    });
    const end = (await collaboration.nextStep(start)).withUserMessage('Wait.', { ids });
    expect([end.approvals, roundTrip(end).approvals, end.steps[0]?.changes?.length]).toStrictEqual([[], [], 1]);
  });
});

describe('what was approved in a turn', () => {
  const input = { type: 'object' } as const;
  const breaks = defineTool({
    name: 'breaks',
    description: 'Breaks.',
    input,
    run: () => {
      throw new ToolFailedError('It broke.');
    },
  });
  const hangs = defineTool({ name: 'hangs', description: 'Hangs.', input, run: () => new Promise(() => undefined) });
  const approve: ScriptedAnswer = { toolCalls: [{ name: BoardTool.Approve, args: { artifact: 'draft' } }], usage };
  const call = (name: string): ScriptedAnswer => ({ toolCalls: [{ name }], usage });
  const ann = (script: readonly ScriptedEntry[], limits: { readonly steps?: number } = {}): Participant =>
    llmCollaborator({ name: 'ann', model: scriptedModel(script), tools: [breaks, hangs], errors: ErrorPolicy.stopOnAnyError(), limits });
  const done = { approvedBy: ['ann'] };
  const approved = [{ type: 'approve', artifact: 'draft', version: 1 }];

  test.each([
    { what: 'failed by its tool', script: [approve, call('breaks')] },
    { what: 'failed by its model', script: [approve, { error: new Error('The model is down.') }] },
    { what: 'said nothing', script: [approve, { text: '', usage }] },
    { what: 'came to a limit of its own', script: [approve, approve], limits: { steps: 2 } },
  ])('that $what was not approved', async ({ script, limits }) => {
    const { collaboration, start } = setUp({ collaborators: [ann(script, limits)], done });
    const end = await collaboration.run(start);
    expect([end.status, end.steps[0]?.changes?.[0], end.approvals]).toStrictEqual(['failed', approved[0], []]);
    expect(roundTrip(end).approvals).toStrictEqual([]);
  });

  test('that failed is approved by the try that follows, where that approves', async () => {
    const { collaboration, start } = setUp({
      collaborators: [ann([approve, { error: new Error('The model is down.') }, approve, { text: 'Good.', usage }])],
      done,
      errors: policy,
    });
    const first = await collaboration.nextStep(start);
    expect([first.approvals, collaboration.hasNextStep(first)]).toStrictEqual([[], true]);
    const end = await collaboration.run(first);
    expect([end.status, end.stepCount, end.approvals.length]).toStrictEqual(['completed', 2, 1]);
  });

  test('that was cut off by the signal was not approved', async () => {
    const { collaboration, start } = setUp({ collaborators: [ann([approve, call('hangs')])], done });
    const host = new AbortController();
    const end = await collaboration.run(start, {
      signal: host.signal,
      onEvent: (event) => {
        if (event.type === 'ToolCallStarted' && event.tool === 'hangs') host.abort('enough');
      },
    });
    expect([end.status, end.steps[0]?.interrupted !== undefined, end.steps[0]?.changes, end.approvals]).toStrictEqual([
      'stopped',
      true,
      approved,
      [],
    ]);
  });

  test('that was cut off by a limit of time was not approved', async () => {
    const { collaboration, start, clock } = setUp({ collaborators: [ann([approve, call('hangs')])], done, limits: { wallMs: 1000 } });
    const running = collaboration.run(start);
    await clock.advance(1000);
    const end = await running;
    expect([end.stopReason, end.steps[0]?.changes, end.approvals]).toStrictEqual(['time_limit', approved, []]);
  });

  test('that was cut off by the budget of the whole was not approved, and can be once more was granted', async () => {
    const { collaboration, start } = setUp({
      collaborators: [ann([approve, approve, { text: 'Good.', usage }])],
      done,
      limits: { tokens: 4, onLimit: 'pause' },
    });
    const paused = roundTrip(await collaboration.run(start));
    expect([paused.status, paused.steps[0]?.interrupted, paused.steps[0]?.changes, paused.approvals]).toStrictEqual([
      'waiting',
      'vote',
      approved,
      [],
    ]);
    const end = await collaboration.run(paused.grant({ tokens: 100 }));
    expect([end.status, order(end), end.approvals]).toStrictEqual([
      'completed',
      ['ann', 'ann'],
      [{ by: 'ann', artifact: 'draft', version: 1 }],
    ]);
  });

  test('that waited and was given up for a message was not approved', async () => {
    const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' });
    const both: ScriptedAnswer = { toolCalls: [{ name: BoardTool.Approve, args: { artifact: 'draft' } }, { name: 'pay' }], usage };
    const { collaboration, start, ids } = setUp({
      collaborators: [llmCollaborator({ name: 'ann', model: scriptedModel([both]), tools: [pay] })],
      done,
    });
    const waiting = await collaboration.run(start);
    const cancelled = waiting.cancel('enough', { ids });
    expect([waiting.status, cancelled.steps[0]?.changes, cancelled.approvals]).toStrictEqual(['waiting', approved, []]);
    expect(waiting.withUserMessage('Forget it.', { ids }).approvals).toStrictEqual([]);
  });
});

describe('a person who was asked', () => {
  const boss = (prompt?: string) => humanCollaborator({ name: 'boss', ...(prompt !== undefined && { prompt }) });
  const runToQuestion = async () => {
    const set = setUp({ collaborators: [boss(), says('ann', '.')], done: { approvedBy: ['boss'] } });
    return { ...set, waiting: roundTrip(await set.collaboration.run(set.start)) };
  };
  const hint = (what: string): string => `Approve ${what} with { approves: [name] }, or say what has to change.`;

  test('does not approve a version that they never saw: they are asked again, and told why', async () => {
    const { collaboration, waiting, ids, events } = await runToQuestion();
    const changed = roundTrip(waiting.withArtifact('draft', 'one', { ids }));
    const again = roundTrip(await collaboration.run(changed.answer('boss/1', { approves: ['draft'] })));
    expect([again.status, again.approvals, again.stepCount]).toStrictEqual(['waiting', [], 0]);
    expect(again.waitingFor).toStrictEqual([
      {
        type: 'person',
        id: 'boss/1',
        participant: 'boss',
        problem: expect.stringMatching(/"draft" has changed since it was shown: it is version 2/) as string,
        prompt: hint('"draft" (version 2)'),
      },
    ]);
    const told = events.flatMap((event) => (event.type === 'PersonAsked' ? [[event.waitId, event.problem !== undefined]] : []));
    expect(told).toStrictEqual([
      ['boss/1', false],
      ['boss/1', true],
    ]);
    // Now they have seen it.
    const end = await collaboration.run(again.answer('boss/1', { approves: ['draft'] }));
    expect([end.status, end.approvals]).toStrictEqual(['completed', [{ by: 'boss', artifact: 'draft', version: 2 }]]);
  });

  test('may have to look again more than once', async () => {
    const { collaboration, waiting, ids } = await runToQuestion();
    let state = waiting;
    for (const content of ['one', 'two', 'three']) {
      state = await collaboration.run(state.withArtifact('draft', content, { ids }).answer('boss/1', { approves: ['draft'] }));
      expect([state.status, state.waitingFor[0]?.type === 'person' && state.waitingFor[0].problem !== undefined]).toStrictEqual([
        'waiting',
        true,
      ]);
    }
    expect((await collaboration.run(state.answer('boss/1', { approves: ['draft'] }))).approvals[0]?.version).toBe(4);
  });

  test.each(['plan', '__proto__', 'constructor'])('does not approve the artifact %s that came after the question', async (name) => {
    const { collaboration, waiting, ids } = await runToQuestion();
    const again = await collaboration.run(waiting.withArtifact(name, 'x', { ids }).answer('boss/1', { approves: [name, 'draft'] }));
    expect([again.status, again.waitingFor]).toMatchObject([
      'waiting',
      [{ problem: expect.stringContaining(`"${name}" has changed since it was shown: it is version 1`) as string }],
    ]);
    const end = await collaboration.run(roundTrip(again).answer('boss/1', { approves: [name, 'draft'] }));
    expect([end.status, end.approvals.length]).toStrictEqual(['completed', 2]);
  });

  test.each<{ what: string; said: ContributionInput }>([
    { what: 'says something', said: 'Hm.' },
    { what: 'writes it anew and approves that', said: { writes: { draft: 'mine' }, approves: ['draft'] } },
    { what: 'approves what has not changed', said: { approves: ['plan'] } },
  ])('and $what after a change has had the turn', async ({ said }) => {
    const set = setUp({ collaborators: [boss(), says('ann', '.')], done: { approvedBy: ['boss'] } });
    const waiting = await set.collaboration.run(set.start.withArtifact('plan', 'x', { ids: set.ids }));
    const after = await set.collaboration.nextStep(waiting.withArtifact('draft', 'one', { ids: set.ids }).answer('boss/1', said));
    expect([after.stepCount, order(after), after.errors]).toStrictEqual([1, ['boss'], []]);
  });

  test('sees their own words as the version that they approve', async () => {
    const { collaboration, waiting, ids } = await runToQuestion();
    const changed = waiting.withArtifact('draft', 'one', { ids });
    const end = await collaboration.run(changed.answer('boss/1', { writes: { draft: 'mine' }, approves: ['draft'] }));
    expect([end.status, end.approvals, end.board.text('draft')]).toStrictEqual([
      'completed',
      [{ by: 'boss', artifact: 'draft', version: 3 }],
      'mine',
    ]);
  });

  test.each<{ what: string; given?: string; done: Completion; prompt: string | undefined }>([
    { what: 'with a prompt reads that', given: 'Good?', done: { approvedBy: ['boss'] }, prompt: 'Good?' },
    {
      what: 'without one is told what there is to approve',
      done: { approvedBy: ['boss'] },
      prompt: hint('"draft" (version 1), "plan" (version 2)'),
    },
    {
      what: 'is told of the artifact that counts alone',
      done: { approvedBy: ['boss', 'ann'], artifact: 'plan' },
      prompt: hint('"plan" (version 2)'),
    },
    { what: 'who may not approve is told nothing', done: { approvedBy: ['ann'] }, prompt: undefined },
    { what: 'is told nothing of what is not there yet', done: { approvedBy: ['boss'], artifact: 'poem' }, prompt: undefined },
  ])('$what', async ({ given, done, prompt }) => {
    const { collaboration, start, ids } = setUp({ collaborators: [boss(given), says('ann', '.')], done });
    const waiting = await collaboration.run(start.withArtifact('plan', 'x', { ids }).withArtifact('plan', 'y', { ids }));
    const own = { type: 'person', id: 'boss/1', participant: 'boss' };
    expect(waiting.waitingFor).toStrictEqual([prompt === undefined ? own : { ...own, prompt }]);
  });

  test('is given up for a message: the turn is closed, and the next question is another', async () => {
    const { collaboration, waiting, ids } = await runToQuestion();
    const next = roundTrip(waiting.withUserMessage('No, the pot.', { ids }));
    const closed = next.session.executions[0]?.results.last?.step;
    expect([next.status, next.waitingFor, closed?.participant, closed?.interrupted]).toStrictEqual(['pending', [], 'boss', 'superseded']);
    // A turn that was given up was taken.
    const again = await collaboration.run(next);
    expect([order(again), again.waitingFor.map(({ id }) => id)]).toStrictEqual([['ann'], ['boss/3']]);
  });

  test('and is gone in the next release: the words are said under that name', async () => {
    const { collaboration, waiting } = await runToQuestion();
    const next = collaboration.with({ collaborators: [says('ann', '.'), says('bob', good)], done: { approvedBy: ['bob'] } });
    const after = await next.nextStep(roundTrip(waiting.answer('boss/1', { text: 'Longer!', writes: { draft: 'one' } })));
    expect([after.transcript.at(-1), after.board.get('draft')?.author, after.errors]).toStrictEqual([
      { speaker: 'boss', text: 'Longer!' },
      'boss',
      [],
    ]);
    expect(order(await next.run(after)).at(-1)).toBe('bob');
  });

  test('is not waited for any more where the run is cancelled', async () => {
    const { waiting, ids } = await runToQuestion();
    const end = roundTrip(waiting.cancel('enough', { ids }));
    expect([end.status, end.waitingFor, end.steps.map(({ participant }) => participant)]).toStrictEqual(['stopped', [], ['boss']]);
  });
});
