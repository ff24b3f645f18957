// A form is the host's own code: it may throw, hang, and change from one release to the next.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Participant } from '../chat/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { CollaborationOptions, Completion, ContributionInput } from './index.ts';
import { CollaborationState, createCollaboration, scriptedCollaborator } from './index.ts';

const says = (name: string, ...words: readonly ContributionInput[]): Participant => scriptedCollaborator({ name, says: words });
const roundTrip = (state: CollaborationState): CollaborationState => CollaborationState.fromJSON(JSON.parse(JSON.stringify(state)));
const fits = ({ steps }: CollaborationState) => steps.map(({ fit }) => [fit?.version, fit?.ok, fit?.isUnknown ?? false]);

type Checks = readonly (() => unknown)[];

/** A schema whose answers come one after the other; each gives what a Standard Schema gives, throws, or never settles. */
function setUpSchema(checks: Checks) {
  const seen: unknown[] = [];
  const validate = (value: unknown): never => {
    seen.push(value);
    return (checks[seen.length - 1] ?? checks.at(-1))?.() as never;
  };
  const schema: NonNullable<Completion['schema']> = { '~standard': { ...z.unknown()['~standard'], validate } };
  return { schema, seen };
}

const right = () => ({ value: 'x' });
const wrong = () => ({ issues: [{ message: 'too short' }] });
const down = (): never => {
  throw new Error('the checker is down');
};
const rejecting = () => Promise.reject(new Error('the checker is down'));
const hanging = () => new Promise(() => undefined);

function setUp(done: Completion, more: Pick<CollaborationOptions, 'limits'> = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const collaboration = createCollaboration({
    collaborators: [says('ann', { writes: { data: 'x' } }, '.'), says('bob', '.'), says('cat', '.')],
    done,
    ports: { clock, ids },
    ...more,
  });
  return { collaboration, clock, ids, start: CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

describe('a form', () => {
  test.each([
    { what: 'throws', check: down },
    { what: 'rejects', check: rejecting },
  ])('that $what once is looked at again after the next turn, though nothing has changed', async ({ check }) => {
    const { schema, seen } = setUpSchema([check, right]);
    const { collaboration, start } = setUp({ artifact: 'data', schema });
    const first = roundTrip(await collaboration.nextStep(start));
    expect([fits(first), collaboration.hasNextStep(first)]).toStrictEqual([[[1, false, true]], true]);
    expect(first.steps[0]?.fit?.problem).toBe('it could not be checked: the checker is down');
    expect(first.steps[0]?.errors).toStrictEqual([]);
    const end = await collaboration.run(first);
    expect([end.status, fits(end), seen]).toStrictEqual([
      'completed',
      [
        [1, false, true],
        [1, true, false],
      ],
      ['x', 'x'],
    ]);
  });

  test('that was found not to hold is not looked at again while nothing changes', async () => {
    const { schema, seen } = setUpSchema([wrong, right]);
    const { collaboration, start } = setUp({ artifact: 'data', schema }, { limits: { steps: 3 } });
    const end = await collaboration.run(start);
    expect([end.stopReason, fits(end).map(([, ok]) => ok), seen]).toStrictEqual(['steps_limit', [false, false, false], ['x']]);
    expect(end.steps.map(({ fit }) => [fit?.problem, fit?.isUnknown])).toStrictEqual([
      ['too short', undefined],
      ['too short', undefined],
      ['too short', undefined],
    ]);
  });

  test('that hangs is given up after 30 seconds, and looked at again after the next turn', async () => {
    const { schema, seen } = setUpSchema([hanging, right]);
    const { collaboration, start, clock } = setUp({ artifact: 'data', schema });
    let isOver = false;
    const running = collaboration.run(start).finally(() => {
      isOver = true;
    });
    await clock.advance(29_999);
    expect([isOver, seen.length]).toStrictEqual([false, 1]);
    await clock.advance(1);
    const end = await running;
    expect([end.status, end.stepCount, seen.length]).toStrictEqual(['completed', 2, 2]);
    expect(end.steps[0]?.fit).toMatchObject({
      ok: false,
      isUnknown: true,
      problem: expect.stringMatching(/could not be checked: The check of "data" took longer than/) as string,
    });
    expect(end.steps[0]?.errors).toStrictEqual([]);
  });

  test('that always hangs ends by the limit of turns, and no word is lost', async () => {
    const { schema } = setUpSchema([hanging]);
    const { collaboration, start, clock } = setUp({ artifact: 'data', schema }, { limits: { steps: 2 } });
    const running = collaboration.run(start);
    for (let turn = 0; turn < 2; turn += 1) await clock.advance(30_000);
    const end = await running;
    expect([end.stopReason, fits(end), end.messages.length, end.board.text('data')]).toStrictEqual([
      'steps_limit',
      [
        [1, false, true],
        [1, false, true],
      ],
      3,
      'x',
    ]);
  });

  test('that hangs does not keep a run that is to end', async () => {
    const { schema } = setUpSchema([hanging]);
    const { collaboration, start, clock } = setUp({ artifact: 'data', schema });
    const host = new AbortController();
    const running = collaboration.run(start, { signal: host.signal });
    await clock.advance(1);
    host.abort('enough');
    const end = await running;
    expect([end.status, end.board.text('data')]).toStrictEqual(['stopped', 'x']);
  });

  test.each([
    { what: 'a number that is meant as text', schema: z.string(), content: '4' },
    { what: 'a list that is meant as text', schema: z.string().startsWith('['), content: '[1]' },
    { what: 'text in a fence that is meant as it stands', schema: z.string().startsWith('```'), content: '```json\n{}\n```' },
    { what: 'a number', schema: z.number(), content: '4' },
  ])('takes $what', async ({ schema, content }) => {
    const ids = createCountingIds();
    const collaboration = createCollaboration({
      collaborators: [says('ann', { writes: { data: content } })],
      done: { artifact: 'data', schema },
      ports: { clock: createFakeClock(), ids },
    });
    const { status, state } = await collaboration.start('Go.').result;
    expect([status, state.board.text('data')]).toStrictEqual(['completed', content]);
  });
});

describe('a form that is another in the next release', () => {
  const [strict, loose] = [
    { type: 'object', required: ['price'] },
    { type: 'string', minLength: 1 },
  ] as const;
  const releases = (first: NonNullable<Completion['schema']>, second: NonNullable<Completion['schema']>) => {
    const set = setUp({ artifact: 'data', schema: first }, { limits: { steps: 2 } });
    const next = set.collaboration.with({ done: { artifact: 'data', schema: second } });
    return { ...set, next };
  };

  test('is looked for, though the artifact has not changed', async () => {
    const { collaboration, next, start } = releases(strict, loose);
    const first = roundTrip(await collaboration.nextStep(start));
    expect(first.steps[0]?.fit).toMatchObject({ version: 1, ok: false });
    const end = await next.nextStep(first);
    expect([end.steps[1]?.fit?.ok, end.steps[1]?.fit?.version, next.hasNextStep(end)]).toStrictEqual([true, 1, false]);
    expect(end.steps[0]?.fit?.schema).not.toBe(end.steps[1]?.fit?.schema);
  });

  test('is not taken for the one that held before', async () => {
    const set = setUp({ artifact: 'data', schema: loose, approvedBy: ['bob'] });
    const first = roundTrip(await set.collaboration.nextStep(set.start));
    expect(first.steps[0]?.fit).toMatchObject({ version: 1, ok: true });
    const next = set.collaboration.with({ done: { artifact: 'data', schema: strict, approvedBy: ['bob'] } });
    expect((await next.nextStep(first)).steps[1]?.fit).toMatchObject({ version: 1, ok: false });
  });

  test('and is the same by another object is not looked for again', async () => {
    const { collaboration, next, start } = releases(strict, structuredClone(strict));
    const first = roundTrip(await collaboration.nextStep(start));
    const second = await next.nextStep(first);
    expect(second.steps[1]?.fit).toStrictEqual(first.steps[0]?.fit);
  });

  test('and is about another artifact is looked for there', async () => {
    const { collaboration, start } = releases(strict, strict);
    const first = roundTrip(await collaboration.nextStep(start));
    const other = collaboration.with({ done: { artifact: 'poem', schema: loose } });
    expect((await other.nextStep(first)).steps[1]?.fit).toMatchObject({ artifact: 'poem', version: 0, ok: false });
  });
});
