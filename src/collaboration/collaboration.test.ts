import { describe, expect, test } from 'vitest';
import { ContinuationDecision, when } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../lib/index.ts';
import type { Participant } from '../chat/index.ts';
import { ConversationFailedError } from '../chat/index.ts';
import type { ScriptedAnswer, ScriptedToolCall } from '../testing/index.ts';
import { orchestratorConformance, scriptedModel } from '../testing/index.ts';
import type { CollaborationEvent, CollaborationOptions, ContributionInput } from './index.ts';
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
const broken = (name: string, message = 'It broke.'): Participant =>
  functionCollaborator({ name, speak: () => Promise.reject(new Error(message)) });

function setUp(options: Omit<CollaborationOptions<readonly Participant[]>, 'ports'>) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const problems: unknown[] = [];
  const collaboration = createCollaboration({
    ...options,
    ports: { clock, ids, random: () => 0, onProblem: (problem: unknown) => void problems.push(problem) },
  });
  const events: CollaborationEvent[] = [];
  collaboration.wiretap((event) => events.push(event));
  return { collaboration, clock, ids, events, problems, start: CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

describe('without a word about when it is done', () => {
  test('it ends when everyone has had a turn since the input', async () => {
    const { collaboration, start, ids } = setUp({
      collaborators: [says('ann', { writes: { draft: 'x' } }), says('bob', 'y'), says('cat', '')],
    });
    const end = await collaboration.run(start);
    expect([order(end), end.status, end.lastContinuationOutcome?.resolvedBy]).toStrictEqual([
      ['ann', 'bob', 'cat'],
      'completed',
      'EveryoneHasSpoken',
    ]);
    const again = await collaboration.run(roundTrip(end).withUserMessage('More.', { ids }));
    expect([order(again), again.board.get('draft')?.version, again.task]).toStrictEqual([['ann', 'bob', 'cat'], 2, 'Go.']);
  });

  test('handing to and fro is no turn of those who wait, and the limit of turns ends it', async () => {
    const to = (name: string): ContributionInput => ({ handoff: { to: name, reason: 'look' } });
    const { collaboration, start } = setUp({ collaborators: [says('ann', to('bob')), says('bob', to('ann')), says('cat', 'x')] });
    const end = await collaboration.run(start);
    expect([end.stopReason, end.stepCount, new Set(order(end))]).toStrictEqual(['steps_limit', 16, new Set(['ann', 'bob'])]);
  });

  test('the rules are those of a chat', () => {
    const { collaboration } = setUp({ collaborators: [says('ann', 'x')] });
    const { criteria, selector } = collaboration.describe();
    for (const name of ['StepsLimit', 'TokenUsageLimit', 'FinishReasonCheck', 'ErrorPolicyCriterion', 'EveryoneHasSpoken'])
      expect(criteria).toContain(name);
    expect([selector, collaboration.name, collaboration.id]).toStrictEqual(['round-robin', 'collaboration', 'collaboration']);
  });
});

describe('the turn is handed over', () => {
  const to = (name: string, text = ''): ContributionInput => ({ text, handoff: { to: name, reason: `ask ${name}` } });
  const names = ['ann', 'bob', 'cat'];
  const cast = (said: Readonly<Record<string, readonly ContributionInput[]>>) => names.map((name) => says(name, ...(said[name] ?? ['.'])));

  test.each([
    { what: 'past the next one', said: { ann: [to('cat')] }, turns: ['ann', 'cat', 'ann', 'bob'].slice(0, 2), next: 'cat' },
    { what: 'to the next one', said: { ann: [to('bob')] }, turns: ['ann', 'bob'], next: 'bob' },
    { what: 'back', said: { ann: ['.'], bob: [to('ann')] }, turns: ['ann', 'bob', 'ann'], next: 'ann' },
    { what: 'by nobody', said: {}, turns: ['ann', 'bob'], next: undefined },
  ])('$what', async ({ said, turns, next }) => {
    const { collaboration, start, events } = setUp({ collaborators: cast(said), limits: { steps: turns.length } });
    const end = await collaboration.run(start);
    expect(order(end)).toStrictEqual(turns);
    const from = turns.at(-2) ?? '';
    expect(end.steps.at(-1)?.selection).toStrictEqual(
      next === undefined ? { by: 'round-robin' } : { by: 'handoff', reason: `${from} handed over: ask ${next}` },
    );
    const told = events.flatMap((event) => (event.type === 'ParticipantSelected' ? [event] : [])).at(-1);
    expect([told?.participant, told?.selectedBy]).toStrictEqual([turns.at(-1), next === undefined ? 'round-robin' : 'handoff']);
    expect(roundTrip(end).steps.at(-1)?.selection).toStrictEqual(end.steps.at(-1)?.selection);
  });

  test('also after being stored, and whatever the selector says', async () => {
    const { collaboration, start } = setUp({ collaborators: cast({ ann: [to('cat')] }), selector: () => 'ann' });
    const second = await collaboration.nextStep(roundTrip(await collaboration.nextStep(start)));
    expect(order(second)).toStrictEqual(['ann', 'cat']);
    expect(order(await collaboration.nextStep(second))).toStrictEqual(['ann', 'cat', 'ann']);
  });

  test('after a handover the round goes on behind who had it', async () => {
    const { collaboration, start } = setUp({ collaborators: cast({ ann: [to('cat'), '.'] }), limits: { steps: 4 } });
    expect(order(await collaboration.run(start))).toStrictEqual(['ann', 'cat', 'ann', 'bob']);
  });

  const handoff = (name: string): ScriptedToolCall => ({ name: BoardTool.Handoff, args: { to: name, reason: `ask ${name}` } });
  const answers: readonly { what: string; script: readonly ScriptedAnswer[]; next: string }[] = [
    { what: 'twice in one answer', script: [{ toolCalls: [handoff('bob'), handoff('cat')] }, { text: '.' }], next: 'cat' },
    {
      what: 'twice in two answers',
      script: [{ toolCalls: [handoff('cat')] }, { toolCalls: [handoff('bob')] }, { text: '.' }],
      next: 'bob',
    },
    { what: 'once rightly, then to a stranger', script: [{ toolCalls: [handoff('cat'), handoff('zoe')] }, { text: '.' }], next: 'cat' },
    { what: 'to a stranger alone', script: [{ toolCalls: [handoff('zoe')] }, { text: '.' }], next: 'bob' },
    { what: 'to herself alone', script: [{ toolCalls: [handoff('ann')] }, { text: '.' }], next: 'bob' },
  ];
  test.each(answers)('by a model $what: $next is next', async ({ script, next }) => {
    const ann = llmCollaborator({ name: 'ann', model: scriptedModel(script) });
    const { collaboration, start } = setUp({ collaborators: [ann, says('bob', '.'), says('cat', '.')], limits: { steps: 2 } });
    const end = await collaboration.run(start);
    expect([end.errors, order(end)]).toStrictEqual([[], ['ann', next]]);
  });

  test('not by a turn that failed: it is tried again, and its word counts then', async () => {
    const script: readonly ScriptedAnswer[] = [
      { toolCalls: [handoff('cat')] },
      { error: new Error('The model is down.') },
      { text: 'I thought better of it.' },
    ];
    const ann = llmCollaborator({ name: 'ann', model: scriptedModel(script), errors: ErrorPolicy.stopOnAnyError() });
    const { collaboration, start } = setUp({
      collaborators: [ann, says('bob', '.'), says('cat', '.')],
      errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }),
      limits: { steps: 3 },
    });
    const end = await collaboration.run(start);
    expect(end.steps.map(({ participant, selection }) => [participant, selection?.by])).toStrictEqual([
      ['ann', 'round-robin'],
      ['ann', 'retry'],
      ['bob', 'round-robin'],
    ]);
  });

  test('not by a turn that failed where nobody judges failures', async () => {
    const script: readonly ScriptedAnswer[] = [{ toolCalls: [handoff('cat')] }, { error: new Error('The model is down.') }, { text: '.' }];
    const ann = llmCollaborator({ name: 'ann', model: scriptedModel(script), errors: ErrorPolicy.stopOnAnyError() });
    const { collaboration, start } = setUp({
      collaborators: [ann, says('bob', '.'), says('cat', '.')],
      onlyCriteria: [when<CollaborationState>('GoOn', () => ContinuationDecision.RequestContinuation)],
    });
    const second = await collaboration.nextStep(await collaboration.nextStep(start));
    expect([second.steps[0]?.errors.length, order(second)]).toStrictEqual([1, ['ann', 'bob']]);
  });

  test('not beyond the end of a run: a new input begins a round of its own', async () => {
    const { collaboration, start, ids } = setUp({ collaborators: cast({ cat: [to('bob')] }), limits: { steps: 3 } });
    const end = await collaboration.run(start);
    expect(order(end)).toStrictEqual(['ann', 'bob', 'cat']);
    const next = await collaboration.nextStep(end.withUserMessage('More.', { ids }));
    expect([order(next), next.steps[0]?.selection?.by]).toStrictEqual([['ann'], 'round-robin']);
  });

  test('to somebody who is not there any more: the selector decides', async () => {
    const { collaboration, start } = setUp({ collaborators: cast({ ann: [to('cat')] }) });
    const first = roundTrip(await collaboration.nextStep(start));
    const smaller = collaboration.with({ collaborators: [says('ann', '.'), says('bob', '.')] });
    expect(order(await smaller.nextStep(first))).toStrictEqual(['ann', 'bob']);
  });
});

describe('what goes wrong', () => {
  test('a collaborator who throws leaves one result with the message and the speaker', async () => {
    const { collaboration, start, events, problems } = setUp({ collaborators: [says('ann', 'x'), broken('bob'), says('cat', 'y')] });
    const end = await collaboration.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.participant]).toStrictEqual(['failed', 'error', 2, 'bob']);
    expect(end.stepResults.at(-1)).toMatchObject({ stopReason: 'error', shouldContinue: false, step: { participant: 'bob' } });
    expect(end.errors).toMatchObject([{ message: 'It broke.' }]);
    expect([collaboration.hasNextStep(end), end.transcript.length, await collaboration.run(end)]).toStrictEqual([false, 2, end]);
    expect(events.find(({ type }) => type === 'AgentFailed')).toMatchObject({ participant: 'bob', stopReason: 'error' });
    // What was thrown is told as it was, with its stack.
    expect(problems).toMatchObject([{ message: 'It broke.', stack: expect.stringContaining('collaboration.test.ts') as string }]);
    const result = await collaboration.start(start).result;
    expect(result).toMatchObject({ status: 'failed', state: { participant: 'bob' }, error: { message: 'It broke.' } });
    expect(result.state.board.isEmpty).toBe(true);
    expect(result.explain()).toContain('bob was chosen by round-robin.');
  });

  test('a criterion that throws leaves one failed result, and no next step', async () => {
    const { collaboration, start } = setUp({
      collaborators: [says('ann', { text: 'x', writes: { draft: 'one' } }), says('bob', 'y')],
      limits: { steps: 4 },
      errors: ErrorPolicy.stopOnAnyError(),
      criteria: [
        when<CollaborationState>('Odd', ({ stepCount }) => {
          if (stepCount > 0) throw new Error('the judge is ill');
          return ContinuationDecision.RequestContinuation;
        }),
      ],
    });
    const end = await collaboration.run(start);
    expect([end.status, end.stopReason, end.stepCount]).toStrictEqual(['failed', 'error', 1]);
    expect(end.explain()).toContain('the judge is ill');
    expect([collaboration.hasNextStep(end), end.board.text('draft')]).toStrictEqual([false, 'one']);
  });

  test('what a failed turn has used is counted once', async () => {
    const script: readonly ScriptedAnswer[] = [
      { toolCalls: [{ name: BoardTool.Read, args: { artifact: 'x' } }], usage },
      { text: '', error: new Error('The model is down.'), usage },
    ];
    const ann = llmCollaborator({ name: 'ann', model: scriptedModel(script) });
    const { collaboration, start, events } = setUp({ collaborators: [says('bob', 'x'), ann] });
    const end = await collaboration.run(start);
    expect([end.status, end.usage.total, end.steps[1]?.usage.total, end.session.usage.total]).toStrictEqual(['failed', 10, 10, 10]);
    const reported = events.filter(({ type, parentAgentId }) => type === 'TokenUsageReported' && parentAgentId === null);
    expect([reported.length, roundTrip(end).usage.total]).toStrictEqual([1, 10]);
  });

  test('throwOnFailure rejects, with the state and its board', async () => {
    const { collaboration, start } = setUp({
      collaborators: [says('ann', { writes: { draft: 'one' } }), broken('bob')],
      throwOnFailure: true,
    });
    const [settled] = await Promise.allSettled([collaboration.run(start)]);
    const error: unknown = settled.status === 'rejected' ? settled.reason : undefined;
    expect(error).toBeInstanceOf(ConversationFailedError);
    const { state } = error as ConversationFailedError;
    expect(state instanceof CollaborationState && state.board.text('draft')).toBe('one');
  });

  test.each([
    { what: 'no collaborators', options: {}, says: /collaborators/ },
    { what: 'participants in their place', options: { participants: [says('a', 'x')] }, says: /"participants"|collaborators/ },
    { what: 'an empty list', options: { collaborators: [] }, says: /collaborators/ },
    { what: 'two of one name', options: { collaborators: [says('a', 'x'), says('A', 'y')] }, says: /"A"/ },
    { what: 'somebody who is none', options: { collaborators: [{ name: 'a' }] }, says: /collaborators\[0\]/ },
    { what: 'a misspelt option', options: { collaborators: [says('a', 'x')], doneWhen: {} }, says: /"doneWhen"/ },
    { what: 'to sum up at a limit', options: { collaborators: [says('a', 'x')], limits: { onLimit: 'finalize' } }, says: /finalize/ },
  ])('it cannot be made with $what', ({ options, says: words }) => {
    expect(() => createCollaboration(options as never)).toThrow(InvalidArgumentError);
    expect(() => createCollaboration(options as never)).toThrow(words);
  });
});

describe('a selector that sees nothing more to say', () => {
  test.each<{ what: string; done: CollaborationOptions['done'] }>([
    { what: 'without a word about when it is done', done: undefined },
    { what: 'where approvals are missing', done: { approvedBy: ['bob'] } },
    { what: 'where the form is missing', done: { artifact: 'data', schema: { type: 'object' } } },
  ])('completes the collaboration, $what', async ({ done }) => {
    const { collaboration, start } = setUp({
      collaborators: [says('ann', { text: 'x', writes: { draft: 'one' } }), says('bob', 'y')],
      selector: ({ state }) => (state.stepCount === 1 ? { end: 'it is all said' } : 'ann'),
      ...(done !== undefined && { done }),
    });
    const end = await collaboration.run(start);
    expect([end.status, end.stopReason, order(end), end.board.text('draft')]).toStrictEqual([
      'completed',
      'completed',
      ['ann', undefined],
      'one',
    ]);
    expect(end.explain()).toContain('it is all said');
    expect(roundTrip(end).steps).toStrictEqual(end.steps);
  });
});

describe('a person', () => {
  test('who waits approves by an answer, also after being stored', async () => {
    const boss = humanCollaborator({ name: 'boss', prompt: 'Good?' });
    const { collaboration, start, events } = setUp({
      collaborators: [says('ann', { writes: { draft: 'one' } }), boss],
      done: { approvedBy: ['boss'] },
    });
    const waiting = await collaboration.run(start);
    expect(waiting.waitingFor).toStrictEqual([{ type: 'person', id: 'boss/2', participant: 'boss', prompt: 'Good?' }]);
    const result = await collaboration.start(roundTrip(waiting).answer('boss/2', { text: 'Fine.', approves: ['draft'] })).result;
    expect([result.status, result.text, result.state.speaker]).toStrictEqual(['completed', 'Fine.', 'boss']);
    expect(result.state.approvals).toStrictEqual([{ by: 'boss', artifact: 'draft', version: 1 }]);
    expect(result.state.board.get('draft')?.author).toBe('ann');
    expect(events.flatMap((event) => (event.type === 'BoardUpdated' ? [[event.participant, event.changes.length]] : []))).toStrictEqual([
      ['ann', 1],
      ['boss', 1],
    ]);
  });

  test('who does not approve is asked again after the others', async () => {
    const { collaboration, start } = setUp({
      collaborators: [says('ann', { writes: { draft: 'one' } }), humanCollaborator({ name: 'boss' })],
      done: { approvedBy: ['boss'] },
    });
    const first = await collaboration.run(start);
    const second = await collaboration.run(first.answer('boss/2', 'Longer!'));
    expect([second.status, second.waitingFor[0]?.id, second.board.get('draft')?.version]).toStrictEqual(['waiting', 'boss/4', 2]);
    const end = await collaboration.run(second.answer('boss/4', { approves: ['draft'] }));
    expect([end.status, end.text, end.approvals[0]?.version]).toStrictEqual(['completed', 'Longer!', 2]);
  });

  test('who replies at once approves by that', async () => {
    const boss = humanCollaborator({
      name: 'boss',
      reply: ({ state }) => ({ text: state.board.text('draft') ?? '', approves: ['draft'] }),
    });
    const { collaboration, start } = setUp({
      collaborators: [says('ann', { writes: { draft: 'one' } }), boss],
      done: { approvedBy: ['boss'] },
    });
    expect([(await collaboration.run(start)).status, (await collaboration.run(start)).text]).toStrictEqual(['completed', 'one']);
  });
});

describe('at a limit that pauses', () => {
  const pausing = (done: NonNullable<CollaborationOptions['done']>) =>
    setUp({
      collaborators: [says('ann', { writes: { draft: 'one' } }), says('bob', { approves: ['draft'] })],
      done,
      limits: { steps: 2, onLimit: 'pause' },
    });

  test('it waits for more while the task is open, and goes on with what was approved', async () => {
    const { collaboration, start } = pausing({ approvedBy: ['ann', 'bob'] });
    const paused = await collaboration.run(start);
    expect([paused.status, paused.waitingFor.map(({ type }) => type), paused.approvals.length]).toStrictEqual(['waiting', ['grant'], 1]);
    const on = await collaboration.run(roundTrip(paused).grant({ steps: 1 }));
    expect([on.status, on.stepCount, on.board.get('draft')?.version, on.session.executions.length]).toStrictEqual(['waiting', 3, 2, 1]);
  });

  test('it does not ask for more where the task is done', async () => {
    const { collaboration, start } = pausing({ approvedBy: ['bob'] });
    const end = await collaboration.run(start);
    expect([end.waitingFor, end.stepCount, collaboration.hasNextStep(end)]).toStrictEqual([[], 2, false]);
  });

  test('who was handed the turn has it when more was granted', async () => {
    const to = (name: string): ContributionInput => ({ handoff: { to: name, reason: 'look' } });
    const { collaboration, start } = setUp({
      collaborators: [says('ann', to('cat')), says('bob', '.'), says('cat', '.')],
      limits: { steps: 1, onLimit: 'pause' },
    });
    const paused = roundTrip(await collaboration.run(start));
    expect(order(await collaboration.run(paused.grant({ steps: 1 })))).toStrictEqual(['ann', 'cat']);
  });
});

test('with() keeps everything else, and the fingerprint tells other ends apart', async () => {
  const [ann, bob] = [says('ann', { writes: { draft: 'x' } }), says('bob', { approves: ['draft'] }, '')];
  const { collaboration, start, events } = setUp({ collaborators: [ann, bob], done: { approvedBy: ['bob'] }, id: 'desk', version: '2' });
  const shorter = collaboration.with({ limits: { steps: 1 } });
  const end = await shorter.run(start);
  expect([end.stopReason, shorter.id, shorter.version, events.length > 0]).toStrictEqual(['steps_limit', 'desk', '2', true]);
  const of = (done: CollaborationOptions['done']) =>
    createCollaboration({ collaborators: [ann, bob], ...(done !== undefined && { done }) }).fingerprint;
  const all = [
    of(undefined),
    of({ approvedBy: ['ann'] }),
    of({ approvedBy: ['bob'] }),
    of({ approvedBy: ['bob'], artifact: 'draft' }),
    of({ artifact: 'draft', schema: { type: 'object' } }),
    of({ artifact: 'draft', schema: { type: 'string' } }),
  ];
  expect([new Set(all).size, of({ approvedBy: ['ann'] })]).toStrictEqual([all.length, all[1]]);
});

describe('a collaboration does what every orchestrator must', () => {
  const cases = orchestratorConformance<CollaborationState>(() => {
    const model = scriptedModel(
      [
        ({ messages }) =>
          messages.at(-1)?.isTool() === true
            ? { text: 'Written.', usage }
            : { toolCalls: [{ name: BoardTool.Write, args: { artifact: 'draft', content: 'x' } }], usage },
      ],
      { repeatLast: true },
    );
    const critic = functionCollaborator({ name: 'critic', speak: () => ({ text: 'Good.', approves: ['draft'] }) });
    const { collaboration, start } = setUp({
      collaborators: [says('lead', 'Begin.', 'Again.'), llmCollaborator({ name: 'writer', model }), critic],
      done: { approvedBy: ['critic'] },
    });
    return { orchestrator: collaboration, start, restore: (text) => CollaborationState.fromJSON(JSON.parse(text)) };
  });
  test.each(cases)('$name', ({ run }) => run());
});
