// What models do with the board by its tools, as the tests of the room tell it: W1 and W2 among them.
import { describe, expect, test } from 'vitest';
import { defineAnyHook } from '../hooks/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { CollaborationEvent, CollaborationOptions } from './index.ts';
import { BoardTool, CollaborationState, createCollaboration, llmCollaborator, scriptedCollaborator } from './index.ts';

const usage = { input: 3, output: 2 };
const write = (artifact: string, content: string, id?: string): ScriptedToolCall => ({
  name: BoardTool.Write,
  args: { artifact, content },
  ...(id !== undefined && { id }),
});
const read = (artifact: string, version?: number): ScriptedToolCall => ({
  name: BoardTool.Read,
  args: version === undefined ? { artifact } : { artifact, version },
});
const approve = (artifact: string, note?: string): ScriptedToolCall => ({
  name: BoardTool.Approve,
  args: note === undefined ? { artifact } : { artifact, note },
});
const handoff = (to: string, reason = 'your turn'): ScriptedToolCall => ({ name: BoardTool.Handoff, args: { to, reason } });
const calls = (...toolCalls: readonly ScriptedToolCall[]): ScriptedAnswer => ({ toolCalls, usage });
const says = (text: string): ScriptedAnswer => ({ text, usage });

type More = Pick<CollaborationOptions, 'done' | 'limits'>;

/** A model named `ann` beside a silent `bob`; one turn of hers is played. */
async function playAnn(script: readonly ScriptedEntry[], more: More & { readonly board?: Readonly<Record<string, string>> } = {}) {
  const { board = {}, ...options } = more;
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const model = scriptedModel(script);
  const events: CollaborationEvent[] = [];
  const collaboration = createCollaboration({
    collaborators: [llmCollaborator({ name: 'ann', model }), scriptedCollaborator({ name: 'bob', says: ['Hm.'] })],
    ports: { clock, ids },
    ...options,
  });
  const empty = CollaborationState.empty({ clock, ids }).withUserMessage('Describe the kettle.', { ids });
  const start = Object.entries(board).reduce((state, [name, content]) => state.withArtifact(name, content, { ids }), empty);
  const end = await collaboration.nextStep(start, { onEvent: (event) => events.push(event) });
  const results = (call: number): readonly JsonObject[] =>
    (model.calls[call]?.messages ?? []).flatMap(({ toolResults }) =>
      toolResults.map(({ output }) => (output.type === 'json' ? (output.value as JsonObject) : { output: JSON.stringify(output) })),
    );
  return { end, model, events, results, collaboration };
}

const listVersions = (state: CollaborationState, name: string) =>
  state.board.get(name)?.versions.map(({ version, content, author }) => [version, content, author]);

describe('a model', () => {
  test('writes, reads its own work at once, and others see it after the turn (W2)', async () => {
    const { end, results } = await playAnn([calls(write('draft', 'A kettle.')), calls(read('draft')), says('Written.')]);
    expect(results(2)).toStrictEqual([
      { artifact: 'draft', version: 1 },
      { artifact: 'draft', version: 1, author: 'ann', content: 'A kettle.' },
    ]);
    expect(listVersions(end, 'draft')).toStrictEqual([[1, 'A kettle.', 'ann']]);
    expect(end.steps[0]?.changes).toStrictEqual([{ type: 'write', artifact: 'draft', version: 1 }]);
    expect(end.transcript.at(-1)).toStrictEqual({ speaker: 'ann', text: 'Written.' });
  });

  test('reads what came from outside, without an author, and old versions', async () => {
    const { results } = await playAnn(
      [calls(write('draft', 'Second.')), calls(read('draft', 1), read('draft', 2), read('draft')), says('Read.')],
      {
        board: { draft: 'First.' },
      },
    );
    expect(results(2).slice(1)).toStrictEqual([
      { artifact: 'draft', version: 1, content: 'First.' },
      { artifact: 'draft', version: 2, author: 'ann', content: 'Second.' },
      { artifact: 'draft', version: 2, author: 'ann', content: 'Second.' },
    ]);
  });

  test.each([
    { what: 'to read what is not there', call: read('nothing'), says: /no artifact "nothing".*There is: draft/ },
    { what: 'to read a version that is not there', call: read('draft', 9), says: /1 versions.*no version 9/ },
    { what: 'to approve what is not there', call: approve('nothing'), says: /no artifact "nothing"/ },
    { what: 'to write under a name that is none', call: write(' draft ', 'x'), says: /1 to 100 characters/ },
    { what: 'to write under an empty name', call: write('', 'x'), says: /1 to 100 characters/ },
    { what: 'to write under a name of two lines', call: write('a\nb', 'x'), says: /one line/ },
    { what: 'to write under a name that is too long', call: write('a'.repeat(101), 'x'), says: /1 to 100 characters/ },
  ])('that tries $what reads why, and nothing is done', async ({ call, says: words }) => {
    const { end, results } = await playAnn([calls(call), says('I see.')], { board: { draft: 'x' }, done: { approvedBy: ['ann'] } });
    expect(results(1)).toHaveLength(1);
    expect(results(1)[0]?.['error']).toMatch(words);
    expect([end.board.names, end.board.get('draft')?.version, end.approvals, end.steps[0]?.changes ?? []]).toStrictEqual([
      ['draft'],
      1,
      [],
      [],
    ]);
    expect(end.steps[0]?.errors).toStrictEqual([]);
  });

  test.each([
    { what: 'hands over to a stranger', call: handoff('zoe') },
    { what: 'hands over to itself', call: handoff('ann') },
    { what: 'approves without the right to', call: approve('draft') },
    { what: 'writes without content', call: { name: BoardTool.Write, args: { artifact: 'draft' } } },
    { what: 'writes something that is no text', call: { name: BoardTool.Write, args: { artifact: 'draft', content: { a: 1 } } } },
    { what: 'reads version 0', call: read('draft', 0) },
    { what: 'adds what was not asked for', call: { name: BoardTool.Read, args: { artifact: 'draft', loud: true } } },
  ])('that $what reads why, and may go on', async ({ call }) => {
    const { end, results } = await playAnn([calls(call), calls(write('draft', 'y')), says('I see.')], { board: { draft: 'x' } });
    expect(results(1)).toHaveLength(1);
    expect(end.steps[0]?.inner?.calls).toStrictEqual([
      { tool: call.name, status: 'failed' },
      { tool: BoardTool.Write, status: 'succeeded' },
    ]);
    expect(end.steps[0]?.changes).toStrictEqual([{ type: 'write', artifact: 'draft', version: 2 }]);
  });

  test('has the tools of its rights alone', async () => {
    const listTools = async (more: More) => (await playAnn([says('Hm.')], more)).model.calls[0]?.tools?.map(({ name }) => name);
    expect(await listTools({})).toStrictEqual(['read_artifact', 'write_artifact', 'handoff']);
    expect(await listTools({ done: { approvedBy: ['bob'] } })).toStrictEqual(['read_artifact', 'write_artifact', 'handoff']);
    expect(await listTools({ done: { approvedBy: ['ann'] } })).toStrictEqual([
      'read_artifact',
      'write_artifact',
      'approve_artifact',
      'handoff',
    ]);
    const alone = scriptedModel([says('Hm.')]);
    await createCollaboration({ collaborators: [llmCollaborator({ name: 'ann', model: alone })] }).start('Go.').result;
    expect(alone.calls[0]?.tools?.map(({ name }) => name)).toStrictEqual(['read_artifact', 'write_artifact']);
  });

  test('is told the task, the board, when it is done and whether it approves', async () => {
    const { model } = await playAnn([says('Hm.')], { board: { draft: 'x' }, done: { approvedBy: ['ann', 'bob'], artifact: 'draft' } });
    const system =
      model.calls[0]?.messages
        .filter((message) => message.isSystem())
        .map(({ text }) => text)
        .join('\n') ?? '';
    for (const words of [
      'one task: Describe the kettle.',
      '- "draft": version 1, 1 characters',
      'ann and bob have approved "draft" as it stands',
      'You are one of those who approve',
    ])
      expect(system).toContain(words);
  });

  test('is told what does not fit yet', async () => {
    const model = scriptedModel([calls(write('data', '{}')), says('There.'), says('Again.')]);
    const collaboration = createCollaboration({
      collaborators: [llmCollaborator({ name: 'ann', model })],
      done: { artifact: 'data', schema: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] } },
      limits: { steps: 2 },
    });
    await collaboration.start('Data, please.').result;
    const system = (call: number) => model.calls[call]?.messages[0]?.text ?? '';
    expect(system(0)).not.toContain('does not have its form');
    expect(system(2)).toMatch(/"data" does not have its form yet: .*price/s);
    expect(system(2)).toContain('fits this schema');
  });
});

describe('several calls in one answer', () => {
  test('that write the same artifact make two versions, in the order of the calls', async () => {
    const { end, results } = await playAnn([calls(write('draft', 'one'), write('draft', 'two')), says('Both.')]);
    expect(results(1)).toStrictEqual([
      { artifact: 'draft', version: 1 },
      { artifact: 'draft', version: 2 },
    ]);
    expect(listVersions(end, 'draft')).toStrictEqual([
      [1, 'one', 'ann'],
      [2, 'two', 'ann'],
    ]);
  });

  test('of which a hook holds up the first: versions still count from 1 in the order in which they stand (B2)', async () => {
    let release = (): void => undefined;
    const second = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slowFirst = defineAnyHook({
      name: 'slow-first',
      changes: ['args'],
      beforeTool: async ({ call }) => {
        if (call.id === 'w1') await second;
      },
      afterTool: ({ call }) => {
        if (call.id === 'w2') release();
      },
    });
    const model = scriptedModel([calls(write('draft', 'one', 'w1'), write('draft', 'two', 'w2')), says('Both.')]);
    const { state } = await createCollaboration({
      collaborators: [llmCollaborator({ name: 'ann', model, hooks: [slowFirst] })],
    }).start('Go.').result;
    const versions = state.board.get('draft')?.versions ?? [];
    expect(versions.map(({ version }) => version)).toStrictEqual([1, 2]);
    expect(state.board.get('draft')?.version).toBe(2);
    const told = (state.steps[0]?.changes ?? []).flatMap((act) => (act.type === 'write' ? [act.version] : []));
    expect(told.toSorted()).toStrictEqual([1, 2]);
    // What each call was told is what stands.
    const results = (model.calls[1]?.messages ?? []).flatMap(({ toolResults }) =>
      toolResults.flatMap(({ output }) => (output.type === 'json' ? [output.value as JsonObject] : [])),
    );
    expect(results).toHaveLength(2);
    const contents = ['one', 'two'];
    for (const [index, { version }] of results.entries())
      expect(versions.find((each) => each.version === version)?.content).toBe(contents[index]);
  });

  test('write and read: what was written before is read', async () => {
    const { results } = await playAnn([calls(write('draft', 'one'), read('draft')), says('Both.')]);
    expect(results(1)[1]).toMatchObject({ version: 1, content: 'one' });
  });

  test('write and approve: the approval is of what was written', async () => {
    const { end } = await playAnn([calls(write('draft', 'one'), approve('draft', 'good')), says('Both.')], {
      board: { draft: 'zero' },
      done: { approvedBy: ['ann'] },
    });
    expect(end.approvals).toStrictEqual([{ by: 'ann', artifact: 'draft', version: 2, note: 'good' }]);
    expect([end.status, end.stopReason]).toStrictEqual(['completed', 'completed']);
  });

  test('approve and write: the approval was of the version before, and holds no more', async () => {
    const { end } = await playAnn([calls(approve('draft'), write('draft', 'one')), says('Both.')], {
      board: { draft: 'zero' },
      done: { approvedBy: ['ann'] },
    });
    expect(end.steps[0]?.changes).toStrictEqual([
      { type: 'approve', artifact: 'draft', version: 1 },
      { type: 'write', artifact: 'draft', version: 2 },
    ]);
    expect([end.approvals, end.status]).toStrictEqual([[], 'in_progress']);
  });

  test('with one id for two calls are two calls', async () => {
    const { end } = await playAnn([calls(write('a', 'one', 'x'), write('b', 'two', 'x')), calls(write('a', 'three', 'x')), says('All.')]);
    expect([listVersions(end, 'a'), listVersions(end, 'b')]).toStrictEqual([
      [
        [1, 'one', 'ann'],
        [2, 'three', 'ann'],
      ],
      [[1, 'two', 'ann']],
    ]);
  });
});

describe('hooks of a model', () => {
  const writing = () => scriptedModel([calls(write('draft', 'secret')), says('Written.')]);

  test('that change what is written decide what stands', async () => {
    const model = writing();
    const censor = defineAnyHook({
      name: 'censor',
      changes: ['args'],
      beforeTool: ({ call }) => (call.name === BoardTool.Write ? { args: { artifact: 'draft', content: 'public' } } : undefined),
    });
    const { state } = await createCollaboration({ collaborators: [llmCollaborator({ name: 'ann', model, hooks: [censor] })] }).start('Go.')
      .result;
    expect(state.board.text('draft')).toBe('public');
  });

  test('that block a write leave the board as it was', async () => {
    const model = writing();
    const guard = defineAnyHook({ name: 'guard', changes: ['block'], beforeTool: () => ({ block: 'not today' }) });
    const { state, status } = await createCollaboration({ collaborators: [llmCollaborator({ name: 'ann', model, hooks: [guard] })] }).start(
      'Go.',
    ).result;
    expect([state.board.isEmpty, status]).toStrictEqual([true, 'completed']);
  });

  test.each([{ done: true }, 'Done.', { artifact: 'draft', version: 7 }])(
    'that answer a write with %j without making it leave the board as it was',
    async (result) => {
      const model = writing();
      const fake = defineAnyHook({ name: 'fake', changes: ['result'], beforeTool: () => ({ result }) });
      const { state } = await createCollaboration({ collaborators: [llmCollaborator({ name: 'ann', model, hooks: [fake] })] }).start('Go.')
        .result;
      expect([state.board.names, state.steps[0]?.changes ?? []]).toStrictEqual([[], []]);
    },
  );

  test('that answer a write with something else leave a state that can be read', async () => {
    const model = writing();
    const fake = defineAnyHook({ name: 'fake', changes: ['result'], beforeTool: () => ({ result: { done: true } }) });
    const { state } = await createCollaboration({ collaborators: [llmCollaborator({ name: 'ann', model, hooks: [fake] })] }).start('Go.')
      .result;
    expect(CollaborationState.fromJSON(JSON.parse(JSON.stringify(state))).stepCount).toBe(1);
  });

  test('that change what the model reads of a write change nothing of the write', async () => {
    const model = writing();
    const gloss = defineAnyHook({ name: 'gloss', changes: ['result'], afterTool: () => ({ result: 'Well done.' }) });
    const { state } = await createCollaboration({ collaborators: [llmCollaborator({ name: 'ann', model, hooks: [gloss] })] }).start('Go.')
      .result;
    expect(state.steps[0]?.inner?.calls).toStrictEqual([{ tool: BoardTool.Write, status: 'succeeded' }]);
    expect(state.board.text('draft')).toBe('secret');
  });
});

test('BoardUpdated tells what was written and approved, once, with the speaker', async () => {
  const { events, end } = await playAnn([calls(write('draft', 'one')), calls(approve('draft')), calls(handoff('bob')), says('There.')], {
    done: { approvedBy: ['ann'] },
  });
  const told = events.flatMap((event) => (event.type === 'BoardUpdated' ? [event] : []));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ participant: 'ann', orchestrator: 'collaboration', stepNumber: 1, agentId: end.agentId });
  expect(told[0]?.changes).toStrictEqual([
    { type: 'write', artifact: 'draft', version: 1 },
    { type: 'approve', artifact: 'draft', version: 1 },
  ]);
  expect(told[0]?.describe()).toBe('wrote draft (version 1), approved draft (version 1)');
});

test('no BoardUpdated without a change', async () => {
  const { events } = await playAnn([calls(read('draft'), handoff('bob')), says('There.')], { board: { draft: 'x' } });
  expect(events.filter(({ type }) => type === 'BoardUpdated')).toStrictEqual([]);
});
