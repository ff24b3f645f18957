// Handing over: H1, the last turn, and that nobody is left out.
import { describe, expect, test } from 'vitest';
import type { Participant } from '../chat/index.ts';
import { byMention } from '../chat/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedAnswer } from '../testing/index.ts';
import { criterionConformance, scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import { AnswersHandoffs } from './handoff.ts';
import type { CollaborationOptions, ContributionInput } from './index.ts';
import { BoardTool, CollaborationState, createCollaboration, humanCollaborator, llmCollaborator, scriptedCollaborator } from './index.ts';

const usage = { input: 3, output: 2 };
const to = (name: string): ContributionInput => ({ text: `${name}?`, handoff: { to: name, reason: `ask ${name}` } });
const says = (name: string, ...words: readonly ContributionInput[]): Participant => scriptedCollaborator({ name, says: words });
const order = ({ steps }: CollaborationState) => steps.map(({ participant }) => participant);
const describeSelection = ({ steps }: CollaborationState) => steps.map(({ selection }) => selection?.by);
const roundTrip = (state: CollaborationState): CollaborationState => CollaborationState.fromJSON(JSON.parse(JSON.stringify(state)));

function setUp(options: Omit<CollaborationOptions<readonly Participant[]>, 'ports'>) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const collaboration = createCollaboration({ ...options, ports: { clock, ids } });
  return { collaboration, clock, ids, start: CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

describe('a handover in the last turn', () => {
  test('is answered by one more turn, though everyone has spoken', async () => {
    const { collaboration, start } = setUp({ collaborators: [says('ann', '.'), says('bob', '.'), says('cat', to('bob'))] });
    const end = await collaboration.run(start);
    expect([order(end), end.status, describeSelection(end).at(-1)]).toStrictEqual([['ann', 'bob', 'cat', 'bob'], 'completed', 'handoff']);
    const vote = end.stepResults[2]?.outcome.evaluations.find(({ criterion }) => criterion === 'EveryoneHasSpoken');
    expect([vote?.decision, vote?.reason]).toStrictEqual(['request', 'cat handed over: ask bob']);
    expect(end.lastContinuationOutcome?.resolvedBy).toBe('EveryoneHasSpoken');
  });

  test('also where it is taken up elsewhere', async () => {
    const { collaboration, start } = setUp({ collaborators: [says('ann', '.'), says('bob', to('ann'), '.')] });
    let state = start;
    for (let turn = 0; turn < 2; turn += 1) state = roundTrip(await collaboration.nextStep(state));
    expect(collaboration.hasNextStep(state)).toBe(true);
    state = roundTrip(await collaboration.nextStep(state));
    expect([order(state), collaboration.hasNextStep(state)]).toStrictEqual([['ann', 'bob', 'ann'], false]);
  });

  test('that is handed on is answered too, until nobody hands over', async () => {
    const { collaboration, start } = setUp({
      collaborators: [says('ann', '.', to('bob'), '.'), says('bob', to('ann'), to('ann'))],
    });
    const end = await collaboration.run(start);
    expect([order(end), end.status]).toStrictEqual([['ann', 'bob', 'ann', 'bob', 'ann'], 'completed']);
  });

  test('does not go beyond a limit; where that pauses, something is left to do', async () => {
    const options = { collaborators: [says('ann', '.'), says('bob', to('ann'))] };
    const stopped = setUp({ ...options, limits: { steps: 2 } });
    expect((await stopped.collaboration.run(stopped.start)).stopReason).toBe('steps_limit');
    const paused = setUp({ ...options, limits: { steps: 2, onLimit: 'pause' } });
    const waiting = await paused.collaboration.run(paused.start);
    expect(waiting.waitingFor.map(({ type }) => type)).toStrictEqual(['grant']);
    const end = await paused.collaboration.run(roundTrip(waiting).grant({ steps: 1 }));
    expect([order(end), describeSelection(end).at(-1), end.waitingFor]).toStrictEqual([['ann', 'bob', 'ann'], 'handoff', []]);
  });

  test('makes no difference where the task is done', async () => {
    const { collaboration, start } = setUp({
      collaborators: [
        says('ann', { writes: { draft: 'x' } }),
        says('bob', { approves: ['draft'], handoff: { to: 'ann', reason: 'look' } }),
      ],
      done: { approvedBy: ['bob'] },
    });
    const end = await collaboration.run(start);
    expect([order(end), end.status]).toStrictEqual([['ann', 'bob'], 'completed']);
  });

  test('to a person is waited for', async () => {
    const { collaboration, start } = setUp({ collaborators: [humanCollaborator({ name: 'boss' }), says('ann', to('boss'), '.')] });
    const first = await collaboration.run(start);
    const second = await collaboration.run(first.answer('boss/1', 'Begin.'));
    expect([second.status, second.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', ['boss/3']]);
    const end = await collaboration.run(roundTrip(second).answer('boss/3', 'Fine.'));
    expect([order(end), end.status]).toStrictEqual([['boss', 'ann', 'boss'], 'completed']);
  });
});

describe('a handover of a turn that was cut off', () => {
  const hangs = defineTool({ name: 'hangs', description: 'Hangs.', input: { type: 'object' }, run: () => new Promise(() => undefined) });
  const handoff: ScriptedAnswer = { toolCalls: [{ name: BoardTool.Handoff, args: { to: 'cat', reason: 'look' } }], usage };

  test('does not count: whoever had the turn has it again', async () => {
    const script = [handoff, { text: 'I thought better of it.', usage }];
    const ann = llmCollaborator({ name: 'ann', model: scriptedModel(script) });
    const { collaboration, start } = setUp({
      collaborators: [ann, says('bob', '.'), says('cat', '.')],
      limits: { tokens: 4, onLimit: 'pause' },
    });
    const paused = roundTrip(await collaboration.run(start));
    expect([paused.status, order(paused), paused.steps[0]?.interrupted]).toStrictEqual(['waiting', ['ann'], 'vote']);
    const end = await collaboration.run(paused.grant({ tokens: 100 }));
    expect([order(end), new Set(describeSelection(end))]).toStrictEqual([['ann', 'ann', 'bob', 'cat'], new Set(['round-robin', 'retry'])]);
  });

  test('does not count after the next input either', async () => {
    const script: readonly ScriptedAnswer[] = [handoff, { toolCalls: [{ name: 'hangs' }], usage }, { text: '.', usage }];
    const ann = llmCollaborator({ name: 'ann', model: scriptedModel(script), tools: [hangs] });
    const { collaboration, start, ids } = setUp({ collaborators: [ann, says('bob', '.'), says('cat', '.')] });
    const host = new AbortController();
    const cut = await collaboration.run(start, {
      signal: host.signal,
      onEvent: (event) => {
        if (event.type === 'ToolCallStarted' && event.tool === 'hangs') host.abort('enough');
      },
    });
    expect([cut.status, cut.steps[0]?.changes?.length]).toStrictEqual(['stopped', 1]);
    const end = await collaboration.run(roundTrip(cut).withUserMessage('Again.', { ids }));
    expect([order(end), end.status]).toStrictEqual([['ann', 'bob', 'cat'], 'completed']);
  });
});

describe('nobody is left out', () => {
  const collaborators = [says('a', to('c')), says('b', '.'), says('c', '.')];

  test('where the first always hands over to the last', async () => {
    const { collaboration, start, ids } = setUp({ collaborators });
    const end = await collaboration.run(start);
    // Nobody has a third turn before everyone has had a first.
    const [round, by] = ['round-robin', 'handoff'];
    expect([order(end), describeSelection(end), end.status]).toStrictEqual([
      ['a', 'c', 'a', 'c', 'b'],
      [round, by, round, by, round],
      'completed',
    ]);
    // The next round begins behind who had the last turn.
    const again = await collaboration.run(roundTrip(end).withUserMessage('More.', { ids }));
    expect([order(again), again.status]).toStrictEqual([['c', 'a', 'c', 'a', 'c', 'b'], 'completed']);
  });

  test('where somebody else has to approve, at once', async () => {
    const { collaboration, start } = setUp({
      collaborators: [
        says('a', { writes: { draft: 'x' }, handoff: { to: 'c', reason: 'look' } }),
        says('b', { approves: ['draft'] }),
        says('c', '.'),
      ],
      done: { approvedBy: ['b'] },
    });
    const end = await collaboration.run(start);
    expect([order(end), end.status]).toStrictEqual([['a', 'c', 'a', 'c', 'b'], 'completed']);
  });

  test('where somebody else has to approve, who is not content at first', async () => {
    const { collaboration, start } = setUp({
      collaborators: [
        says('a', { writes: { draft: 'x' }, handoff: { to: 'c', reason: 'look' } }),
        says('b', 'Longer!', { approves: ['draft'] }),
        says('c', '.'),
      ],
      done: { approvedBy: ['b'] },
    });
    const end = await collaboration.run(start);
    expect([order(end).filter((name) => name === 'b').length, end.status]).toStrictEqual([2, 'completed']);
  });

  test('where a name is called, and the round decides otherwise', async () => {
    const { collaboration, start } = setUp({
      collaborators: [says('a', '@c, look.'), says('b', '.'), says('c', '.')],
      selector: byMention(),
    });
    expect(order(await collaboration.run(start))).toStrictEqual(['a', 'c', 'a', 'c', 'b']);
  });

  test('by an input that joins: everyone is heard after it', async () => {
    const { collaboration, start, ids } = setUp({ collaborators });
    const end = await collaboration.run(start, {
      between: (state) =>
        state.stepCount === 2 && state.messages.at(-1)?.text !== 'Wait.' ? { state: state.withUserMessage('Wait.', { ids }) } : undefined,
    });
    expect([end.status, new Set(end.turnsSinceInput.map(({ participant }) => participant))]).toStrictEqual([
      'completed',
      new Set(['a', 'b', 'c']),
    ]);
  });
});

const anyState = CollaborationState.empty().withUserMessage('Go.');
test.each(criterionConformance(new AnswersHandoffs(['ann']), [anyState, anyState.withArtifact('a', 'x')]))('$name', ({ run }) => run());
