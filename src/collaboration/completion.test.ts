// When a task is done: C1 and C2, as tables.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { criterionConformance } from '../testing/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../lib/index.ts';
import { EveryoneHasSpoken } from '../chat/index.ts';
import { TaskCompletion, toCompletion } from './completion.ts';
import type { Completion, ContributionInput } from './index.ts';
import { CollaborationState, createCollaboration, scriptedCollaborator } from './index.ts';

/** Turns in their order: who, and what. Two of a name have their turns in their own order. */
type Script = readonly (readonly [who: string, said: ContributionInput])[];

function setUp(script: Script, done: Completion, { isDone = true }: { readonly isDone?: boolean } = {}) {
  const names = ['ann', 'bob', 'cat'];
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const collaborators = names.map((name) => {
    const own = script.filter(([who]) => who === name).map(([, said]) => said);
    return scriptedCollaborator({ name, says: own.length > 0 ? own : [''] });
  });
  const collaboration = createCollaboration({
    collaborators,
    done,
    selector: ({ state }) => script[state.session.stepCount]?.[0] ?? names[0] ?? '',
    // A reached limit forbids even if the task is done, so a task that gets done has one step to spare.
    limits: { steps: isDone ? script.length + 1 : script.length },
    ports: { clock, ids },
  });
  return { collaboration, ids, start: CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

/** `ann+draft!plan` is a turn in which ann writes the draft and approves the plan. */
function parseScript(notation: string): Script {
  return notation.split(' ').map((turn) => {
    const [who = ''] = turn.split(/[+!]/);
    const findMarked = (mark: string): readonly string[] =>
      turn.split(/(?=[+!])/).flatMap((part) => (part.startsWith(mark) ? [part.slice(1)] : []));
    const [writes, approves] = [findMarked('+'), findMarked('!')];
    return [who, { writes: Object.fromEntries(writes.map((name) => [name, 'x'])), ...(approves.length > 0 && { approves }) }] as const;
  });
}

describe('by approval', () => {
  const both: Completion = { approvedBy: ['ann', 'bob'] };
  const draft: Completion = { approvedBy: ['ann', 'bob'], artifact: 'draft' };
  const rows: readonly (readonly [what: string, done: Completion, script: string, open?: RegExp])[] = [
    ['both approved', both, 'cat+draft ann!draft bob!draft'],
    ['one approved', both, 'cat+draft ann!draft', /bob has not approved "draft" \(version 1\)/],
    ['one approved twice', both, 'cat+draft ann!draft ann!draft', /bob has not/],
    ['nobody approved', both, 'cat+draft', /ann and bob have not approved "draft"/],
    ['nothing is on the board', both, 'cat', /nothing on the board to approve/],
    ['the artifact that counts is missing', draft, 'cat+plan ann!plan', /no "draft" on the board/],
    ['a write came after one', both, 'cat+draft ann!draft cat+draft bob!draft', /ann has not approved "draft" \(version 2\)/],
    ['a write came between, and ann approved again', both, 'cat+draft ann!draft cat+draft bob!draft ann!draft'],
    ['an approver wrote, and approved in the same turn', both, 'ann+draft!draft bob!draft'],
    ['an approver wrote after the approval', both, 'cat+draft bob!draft ann+draft!draft', /bob has not approved "draft" \(version 2\)/],
    ['one of two artifacts is approved', both, 'cat+draft+plan ann!draft!plan bob!draft', /^bob has not approved "plan"/],
    ['both artifacts are approved', both, 'cat+draft+plan ann!draft!plan bob!plan!draft'],
    ['another artifact came late', both, 'cat+draft ann!draft bob+plan!draft', /ann and bob have not approved "plan"/],
    ['another artifact came late that does not count', draft, 'cat+draft ann!draft bob+plan!draft'],
    ['only the one that counts is approved', draft, 'cat+draft+plan ann!draft bob!draft'],
  ];
  test.each(rows.map(([what, done, notation, open]) => ({ what, done, notation, open })))('$what', async ({ done, notation, open }) => {
    const [script, isDone] = [parseScript(notation), open === undefined];
    const { collaboration, start } = setUp(script, done, { isDone });
    const end = await collaboration.run(start);
    expect([end.stepCount, end.stopReason]).toStrictEqual([script.length, isDone ? 'completed' : 'steps_limit']);
    const vote = end.lastContinuationOutcome?.evaluations.find(({ criterion }) => criterion === 'TaskCompletion');
    expect(vote?.decision).toBe(isDone ? 'stop' : 'request');
    expect(vote?.reason).toMatch(open ?? /the task is done: ann and bob approved/);
    // Read again it says the same.
    const read = CollaborationState.fromJSON(JSON.parse(JSON.stringify(end)));
    expect([read.approvals, read.lastContinuationOutcome]).toStrictEqual([end.approvals, end.lastContinuationOutcome]);
  });

  test('an input opens the question anew: approvals before it count no more (C1)', async () => {
    const script = parseScript('cat+draft ann!draft bob!draft cat ann!draft bob!draft');
    const { collaboration, start, ids } = setUp(script, both);
    const end = await collaboration.run(start);
    expect([end.status, end.approvals.length]).toStrictEqual(['completed', 2]);
    const asked = CollaborationState.fromJSON(JSON.parse(JSON.stringify(end))).withUserMessage('Are you sure?', { ids });
    expect([asked.approvals, asked.turnsSinceInput, collaboration.hasNextStep(asked)]).toStrictEqual([[], [], true]);
    const after = await collaboration.run(asked);
    expect([after.status, after.stepCount, after.board.get('draft')?.version, after.task]).toStrictEqual(['completed', 3, 1, 'Go.']);
  });

  test('a word from outside within the run does so too', async () => {
    const script = parseScript('cat+draft ann!draft bob!draft ann!draft');
    const { collaboration, start, ids } = setUp(script, both);
    const end = await collaboration.run(start, {
      between: (state) =>
        state.stepCount === 2 && state.messages.at(-1)?.text !== 'Wait.' ? { state: state.withUserMessage('Wait.', { ids }) } : undefined,
    });
    expect(end.turnsSinceInput.map(({ participant }) => participant)).toStrictEqual(['bob', 'ann']);
    expect([end.status, end.stepCount]).toStrictEqual(['completed', 4]);
  });

  test('something put there from outside ends the approvals of what was there', async () => {
    const { collaboration, start, ids } = setUp(parseScript('cat+draft ann!draft bob'), both, { isDone: false });
    const end = await collaboration.run(start);
    expect(end.approvals).toStrictEqual([{ by: 'ann', artifact: 'draft', version: 1 }]);
    expect(end.withArtifact('draft', 'other', { ids }).approvals).toStrictEqual([]);
    expect(end.withArtifact('plan', 'other', { ids }).approvals).toHaveLength(1);
  });
});

describe('by form', () => {
  const price = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'], additionalProperties: false } as const;
  const form = (schema: Completion['schema']): Completion => ({ artifact: 'data', ...(schema !== undefined && { schema }) });
  const createSchema = (validate: () => Promise<never>): Completion['schema'] => ({
    '~standard': { ...z.unknown()['~standard'], validate },
  });
  const down = (): never => {
    throw new Error('the checker is down');
  };
  const rows: readonly { what: string; schema: Completion['schema']; content: string | undefined; ok: boolean; problem?: RegExp }[] = [
    { what: 'fits', schema: price, content: '{"price": 4}', ok: true },
    { what: 'does not fit', schema: price, content: '{"price": "4"}', ok: false, problem: /price/ },
    { what: 'has too much', schema: price, content: '{"price": 4, "x": 1}', ok: false, problem: /x/ },
    { what: 'is no JSON', schema: price, content: 'Four.', ok: false, problem: /object/ },
    { what: 'is broken JSON', schema: price, content: '{"price": 4', ok: false, problem: /object/ },
    { what: 'is not there', schema: price, content: undefined, ok: false, problem: /not on the board/ },
    { what: 'is JSON in a fence', schema: price, content: '```json\n{"price": 4}\n```', ok: true },
    { what: 'is JSON in a bare fence', schema: price, content: '\n```\n{"price": 4}\n```\n', ok: true },
    { what: 'is JSON in a fence with other ends of lines', schema: price, content: '```json\r\n{"price": 4}\r\n```', ok: true },
    { what: 'is a fence with words around', schema: price, content: 'Here:\n```json\n{"price": 4}\n```', ok: false, problem: /object/ },
    { what: 'is text that fits', schema: z.string().min(3), content: 'Four.', ok: true },
    { what: 'is text that does not fit', schema: z.string().min(30), content: 'Four.', ok: false, problem: /30/ },
    { what: 'fits a Standard Schema', schema: z.object({ price: z.number() }), content: '{"price": 4}', ok: true },
    { what: 'fits an async schema', schema: z.object({ price: z.number().refine(async (n) => n > 3) }), content: '{"price": 4}', ok: true },
    {
      what: 'does not fit an async schema',
      schema: z.object({ price: z.number().refine(async (n) => n > 3, 'too cheap') }),
      content: '{"price": 3}',
      ok: false,
      problem: /too cheap/,
    },
    {
      what: 'meets a checker that rejects',
      schema: createSchema(async () => down()),
      content: '{}',
      ok: false,
      problem: /could not be checked: the checker is down/,
    },
    {
      what: 'meets a checker that throws',
      schema: createSchema(down),
      content: '{}',
      ok: false,
      problem: /could not be checked: the checker is down/,
    },
  ];
  test.each(rows)('an artifact that $what: $ok', async ({ schema, content, ok, problem }) => {
    const { collaboration, start } = setUp([['ann', content === undefined ? 'Hm.' : { writes: { data: content } }]], form(schema), {
      isDone: ok,
    });
    const end = await collaboration.run(start);
    expect([end.stopReason, end.stepCount]).toStrictEqual([ok ? 'completed' : 'steps_limit', 1]);
    expect(end.steps[0]?.fit).toMatchObject({ artifact: 'data', version: content === undefined ? 0 : 1, ok });
    if (problem !== undefined) expect(end.steps[0]?.fit?.problem).toMatch(problem);
    expect(CollaborationState.fromJSON(JSON.parse(JSON.stringify(end))).steps[0]?.fit).toStrictEqual(end.steps[0]?.fit);
  });

  test('is checked once for each version (C2)', async () => {
    const seen: unknown[] = [];
    const schema = z
      .unknown()
      .transform((value) => (seen.push(value), value))
      .pipe(z.literal('done'));
    const done: Completion = { artifact: 'data', schema };
    const { collaboration, start } = setUp(
      [
        ['ann', { writes: { data: 'no' } }],
        ['bob', ''],
        ['cat', ''],
        ['ann', { writes: { data: 'done' } }],
      ],
      done,
    );
    const end = await collaboration.run(start);
    expect([end.status, seen]).toStrictEqual(['completed', ['no', 'done']]);
    expect(end.steps.map(({ fit }) => [fit?.version, fit?.ok])).toStrictEqual([
      [1, false],
      [1, false],
      [1, false],
      [2, true],
    ]);
  });

  test('what fitted before an input is no answer to it, until somebody touched it or everyone has let it stand', async () => {
    const fits: ContributionInput = { writes: { data: '{"price": 4}' } };
    const letStand = setUp(
      [
        ['ann', fits],
        ['ann', ''],
        ['bob', ''],
        ['cat', ''],
      ],
      form(price),
    );
    const again = (await letStand.collaboration.run(letStand.start)).withUserMessage('Cheaper?', { ids: letStand.ids });
    const stood = await letStand.collaboration.run(again);
    expect([stood.status, stood.stepCount]).toStrictEqual(['completed', 3]);
    expect(stood.stepResults[0]?.outcome.explain()).toContain('fits, and was not touched since the last input');
    const touched = setUp(
      [
        ['ann', fits],
        ['bob', { writes: { data: '{"price": 3}' } }],
      ],
      form(price),
    );
    const second = (await touched.collaboration.run(touched.start)).withUserMessage('Cheaper?', { ids: touched.ids });
    const end = await touched.collaboration.run(second);
    expect([end.status, end.stepCount, end.board.get('data')?.version]).toStrictEqual(['completed', 1, 2]);
  });

  test('and by approval: both must hold', async () => {
    const done: Completion = { ...form(price), approvedBy: ['bob'] };
    const good = '{"price": 4}';
    const cases: readonly (readonly [Script, string])[] = [
      [[['ann', { writes: { data: good } }]], 'steps_limit'],
      [
        [
          ['ann', { writes: { data: 'x' } }],
          ['bob', { approves: ['data'] }],
        ],
        'steps_limit',
      ],
      [
        [
          ['ann', { writes: { data: good } }],
          ['bob', { approves: ['data'] }],
        ],
        'completed',
      ],
      [
        [
          ['ann', { writes: { data: 'x' } }],
          ['bob', { approves: ['data'] }],
          ['ann', { writes: { data: good } }],
        ],
        'steps_limit',
      ],
      [
        [
          ['ann', { writes: { data: 'x' } }],
          ['bob', { writes: { data: good }, approves: ['data'] }],
        ],
        'completed',
      ],
    ];
    for (const [script, reason] of cases) {
      const { collaboration, start } = setUp(script, done, { isDone: reason === 'completed' });
      expect((await collaboration.run(start)).stopReason).toBe(reason);
    }
  });
});

describe('done cannot be', () => {
  const rows: readonly { what: string; done: unknown; says: RegExp }[] = [
    { what: 'nothing in it', done: {}, says: /needs approvedBy, or/ },
    { what: 'null', done: null, says: /must be an object/ },
    { what: 'a word', done: 'approved', says: /must be an object/ },
    { what: 'a list', done: ['ann'], says: /must be an object|has no "0"/ },
    { what: 'misspelt', done: { approvedby: ['ann'] }, says: /"approvedby"/ },
    { what: 'nobody', done: { approvedBy: [] }, says: /at least one name/ },
    { what: 'a name without a list', done: { approvedBy: 'ann' }, says: /approvedBy/ },
    { what: 'a stranger', done: { approvedBy: ['zoe'] }, says: /"zoe".*the collaborators are ann, bob/ },
    { what: 'a name in other case', done: { approvedBy: ['Ann'] }, says: /"Ann"/ },
    { what: 'a number', done: { approvedBy: [4] }, says: /4/ },
    { what: 'an artifact alone', done: { artifact: 'draft' }, says: /needs approvedBy, or artifact and schema/ },
    { what: 'a schema alone', done: { schema: { type: 'object' } }, says: /a schema but no artifact/ },
    { what: 'an artifact without a name', done: { approvedBy: ['ann'], artifact: '' }, says: /an artifact name/ },
    { what: 'an artifact that is no text', done: { approvedBy: ['ann'], artifact: 4 }, says: /an artifact name/ },
    { what: 'an artifact whose name nothing on a board can have', done: { approvedBy: ['ann'], artifact: ' draft\n' }, says: /artifact/ },
    { what: 'a schema that is none', done: { artifact: 'draft', schema: 'object' }, says: /schema/ },
    { what: 'a schema that is null', done: { artifact: 'draft', schema: null }, says: /schema/ },
  ];
  test.each(rows)('$what', ({ done, says }) => {
    const make = (): unknown =>
      createCollaboration({
        collaborators: [scriptedCollaborator({ name: 'ann', says: [''] }), scriptedCollaborator({ name: 'bob', says: [''] })],
        done: done as never,
      });
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(says);
  });
});

const completion = toCompletion({ approvedBy: ['ann'] }, ['ann']);
if (completion === undefined) throw new Error('There is one.');
const anyState = CollaborationState.empty().withUserMessage('Go.');
test.each(
  criterionConformance(new TaskCompletion(completion, new EveryoneHasSpoken(['ann'])), [anyState, anyState.withArtifact('a', 'x')]),
)('$name', ({ run }) => run());
