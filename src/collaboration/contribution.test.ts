import { describe, expect, test } from 'vitest';
import { ErrorPolicy } from '../errors/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../lib/index.ts';
import { parseContribution } from './contribution.ts';
import { CollaborationState, createCollaboration, functionCollaborator, humanCollaborator, scriptedCollaborator } from './index.ts';

const ids = createCountingIds();
const state = CollaborationState.empty({ ids }).withUserMessage('Go.', { ids }).withArtifact('draft', 'zero', { ids });
const rights = { names: ['ann', 'bob', 'cat'], approvers: ['ann'] };
const read = (said: unknown, participant = 'ann') => parseContribution(said, { state, participant }, rights);

describe('a contribution is read', () => {
  const rows: readonly { what: string; said: unknown; by?: string; text: string; changes?: readonly unknown[] }[] = [
    { what: 'words', said: 'Hello.', text: 'Hello.' },
    { what: 'no words', said: '', text: '' },
    { what: 'nothing at all', said: {}, text: '', changes: [] },
    { what: 'text alone', said: { text: 'Hi.' }, text: 'Hi.', changes: [] },
    {
      what: 'a first version',
      said: { writes: { plan: 'x' } },
      text: '',
      changes: [{ type: 'write', artifact: 'plan', version: 1, content: 'x' }],
    },
    {
      what: 'a next version',
      said: { writes: { draft: 'one' } },
      text: '',
      changes: [{ type: 'write', artifact: 'draft', version: 2, content: 'one' }],
    },
    {
      what: 'empty content',
      said: { writes: { draft: '' } },
      text: '',
      changes: [{ type: 'write', artifact: 'draft', version: 2, content: '' }],
    },
    {
      what: 'an approval of what stands',
      said: { approves: ['draft'] },
      text: '',
      changes: [{ type: 'approve', artifact: 'draft', version: 1 }],
    },
    {
      what: 'an approval of what is written with it',
      said: { text: 'All.', writes: { draft: 'one', plan: 'x' }, approves: ['plan', 'draft'], handoff: { to: 'bob', reason: 'look' } },
      text: 'All.',
      changes: [
        { type: 'write', artifact: 'draft', version: 2, content: 'one' },
        { type: 'write', artifact: 'plan', version: 1, content: 'x' },
        { type: 'approve', artifact: 'plan', version: 1 },
        { type: 'approve', artifact: 'draft', version: 2 },
        { type: 'handoff', to: 'bob', reason: 'look' },
      ],
    },
    { what: 'no approvals from somebody who may not', said: { approves: [] }, by: 'bob', text: '', changes: [] },
  ];
  test.each(rows)('$what', ({ said, by, text, changes }) => {
    expect(read(said, by)).toStrictEqual({ ok: true, text, ...(changes !== undefined && { changes }) });
  });
});

const wrong: readonly { what: string; said: unknown; by?: string; says: RegExp }[] = [
  { what: 'a number', said: 4, says: /must be a string, or/ },
  { what: 'true', said: true, says: /must be a string, or/ },
  { what: 'a list', said: ['Hello'], says: /must be a string, or/ },
  { what: 'a misspelt field', said: { wirtes: {} }, says: /Unknown option "wirtes"/ },
  { what: 'words that are none', said: { text: 4 }, says: /text must be a string/ },
  { what: 'words that are null', said: { text: null }, says: /text must be a string/ },
  { what: 'writes that are a list', said: { writes: ['draft'] }, says: /writes must be/ },
  { what: 'writes that are text', said: { writes: 'draft' }, says: /writes must be/ },
  { what: 'writes that are null', said: { writes: null }, says: /writes must be/ },
  { what: 'content that is data', said: { writes: { draft: { a: 1 } } }, says: /"draft" must be a string. Write data as JSON/ },
  { what: 'content that is null', said: { writes: { draft: null } }, says: /"draft" must be a string/ },
  { what: 'a name that is none', said: { writes: { ' x': 'y' } }, says: /1 to 100 characters/ },
  { what: 'an empty name', said: { writes: { '': 'y' } }, says: /1 to 100 characters/ },
  { what: 'an approval that is no list', said: { approves: 'draft' }, says: /approves must be a list/ },
  { what: 'an approval of a number', said: { approves: [4] }, says: /approves must be a list/ },
  { what: 'an approval that is null', said: { approves: null }, says: /approves must be a list/ },
  { what: 'an approval of what is not there', said: { approves: ['plan'] }, says: /"plan" in approves. On the board: draft/ },
  { what: 'an approval by somebody who may not', said: { approves: ['draft'] }, by: 'bob', says: /This collaborator may not approve/ },
  { what: 'a handover to a stranger', said: { handoff: { to: 'zoe', reason: 'x' } }, says: /"zoe" in handoff. Use one of bob, cat/ },
  { what: 'a handover to oneself', said: { handoff: { to: 'ann', reason: 'x' } }, says: /"ann" in handoff. Use one of bob, cat/ },
  { what: 'a handover without a reason', said: { handoff: { to: 'bob' } }, says: /\{ to, reason \}/ },
  { what: 'a handover in a word', said: { handoff: 'bob' }, says: /\{ to, reason \}/ },
  { what: 'a handover that is null', said: { handoff: null }, says: /\{ to, reason \}/ },
];

describe('a contribution cannot be', () => {
  test.each(wrong)('$what', ({ said, by, says }) => {
    const reading = read(said, by);
    expect(reading.ok).toBe(false);
    expect(reading).toMatchObject({ problem: expect.stringMatching(says) as string });
  });
});

describe('what cannot be used', () => {
  const setUp = (collaborator: ReturnType<typeof scriptedCollaborator>) => {
    const [clock, counting] = [createFakeClock(), createCountingIds()];
    const collaboration = createCollaboration({
      collaborators: [
        collaborator,
        scriptedCollaborator({ name: collaborator.name === 'bob' ? 'ann' : 'bob', says: [''] }),
        scriptedCollaborator({ name: 'cat', says: [''] }),
      ],
      done: { approvedBy: ['ann'] },
      ports: { clock, ids: counting },
    });
    const start = CollaborationState.empty({ clock, ids: counting }).withUserMessage('Go.', { ids: counting });
    return { collaboration, start: start.withArtifact('draft', 'zero', { ids: counting }) };
  };

  test.each(wrong)('$what: makes a failed turn of a function', async ({ said, by = 'ann', says }) => {
    const { collaboration, start } = setUp(functionCollaborator({ name: by, speak: () => said as never }));
    const end = await collaboration.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.steps[0]?.participant]).toStrictEqual(['failed', 'error', 1, by]);
    expect(end.errors).toHaveLength(1);
    expect(end.errors[0]).toMatchObject({ type: 'validation', retryable: false, message: expect.stringMatching(says) as string });
    expect([end.board.toJSON(), end.messages.length]).toStrictEqual([{ draft: { version: 1, content: 'zero' } }, 1]);
  });

  const isObject = (said: unknown): boolean => typeof said === 'object' && !Array.isArray(said);

  test.each(wrong.filter(({ said }) => !isObject(said)))('$what: is refused when a script is made', ({ said }) => {
    expect(() => scriptedCollaborator({ name: 'ann', says: [said as never] })).toThrow(InvalidArgumentError);
  });

  test.each(wrong.filter(({ said }) => isObject(said)))('$what: makes a failed turn of a script', async ({ said, by = 'ann', says }) => {
    const { collaboration, start } = setUp(scriptedCollaborator({ name: by, says: [said as never] }));
    const end = await collaboration.run(start);
    expect([end.status, end.steps[0]?.participant, end.board.get('draft')?.version]).toStrictEqual(['failed', by, 1]);
    expect(end.errors[0]?.message).toMatch(says);
  });

  test.each(wrong)('$what: is asked of a person again, who may then say it well', async ({ said, by = 'ann', says }) => {
    const { collaboration, start } = setUp(humanCollaborator({ name: by }));
    const waiting = await collaboration.run(start);
    const prompt = by === 'ann' ? { prompt: 'Approve "draft" (version 1) with { approves: [name] }, or say what has to change.' } : {};
    expect(waiting.waitingFor).toStrictEqual([{ type: 'person', id: `${by}/1`, participant: by, ...prompt }]);
    const again = await collaboration.run(waiting.answer(`${by}/1`, said));
    expect(again.waitingFor).toMatchObject([{ id: `${by}/1`, problem: expect.stringMatching(says) as string }]);
    expect([again.board.get('draft')?.version, again.stepCount]).toStrictEqual([1, 0]);
    const end = await collaboration.nextStep(again.answer(`${by}/1`, { writes: { draft: 'one' } }));
    expect([end.board.get('draft')?.version, end.stepCount, end.steps[0]?.participant]).toStrictEqual([2, 1, by]);
  });

  test('is not tried again, whatever the policy: it would be the same', async () => {
    let asked = 0;
    const broken = functionCollaborator({
      name: 'ann',
      speak: () => {
        asked += 1;
        return { writes: 4 } as never;
      },
    });
    const end = await createCollaboration({ collaborators: [broken], errors: ErrorPolicy.retryAll(5).withBackoff({ baseMs: 0 }) }).start(
      'Go.',
    ).result;
    expect([end.status, asked]).toStrictEqual(['failed', 1]);
  });
});
