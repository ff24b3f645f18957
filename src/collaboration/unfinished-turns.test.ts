// A turn that wrote and did not come to its end: what it wrote stands once, and who takes the turn again knows of it.
import { describe, expect, test } from 'vitest';
import type { Participant } from '../chat/index.ts';
import { createAgent } from '../agent/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ModelRequest } from '../inference/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedModel } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { CollaborationOptions } from './index.ts';
import { agentCollaborator, BoardTool, CollaborationState, createCollaboration, llmCollaborator, scriptedCollaborator } from './index.ts';

const usage = { input: 3, output: 2 };
const write = (content: string): ScriptedAnswer => ({
  toolCalls: [{ name: BoardTool.Write, args: { artifact: 'draft', content } }],
  usage,
});
const says = (text: string): ScriptedAnswer => ({ text, usage });
const { codec } = CollaborationState;
const order = ({ steps }: CollaborationState) => steps.map(({ participant }) => participant);
const contents = ({ board }: CollaborationState) => board.get('draft')?.versions.map(({ version, content }) => `${version} ${content}`);

/** Stored as a whole and as a change; both must say the same. */
function roundTrip(state: CollaborationState, before: CollaborationState): CollaborationState {
  const whole = CollaborationState.fromJSON(JSON.parse(JSON.stringify(state)));
  const patched = codec.patch(
    CollaborationState.fromJSON(JSON.parse(JSON.stringify(before))),
    JSON.parse(JSON.stringify(codec.diff(before, state))) as never,
  );
  for (const read of [whole, patched]) expect(JSON.parse(JSON.stringify(read))).toStrictEqual(JSON.parse(JSON.stringify(state)));
  expect(whole.steps).toStrictEqual(state.steps);
  return whole;
}

/** The conversation as a model was shown it, in short. */
const listShown = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? [])
    .filter((message) => !message.isSystem())
    .map(({ role, text, toolCalls, toolResults }) => {
      const done = [...toolCalls.map(({ name }) => `calls ${name}`), ...toolResults.map(({ toolName }) => `result of ${toolName}`)];
      return `${role}: ${[text, ...done].filter((each) => each !== '').join(' ')}`;
    });
const getSystemText = (request: ModelRequest | undefined): string => request?.messages.find((message) => message.isSystem())?.text ?? '';

const makers: readonly (readonly [kind: string, make: (model: ScriptedModel) => Participant])[] = [
  ['a model', (model) => llmCollaborator({ name: 'ann', model })],
  ['an agent', (model) => agentCollaborator({ name: 'ann', agent: (board) => createAgent({ model, capabilities: [board] }) })],
];

function setUp(model: ScriptedModel, ann: Participant, more: Pick<CollaborationOptions, 'limits' | 'done'> = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const collaboration = createCollaboration({
    collaborators: [ann, scriptedCollaborator({ name: 'bob', says: ['Hm.'] })],
    ports: { clock, ids },
    ...more,
  });
  return { collaboration, clock, ids, model, start: CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

describe.each(makers)('%s that writes, and is cut off by a limit of the whole', (_kind, make) => {
  const play = (script: readonly ScriptedEntry[]) => {
    const model = scriptedModel(script);
    return setUp(model, make(model), { limits: { tokens: 4, onLimit: 'pause' } });
  };

  test('has its turn again when more was granted, sees what it wrote, and the board has it once', async () => {
    const { collaboration, start, model } = play([write('one'), says('Written.')]);
    const paused = roundTrip(await collaboration.run(start), start);
    expect([paused.status, paused.waitingFor.map(({ type }) => type), order(paused)]).toStrictEqual(['waiting', ['grant'], ['ann']]);
    expect(paused.steps[0]).toMatchObject({ interrupted: 'vote', outputMessages: [], errors: [], unfinished: { at: 1 } });
    expect([contents(paused), paused.messages.length]).toStrictEqual([['1 one'], 1]);
    const end = await collaboration.run(paused.grant({ tokens: 100 }));
    expect([end.status, order(end), contents(roundTrip(end, paused))]).toStrictEqual(['completed', ['ann', 'ann', 'bob'], ['1 one']]);
    expect(listShown(model.calls[1]).slice(0, 3)).toStrictEqual([
      'user: Go.',
      `assistant: calls ${BoardTool.Write}`,
      `tool: result of ${BoardTool.Write}`,
    ]);
    expect(getSystemText(model.calls[1])).toContain('- "draft": version 1 by ann, 3 characters');
    expect(end.transcript).toStrictEqual([{ text: 'Go.' }, { speaker: 'ann', text: 'Written.' }, { speaker: 'bob', text: 'Hm.' }]);
  });

  test('and had words before the call: they are no answer, and not said to the others', async () => {
    const { collaboration, start, model } = play([{ ...write('one'), text: 'I begin.' }, says('Written.')]);
    const paused = roundTrip(await collaboration.run(start), start);
    expect([paused.steps[0]?.interrupted, paused.messages.length, paused.text]).toStrictEqual(['vote', 1, '']);
    const end = await collaboration.run(paused.grant({ tokens: 100 }));
    expect(end.transcript.map(({ text }) => text)).toStrictEqual(['Go.', 'Written.', 'Hm.']);
    expect(listShown(model.calls[1])[1]).toBe(`assistant: I begin. calls ${BoardTool.Write}`);
  });

  test('and again: what it wrote in each try is there once, and it sees all of it', async () => {
    const { collaboration, start, model } = play([write('one'), write('two'), says('Written.')]);
    const paused = roundTrip(await collaboration.run(start), start);
    const again = roundTrip(await collaboration.run(paused.grant({ tokens: 5 })), paused);
    expect([again.status, order(again), contents(again)]).toStrictEqual(['waiting', ['ann', 'ann'], ['1 one', '2 two']]);
    const end = await collaboration.run(again.grant({ tokens: 100 }));
    expect([order(end), contents(end), end.status]).toStrictEqual([['ann', 'ann', 'ann', 'bob'], ['1 one', '2 two'], 'completed']);
    expect(listShown(model.calls[2]).filter((line) => line.startsWith('assistant'))).toHaveLength(2);
    // Each call has its result, and no two of them are the same.
    const results = (model.calls[2]?.messages ?? []).flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));
    const made = (model.calls[2]?.messages ?? []).flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
    expect([results, new Set(results).size]).toStrictEqual([made, 2]);
  });

  test('does not show it to the others', async () => {
    const bob = scriptedModel([says('I read.')]);
    const model = scriptedModel([write('one'), says('Written.')]);
    const { collaboration, start } = setUp(model, make(model), { limits: { tokens: 4, onLimit: 'pause' } });
    const both = collaboration.with({ collaborators: [make(model), llmCollaborator({ name: 'bob', model: bob })] });
    await both.run((await both.run(start)).grant({ tokens: 100 }));
    expect(listShown(bob.calls[0])).toStrictEqual(['user: Go.', 'user: [ann] Written.']);
  });

  test('reads it no more once it has come to the end of a turn', async () => {
    const { collaboration, start, model, ids } = play([write('one'), says('Written.'), says('Again.')]);
    const end = await collaboration.run((await collaboration.run(start)).grant({ tokens: 100 }));
    await collaboration.with({ limits: { tokens: 1000 } }).run(end.withUserMessage('More.', { ids }));
    expect(listShown(model.calls[2]).filter((line) => line.includes(BoardTool.Write))).toStrictEqual([]);
    expect(listShown(model.calls[2])).toContain('assistant: Written.');
  });
});

describe('a model that writes, and does not come to the end of its turn', () => {
  const input = { type: 'object' } as const;
  const hangs = defineTool({ name: 'hangs', description: 'Hangs.', input, run: () => new Promise(() => undefined) });
  const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' });
  const call = (name: string): ScriptedAnswer => ({ toolCalls: [{ name }], usage });
  const ann = (model: ScriptedModel, steps = 8) => llmCollaborator({ name: 'ann', model, tools: [hangs, pay], limits: { steps } });
  const seesItsWrite = (request: ModelRequest | undefined) =>
    listShown(request).filter((line) => line === `tool: result of ${BoardTool.Write}`).length;

  test('because of a limit of its own: the turn has failed, with the numbers, and the next input gives it again', async () => {
    const model = scriptedModel([write('one'), write('two'), says('Written.')]);
    const { collaboration, start, ids } = setUp(model, ann(model, 2));
    const failed = roundTrip(await collaboration.run(start), start);
    expect([failed.status, contents(failed)]).toStrictEqual(['failed', ['1 one', '2 two']]);
    expect(failed.errors).toMatchObject([
      { code: 'turn-incomplete', type: 'model', retryable: false, message: expect.stringMatching(/steps_limit.*2/) as string },
    ]);
    const end = await collaboration.run(failed.withUserMessage('Go on.', { ids }));
    expect([order(end), end.status, contents(end), seesItsWrite(model.calls[2])]).toStrictEqual([
      ['ann', 'bob'],
      'completed',
      ['1 one', '2 two'],
      2,
    ]);
    // What it did stands before what was said after it.
    expect(listShown(model.calls[2]).at(-1)).toBe('user: Go on.');
  });

  test('because of the signal: the next input gives it again, and it sees what it wrote', async () => {
    const model = scriptedModel([write('one'), call('hangs'), says('Written.')]);
    const { collaboration, start, ids } = setUp(model, ann(model));
    const host = new AbortController();
    const cut = await collaboration.run(start, {
      signal: host.signal,
      onEvent: (event) => {
        if (event.type === 'ToolCallStarted' && event.tool === 'hangs') host.abort('enough');
      },
    });
    const end = await collaboration.run(roundTrip(cut, start).withUserMessage('Go on.', { ids }));
    expect([order(end), end.status, contents(end), seesItsWrite(model.calls[2])]).toStrictEqual([
      ['ann', 'bob'],
      'completed',
      ['1 one'],
      1,
    ]);
  });

  test('because it is gone in the next release: its write stays, once, and the turn has failed', async () => {
    const model = scriptedModel([write('one'), call('pay')]);
    const { collaboration, start } = setUp(model, ann(model));
    const waiting = roundTrip(await collaboration.run(start), start);
    const bob = scriptedCollaborator({ name: 'bob', says: ['Hm.'] });
    const others: readonly (readonly Participant[])[] = [[bob], [scriptedCollaborator({ name: 'ann', says: ['I am no model.'] }), bob]];
    for (const collaborators of others) {
      const next = collaboration.with({ collaborators });
      const end = await next.run(waiting.approve(waiting.waitingFor[0]?.id ?? ''));
      expect([end.status, order(end), contents(end)]).toStrictEqual(['failed', ['ann'], ['1 one']]);
      expect([end.errors.map(({ code }) => code), end.steps[0]?.changes?.length]).toStrictEqual([['participant-changed'], 1]);
    }
  });

  test('because a message came while it waited: the turn was taken, and it sees what it wrote when it has the next', async () => {
    const model = scriptedModel([write('one'), call('pay'), says('Written.')]);
    const { collaboration, start, ids } = setUp(model, ann(model));
    const waiting = roundTrip(await collaboration.run(start), start);
    const next = roundTrip(waiting.withUserMessage('Forget it.', { ids }), waiting);
    expect(next.session.executions[0]?.results.last?.step).toMatchObject({ participant: 'ann', unfinished: { at: 1 } });
    const end = await collaboration.run(next);
    expect([order(end), end.status, contents(end), seesItsWrite(model.calls[2])]).toStrictEqual([
      ['bob', 'ann'],
      'completed',
      ['1 one'],
      1,
    ]);
  });
});

describe('what counts only in a turn that comes to its end', () => {
  const approves: ScriptedAnswer = { toolCalls: [{ name: BoardTool.Approve, args: { artifact: 'draft' } }], usage };
  const handsOver: ScriptedAnswer = { toolCalls: [{ name: BoardTool.Handoff, args: { to: 'cat', reason: 'Look.' } }], usage };
  const knows = (request: ModelRequest, tool: string): boolean =>
    request.messages.some(({ toolResults }) => toolResults.some(({ toolName }) => toolName === tool));

  /** Does it unless it knows that it has; its model breaks once after that. */
  function doer(answer: ScriptedAnswer, tool: string): ScriptedModel {
    let broken = false;
    return scriptedModel(
      [
        (request) => {
          if (!knows(request, tool)) return answer;
          if (broken) return says('Done.');
          broken = true;
          return { error: new Error('503'), usage };
        },
      ],
      { repeatLast: true },
    );
  }

  function team(ann: ScriptedModel, more: Pick<CollaborationOptions, 'done'> = {}) {
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const others = ['bob', 'cat'].map((name) => scriptedCollaborator({ name, says: ['Hm.'] }));
    const collaboration = createCollaboration({
      collaborators: [llmCollaborator({ name: 'ann', model: ann }), ...others],
      errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }),
      ports: { clock, ids },
      ...more,
    });
    const start = CollaborationState.empty({ clock, ids }).withArtifact('draft', 'A lamp.', { ids }).withUserMessage('Go.', { ids });
    return { collaboration, start };
  }

  test('an approval: whoever gave it in a turn that broke is not told that it was given, and gives it again', async () => {
    const { collaboration, start } = team(doer(approves, BoardTool.Approve), { done: { approvedBy: ['ann'], artifact: 'draft' } });
    const end = await collaboration.run(start);
    expect([end.status, order(end), end.approvals]).toStrictEqual([
      'completed',
      ['ann', 'ann'],
      [{ by: 'ann', artifact: 'draft', version: 1 }],
    ]);
    expect(end.steps[0]?.unfinished).toBeUndefined();
  });

  test('a handover: it is made again, and counts then', async () => {
    const { collaboration, start } = team(doer(handsOver, BoardTool.Handoff));
    const end = await collaboration.run(start);
    expect(order(end).slice(0, 3)).toStrictEqual(['ann', 'ann', 'cat']);
    expect(end.steps[2]?.selection?.by).toBe('handoff');
  });
});
