import { describe, expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import type { Participant } from '../chat/index.ts';
import { agentParticipant } from '../chat/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError, SteplineError } from '../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineContext, defineTool } from '../tools/index.ts';
import type { CollaborationEvent } from './index.ts';
import {
  agentCollaborator,
  BoardTool,
  CollaborationState,
  createCollaboration,
  functionCollaborator,
  humanCollaborator,
  llmCollaborator,
  scriptedCollaborator,
} from './index.ts';

const usage = { input: 3, output: 2 };
const calls = (name: string, args: NonNullable<ScriptedAnswer['toolCalls']>[number]['args'] = {}): ScriptedAnswer => ({
  toolCalls: [{ name, args }],
  usage,
});
const writes = (content: string): ScriptedAnswer => calls(BoardTool.Write, { artifact: 'draft', content });
const says = (text: string): ScriptedAnswer => ({ text, usage });
const pay = defineTool({ name: 'pay', description: 'Pays.', input: { type: 'object' }, needsApproval: true, run: () => 'paid' });
const roundTrip = (state: CollaborationState): CollaborationState => CollaborationState.fromJSON(JSON.parse(JSON.stringify(state)));

describe('an agent', () => {
  const setUp = (script: readonly ScriptedEntry[]) => {
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const model = scriptedModel(script);
    const made: string[] = [];
    const events: CollaborationEvent[] = [];
    const ann = agentCollaborator({
      name: 'ann',
      description: 'writes',
      agent: (board) => {
        made.push(board.name);
        return createAgent({ id: 'writer', model, tools: [pay], capabilities: [board], instructions: 'Be brief.', ports: { clock, ids } });
      },
    });
    const collaboration = createCollaboration({
      collaborators: [ann, scriptedCollaborator({ name: 'bob', says: ['Hm.', { approves: ['draft'] }] })],
      done: { approvedBy: ['bob'] },
      ports: { clock, ids },
    });
    collaboration.wiretap((event) => events.push(event));
    return { collaboration, model, made, events, start: CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
  };

  test('writes by the tools of the board, is linked to the collaboration, and its usage counts', async () => {
    const { collaboration, start, model, events } = setUp([writes('one'), says('Written.'), writes('two'), says('Better.')]);
    const end = await collaboration.run(start);
    expect([end.status, end.steps.map(({ participant }) => participant)]).toStrictEqual(['completed', ['ann', 'bob', 'ann', 'bob']]);
    expect(end.board.get('draft')?.versions.map(({ content, author }) => [content, author])).toStrictEqual([
      ['one', 'ann'],
      ['two', 'ann'],
    ]);
    expect([end.usage.total, end.steps[0]?.inner]).toMatchObject([20, { orchestrator: 'agent', stepCount: 2, stopReason: 'completed' }]);
    const inside = events.filter(({ parentAgentId }) => parentAgentId !== null);
    expect(new Set(inside.map(({ parentAgentId }) => parentAgentId))).toStrictEqual(new Set([end.agentId]));
    const system = (call: number) => model.calls[call]?.messages[0]?.text ?? '';
    expect([system(0).includes('Be brief.'), system(0).includes('one task: Go.'), system(0).includes('The board is empty.')]).toStrictEqual(
      [true, true, true],
    );
    expect(system(2)).toContain('- "draft": version 1 by ann, 3 characters');
    expect(model.calls[0]?.tools?.map(({ name }) => name)).toStrictEqual(['pay', 'read_artifact', 'write_artifact', 'handoff']);
  });

  test('is made once to be looked at, and once for each turn', async () => {
    const { collaboration, start, made } = setUp([writes('one'), says('Written.'), writes('two'), says('Better.')]);
    expect(made).toStrictEqual(['board']);
    await collaboration.run(start);
    expect(made).toStrictEqual(['board', 'board', 'board']);
  });

  test('that waits for an approval goes on with its board after being stored', async () => {
    const { collaboration, start } = setUp([
      writes('one'),
      calls('pay'),
      calls(BoardTool.Read, { artifact: 'draft' }),
      writes('two'),
      says('Paid.'),
    ]);
    const waiting = roundTrip(await collaboration.run(start));
    expect(waiting.waitingFor).toMatchObject([{ type: 'approval', toolName: 'pay', agent: 'ann' }]);
    expect(waiting.board.get('draft')?.version).toBe(1);
    const after = await collaboration.nextStep(waiting.approve(waiting.waitingFor[0]?.id ?? ''));
    expect(after.board.get('draft')?.versions.map(({ content }) => content)).toStrictEqual(['one', 'two']);
    expect(after.steps[0]?.changes).toHaveLength(2);
  });

  test('that has to approve does so by the tool of the board', async () => {
    const model = scriptedModel([calls(BoardTool.Approve, { artifact: 'draft', note: 'good' }), says('Good.')]);
    const ann = agentCollaborator({ name: 'ann', agent: (board) => createAgent({ model, capabilities: [board] }) });
    const bob = scriptedCollaborator({ name: 'bob', says: [{ writes: { draft: 'x' } }] });
    const { status, state } = await createCollaboration({ collaborators: [bob, ann], done: { approvedBy: ['ann'] } }).start('Go.').result;
    expect([status, state.approvals]).toStrictEqual(['completed', [{ by: 'ann', artifact: 'draft', version: 1, note: 'good' }]]);
  });

  test('that was made without the board is refused when the collaboration is made', () => {
    const ann = agentCollaborator({ name: 'ann', agent: () => createAgent({ model: scriptedModel([]) }) });
    const make = (): unknown => createCollaboration({ collaborators: [ann] });
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(/the agent of ann lacks the board/);
  });

  test('that is made without the board for one turn makes a failed turn', async () => {
    let made = 0;
    const ann = agentCollaborator({
      name: 'ann',
      agent: (board) => createAgent({ model: scriptedModel([]), capabilities: (made += 1) > 1 ? [] : [board] }),
    });
    const result = await createCollaboration({ collaborators: [ann] }).start('Go.').result;
    expect(result).toMatchObject({
      status: 'failed',
      state: { participant: 'ann' },
      error: { message: expect.stringContaining('the agent of ann lacks the board') as string },
    });
  });

  test('that cannot be made for a turn makes a failed turn', async () => {
    let made = 0;
    const ann = agentCollaborator({
      name: 'ann',
      agent: (board) => {
        made += 1;
        if (made > 1) throw new Error('no more agents');
        return createAgent({ model: scriptedModel([]), capabilities: [board] });
      },
    });
    const result = await createCollaboration({ collaborators: [ann] }).start('Go.').result;
    expect(result).toMatchObject({ status: 'failed', state: { participant: 'ann' }, error: { message: 'no more agents' } });
  });

  test.each([
    { what: 'no function', options: { name: 'ann', agent: createAgent({ model: scriptedModel([]) }) } },
    { what: 'nothing', options: { name: 'ann' } },
    { what: 'no name', options: { agent: () => createAgent({ model: scriptedModel([]) }) } },
    { what: 'a misspelt option', options: { name: 'ann', agent: () => undefined, agents: [] } },
  ])('cannot be made from $what', ({ options }) => {
    expect(() => agentCollaborator(options as never)).toThrow(InvalidArgumentError);
  });

  test('that turns out to be none is refused when the collaboration is made', () => {
    const ann = agentCollaborator({ name: 'ann', agent: () => ({}) as never });
    expect(() => createCollaboration({ collaborators: [ann] })).toThrow(/agentCollaborator\(\) needs an agent/);
  });
});

describe('an agent without the board', () => {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const guest = (script: readonly ScriptedEntry[]): Participant =>
    agentParticipant({ name: 'guest', agent: createAgent({ model: scriptedModel(script), ports: { clock, ids } }) });
  const bob = scriptedCollaborator({ name: 'bob', says: [{ writes: { draft: 'x' }, approves: ['draft'] }] });

  test('cannot be one of those who approve', () => {
    const make = (): unknown => createCollaboration({ collaborators: [guest([]), bob], done: { approvedBy: ['bob', 'guest'] } });
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(/guest is listed in done.approvedBy.*agentCollaborator\(\)/);
  });

  test('may take part all the same', async () => {
    const collaboration = createCollaboration({
      collaborators: [guest([says('I look on.')]), bob],
      done: { approvedBy: ['bob'] },
      ports: { clock, ids },
    });
    const { status, state } = await collaboration.start('Go.').result;
    expect([status, state.transcript[1]]).toStrictEqual(['completed', { speaker: 'guest', text: 'I look on.' }]);
  });
});

describe('a model', () => {
  test('has its own tools and capabilities beside the board', async () => {
    const model = scriptedModel([calls('look'), says('Seen.')]);
    const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object' }, run: () => 'seen' });
    await createCollaboration({ collaborators: [llmCollaborator({ name: 'ann', model, tools: [look] })] }).start('Go.').result;
    expect(model.calls[0]?.tools?.map(({ name }) => name)).toStrictEqual(['look', 'read_artifact', 'write_artifact']);
  });

  describe.each(Object.values(BoardTool))('whose own tool is called %s', (name) => {
    const mine = defineTool({ name, description: 'Mine.', input: { type: 'object' }, run: () => 'mine' });
    const model = scriptedModel([]);
    const bob = scriptedCollaborator({ name: 'bob', says: [''] });
    const makers: readonly (readonly [kind: string, make: () => Participant])[] = [
      ['a model', () => llmCollaborator({ name: 'ann', model, tools: [mine] })],
      [
        'an agent',
        () => agentCollaborator({ name: 'ann', agent: (board) => createAgent({ model, tools: [mine], capabilities: [board] }) }),
      ],
    ];

    test.each(makers)('%s is refused when the collaboration is made', (_kind, make) => {
      const create = (): unknown => createCollaboration({ collaborators: [make(), bob], done: { approvedBy: ['ann'] } });
      expect(create).toThrow(SteplineError);
      expect(create).toThrow(name);
    });
  });

  test('whose own tool is called as one of the board that it has not got keeps it', async () => {
    const mine = defineTool({ name: BoardTool.Approve, description: 'Mine.', input: { type: 'object' }, run: () => 'mine' });
    const model = scriptedModel([calls(BoardTool.Approve), says('x')]);
    const ann = llmCollaborator({ name: 'ann', model, tools: [mine] });
    const { status, state } = await createCollaboration({ collaborators: [ann] }).start('Go.').result;
    expect([status, state.steps[0]?.changes, state.steps[0]?.inner?.calls]).toStrictEqual([
      'completed',
      undefined,
      [{ tool: BoardTool.Approve, status: 'succeeded' }],
    ]);
  });

  test('needs the context of its tools', async () => {
    const db = defineTool({
      name: 'db',
      description: 'Reads.',
      input: { type: 'object' },
      context: defineContext<{ readonly db: string }>(),
      run: (_args, { context }) => context.db,
    });
    const collaboration = createCollaboration({
      collaborators: [llmCollaborator({ name: 'ann', model: scriptedModel([calls('db'), says('x')]), tools: [db] })],
    });
    const { status } = await collaboration.start('Go.', { context: { db: 'north' } }).result;
    expect(status).toBe('completed');
    // @ts-expect-error: its tool needs a context.
    await expect(collaboration.run(CollaborationState.empty().withUserMessage('Go.'))).rejects.toThrow(InvalidArgumentError);
  });
});

describe('a function, a person, a script', () => {
  test('read the board, the task and the conversation of the collaboration', async () => {
    const seen: unknown[] = [];
    const look = functionCollaborator({
      name: 'look',
      context: defineContext<{ readonly tenant: string }>(),
      speak: ({ state, participant, messages, context }) => {
        seen.push([state.task, state.board.text('draft'), participant, messages.length, context.tenant]);
        return { text: 'Seen.', writes: { note: 'x' } };
      },
    });
    const boss = humanCollaborator({ name: 'boss', reply: ({ state }) => ({ text: String(state.board.get('note')?.author) }) });
    const collaboration = createCollaboration({
      collaborators: [scriptedCollaborator({ name: 'ann', says: [{ writes: { draft: 'one' }, text: 'One.' }] }), look, boss],
    });
    const result = await collaboration.start('Go.', { context: { tenant: 'north' } }).result;
    expect([seen, result.text]).toStrictEqual([[['Go.', 'one', 'look', 2, 'north']], 'look']);
  });

  test.each([undefined, null, '', {}])('that gives %j has said nothing, and had the turn', async (said) => {
    const ann = functionCollaborator({ name: 'ann', speak: () => said as never });
    const { status, state } = await createCollaboration({ collaborators: [ann] }).start('Go.').result;
    expect([status, state.transcript.at(-1)]).toStrictEqual(['completed', { speaker: 'ann', text: '' }]);
  });

  test('a script says contributions in turn, and begins again; after a stored state where it was', async () => {
    const ann = scriptedCollaborator({
      name: 'ann',
      says: [{ writes: { draft: 'one' } }, 'Just words.', { text: 'Two.', writes: { draft: 'two' } }],
    });
    const collaboration = createCollaboration({ collaborators: [ann], done: { approvedBy: ['ann'] } });
    let state = CollaborationState.empty().withUserMessage('Go.');
    for (let turn = 0; turn < 4; turn += 1) state = roundTrip(await collaboration.nextStep(state));
    expect([state.board.get('draft')?.versions.map(({ content }) => content), state.transcript.map(({ text }) => text)]).toStrictEqual([
      ['one', 'two', 'one'],
      ['Go.', '', 'Just words.', 'Two.', ''],
    ]);
  });

  test.each([
    { what: 'a script without words', make: () => scriptedCollaborator({ name: 'ann', says: [] }) },
    { what: 'a function that is none', make: () => functionCollaborator({ name: 'ann', speak: 'x' as never }) },
    { what: 'a reply that is none', make: () => humanCollaborator({ name: 'ann', reply: 'x' as never }) },
    { what: 'a name with spaces', make: () => humanCollaborator({ name: 'a nn' }) },
    { what: 'a misspelt option', make: () => humanCollaborator({ name: 'ann', promt: 'x' } as never) },
  ])('cannot be $what', ({ make }) => {
    expect(make).toThrow(InvalidArgumentError);
  });
});
