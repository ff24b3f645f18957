// Collaborations in sessions: a person who is waited for overnight, and processes that die at any moment of a run with a board.
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import { readField } from '../../src/lib/index.ts';
import type { Participant } from '../../src/chat/index.ts';
import type { Collaboration, CollaborationOptions } from '../../src/collaboration/index.ts';
import {
  BoardTool,
  CollaborationState,
  createCollaboration,
  functionCollaborator,
  humanCollaborator,
  llmCollaborator,
  scriptedCollaborator,
} from '../../src/collaboration/index.ts';
import { defineTool, SteplineError } from '../../src/entry/index.ts';
import type { RunState } from '../../src/step-by-step/index.ts';
import type { EmbeddedRuntime, SessionStore, SessionWait, StoredEvent } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import type { ScriptedToolCall } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { MortalProcess, Mortality, Troubles } from './mortal-process.ts';
import { createMortality, mortalStore } from './mortal-process.ts';
import { ann, bob, readEvents, newProcess, places, sqlitePlace, stageOn } from './stage.ts';

const usage = { input: 10, output: 5 };
const write = (artifact: string, content: string, id: string): ScriptedToolCall => ({
  name: BoardTool.Write,
  args: { artifact, content },
  id,
});
const input = { type: 'object' } as const;

/** The state of a session of a collaboration. */
function boardIn(state: RunState): CollaborationState {
  if (state instanceof CollaborationState) return state;
  throw new Error('That is no state of a collaboration.');
}

const versionsIn = ({ board }: CollaborationState) =>
  board.artifacts.flatMap(({ name, versions }) =>
    versions.map(({ version, content, author = 'outside' }) => `${name} ${version} ${content} by ${author}`),
  );

describe.each(pickSubjects(places))('a collaboration over %s', (_, makePlace) => {
  const open = () => {
    const stage = stageOn(makePlace());
    const { clock, ids, problems } = stage;
    const writer: Participant = scriptedCollaborator({
      name: 'writer',
      says: [
        { text: 'A first draft.', writes: { draft: 'one' } },
        { text: 'Another.', writes: { draft: 'two' } },
      ],
    });
    const boss = humanCollaborator({ name: 'boss', prompt: 'Good?' });
    const desk = (more: Partial<CollaborationOptions<readonly Participant[]>> = {}): Collaboration =>
      createCollaboration({
        id: 'desk',
        collaborators: [writer, boss],
        done: { approvedBy: ['boss'] },
        ports: { clock, ids, onProblem: (problem: unknown) => void problems.push(problem) },
        ...more,
      });
    const start = (more: Partial<CollaborationOptions<readonly Participant[]>> = {}): EmbeddedRuntime =>
      stage.start({ agents: [desk(more)] });
    return { ...stage, desk, start };
  };
  const stateIn = async (runtime: EmbeddedRuntime): Promise<CollaborationState> => boardIn((await runtime.get('one')).state);

  test('a person is waited for overnight, and approves in another process', async () => {
    const stage = open();
    const evening = stage.start();
    await evening.create({ id: 'one' }, { by: ann });
    const turn = await evening.send('one', 'Describe the kettle.', { by: ann });
    expect(turn).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'person', id: 'boss/2', participant: 'boss', prompt: 'Good?' }] });
    await evening.drain();
    await stage.clock.advance(9 * 3_600_000);

    const morning = stage.start();
    expect((await morning.ready).resumed).toStrictEqual([]);
    expect(versionsIn(await stateIn(morning))).toStrictEqual(['draft 1 one by writer']);
    const end = await morning.answer('one', { id: 'boss/2' }, { by: bob, value: { text: 'Fine.', approves: ['draft'] } });
    expect(end).toMatchObject({ status: 'completed', stopReason: 'completed', text: 'Fine.', execution: 1 });
    const state = await stateIn(morning);
    expect([state.approvals, versionsIn(state), state.task]).toStrictEqual([
      [{ by: 'boss', artifact: 'draft', version: 1 }],
      ['draft 1 one by writer'],
      'Describe the kettle.',
    ]);
    const told = (await readEvents(morning, 'one')).filter((event) => event.type === 'BoardUpdated');
    expect(told.map(({ participant, changes }) => [participant, changes])).toStrictEqual([
      ['writer', [{ type: 'write', artifact: 'draft', version: 1 }]],
      ['boss', [{ type: 'approve', artifact: 'draft', version: 1 }]],
    ]);
    expect(stage.problems).toStrictEqual([]);
  });

  test('who wants it otherwise is asked again, by whatever process there is', async () => {
    const stage = open();
    const first = stage.start();
    await first.create({ id: 'one' }, { by: ann });
    await first.send('one', 'Describe the kettle.', { by: ann });
    await first.drain();
    const second = stage.start();
    const turn = await second.answer('one', { id: 'boss/2' }, { by: bob, value: 'Longer!' });
    expect(turn).toMatchObject({ status: 'waiting', waitingFor: [{ id: 'boss/4' }] });
    await second.drain();
    const third = stage.start();
    const odd = await third.answer('one', { id: 'boss/4' }, { by: bob, value: { approves: ['plan'] } });
    expect(odd).toMatchObject({ status: 'waiting', waitingFor: [{ id: 'boss/4', problem: expect.stringContaining('"plan"') as string }] });
    const end = await third.answer('one', { id: 'boss/4' }, { by: bob, value: { approves: ['draft'], writes: { note: 'ship it' } } });
    const told = (await readEvents(third, 'one')).filter((event) => event.type === 'PersonAsked');
    expect(told.map(({ waitId, problem }) => [waitId, problem !== undefined])).toStrictEqual([
      ['boss/2', false],
      ['boss/4', false],
      ['boss/4', true],
      ['boss/6', false],
    ]);
    const given = (await readEvents(third, 'one')).filter((event) => event.type === 'ParticipantSelected');
    expect(given.map(({ participant, resumed }) => [participant, resumed === true])).toStrictEqual([
      ['writer', false],
      ['boss', false],
      ['boss', true],
      ['writer', false],
      ['boss', false],
      ['boss', true],
      ['boss', true],
      ['writer', false],
      ['boss', false],
    ]);
    // A note of the boss's own has to be approved as well.
    expect([end.status, end.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', ['boss/6']]);
    const state = await stateIn(third);
    expect(versionsIn(state)).toStrictEqual([
      'draft 1 one by writer',
      'draft 2 two by writer',
      'draft 3 one by writer',
      'note 1 ship it by boss',
    ]);
  });

  test('one who was given no prompt is told what there is to approve', async () => {
    const stage = open();
    const bare = humanCollaborator({ name: 'boss' });
    const writer = scriptedCollaborator({ name: 'writer', says: [{ writes: { draft: 'one' } }] });
    const runtime = stage.start({ collaborators: [writer, bare] });
    await runtime.create({ id: 'one' }, { by: ann });
    const turn = await runtime.send('one', 'Describe the kettle.', { by: ann });
    expect(turn.waitingFor).toMatchObject([{ id: 'boss/2', prompt: expect.stringContaining('"draft" (version 1)') as string }]);
  });

  test('a message in place of the answer begins anew, with the board as it was', async () => {
    const stage = open();
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'Describe the kettle.', { by: ann });
    const turn = await runtime.send('one', 'No, the pot.', { by: ann });
    expect(turn).toMatchObject({ status: 'waiting', execution: 2 });
    const state = await stateIn(runtime);
    expect([versionsIn(state), state.task, state.approvals]).toStrictEqual([
      ['draft 1 one by writer', 'draft 2 two by writer'],
      'Describe the kettle.',
      [],
    ]);
    const wait = turn.waitingFor[0]?.id ?? '';
    expect((await runtime.answer('one', { id: wait }, { by: bob, value: { approves: ['draft'] } })).status).toBe('completed');
  });

  test('the compiler knows its state', async () => {
    const stage = open();
    const runtime = createSessionRuntime({
      ...newProcess,
      agents: [stage.desk()],
      store: stage.place.open(),
      clock: stage.clock,
      ids: stage.ids,
    });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'Go.', { by: ann });
    expect((await runtime.get('one')).state.board.text('draft')).toBe('one');
  });
});

/** Works in this process on its part of the task: writes, a tool with an effect, an approval, a function and a person. */
function deskIn(process: MortalProcess, world: World): Collaboration {
  const { clock, ids, noted } = world;
  const note = defineTool({
    name: 'note',
    description: 'Notes.',
    input,
    effect: 'idempotent',
    run: (_args, { idempotencyKey }) => process.work('note', () => (noted.push(idempotencyKey), 'noted')),
  });
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input,
    effect: 'idempotent',
    needsApproval: true,
    run: () => process.work('pay', () => 'paid'),
  });
  const plan: readonly (readonly ScriptedToolCall[])[] = [
    [write('draft', 'one', 'w1'), { name: 'note', id: 'n1' }],
    [write('draft', 'two', 'w2'), write('draft', 'three', 'w3'), { name: BoardTool.Read, args: { artifact: 'draft' }, id: 'r1' }],
    [{ name: 'pay', id: 'p1' }, write('draft', 'four', 'w4')],
    [write('draft', 'five', 'w5'), { name: BoardTool.Read, args: { artifact: 'draft' }, id: 'r2' }],
  ];
  const model = scriptedModel(
    [
      ({ messages }) => {
        const done = messages.filter((message) => message.isAssistant()).length;
        const toolCalls = plan[done];
        const read = messages.flatMap(({ toolResults }) => toolResults.map(({ output }) => JSON.stringify(output)));
        return process.work(`model ${done + 1}`, () => (toolCalls === undefined ? { text: read.join('\n'), usage } : { toolCalls, usage }));
      },
    ],
    { repeatLast: true },
  );
  return createCollaboration({
    id: 'desk',
    collaborators: [
      llmCollaborator({ name: 'writer', model, tools: [note, pay] }),
      functionCollaborator({
        name: 'planner',
        speak: ({ state }) =>
          process.work('plan', () => ({ text: 'Planned.', writes: { plan: `after ${state.board.text('draft') ?? ''}` } })),
      }),
      humanCollaborator({ name: 'boss' }),
    ],
    done: { approvedBy: ['boss'] },
    ports: { clock, ids, onProblem: () => undefined },
  });
}

const createWorld = () => ({ clock: createFakeClock(), ids: createCountingIds(), noted: [] as string[] });
type World = ReturnType<typeof createWorld>;

interface Lived {
  readonly state: CollaborationState;
  readonly events: readonly StoredEvent[];
  readonly noted: readonly string[];
}

/** Memory of a client that outlives the processes it talks to. */
interface Memory {
  pay?: SessionWait | undefined;
  boss?: SessionWait | undefined;
}

async function ask(runtime: EmbeddedRuntime, memory: Memory): Promise<void> {
  await runtime.create({ id: 's' }, { by: ann }).catch((error: unknown) => {
    if (!(SteplineError.is(error) && error.code === 'session-conflict')) throw error;
  });
  const sent = await runtime.send('s', 'Describe the kettle.', { by: ann, requestId: 'go' });
  memory.pay ??= sent.waitingFor[0];
  if (memory.pay === undefined) throw new Error(`nothing to approve: ${sent.explain()}`);
  const paid = await runtime.approve('s', memory.pay, { by: bob, requestId: 'yes' });
  memory.boss ??= paid.waitingFor[0];
  if (memory.boss === undefined) throw new Error(`nobody to answer: ${paid.explain()}`);
  const value = { text: 'Fine.', approves: ['draft', 'plan'] };
  await runtime.answer('s', memory.boss, { by: bob, requestId: 'ok', value });
}

/** Lives through all deaths to the end of the run. */
async function live(mortality: Mortality, openStore: () => SessionStore): Promise<Lived> {
  const world = createWorld();
  const memory: Memory = {};
  for (;;) {
    const process = mortality.start();
    const { clock, ids, noted } = world;
    const runtime = createSessionRuntime({
      ...newProcess,
      agents: [deskIn(process, world)],
      store: mortalStore(openStore(), process),
      clock,
      ids,
      onProblem: () => undefined,
    });
    const work = async (): Promise<Lived> => {
      await ask(runtime, memory);
      return { state: boardIn((await runtime.get('s')).state), events: await readEvents(runtime, 's'), noted };
    };
    const end = await Promise.race([work(), process.died]);
    if (end !== 'died') return end;
  }
}

async function run(
  troubles: Troubles = {},
  openStore?: () => SessionStore,
): Promise<{ readonly lived: Lived; readonly moments: readonly string[] }> {
  const place = createMemoryPlace();
  const mortality = createMortality(troubles);
  return { lived: await live(mortality, openStore ?? (() => place.open())), moments: mortality.moments };
}

const quiet = await run();

function eventLines({ events }: Lived): readonly string[] {
  const kept = events.filter((event) => !(event.type === 'AgentExecutionStarted' && event.resumed));
  return kept.map((event) => JSON.stringify([event.stepNumber, event.type, event.participant, readField(event, 'toolCallId')])).sort();
}

function expectSameEnd({ lived }: { readonly lived: Lived }): void {
  const { state, events } = lived;
  const expected = quiet.lived.state;
  expect([state.status, state.stopReason]).toStrictEqual(['completed', 'completed']);
  expect(versionsIn(state)).toStrictEqual(versionsIn(expected));
  expect(state.steps.map(({ participant, changes }) => [participant, changes])).toStrictEqual(
    expected.steps.map(({ participant, changes }) => [participant, changes]),
  );
  expect([state.transcript, state.approvals, state.usage]).toStrictEqual([expected.transcript, expected.approvals, expected.usage]);
  const kept = state.store.section('board').toArray();
  expect(new Set(kept.map(({ id }) => id)).size).toBe(kept.length);
  expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
  expect(eventLines(lived)).toStrictEqual(eventLines(quiet.lived));
  expect(new Set(lived.noted)).toStrictEqual(new Set(quiet.lived.noted));
}

test('a run in which nobody dies puts each version on the board once', () => {
  const { state, noted } = quiet.lived;
  expect(versionsIn(state)).toStrictEqual([
    'draft 1 one by writer',
    'draft 2 two by writer',
    'draft 3 three by writer',
    'draft 4 four by writer',
    'draft 5 five by writer',
    'plan 1 after five by planner',
  ]);
  expect([noted.length, state.approvals.length, quiet.moments.length > 60]).toStrictEqual([1, 2, true]);
  expect(state.transcript[1]?.text).toContain('"content":"five"');
  expectSameEnd(quiet);
});

describe('a process that dies leaves the same board', () => {
  test.each(quiet.moments.map((label, index) => [index + 1, label] as const))('at moment %i: %s', async (death) => {
    const again = await run({ deaths: [death] });
    expect(again.moments.length).toBeGreaterThan(death);
    expectSameEnd(again);
  });
});

describe('so does a second one that dies while it takes up what the first one left', () => {
  const after = quiet.moments.flatMap((label, index) =>
    /^after (write|model|note|plan)/.test(label) ? [[index + 1, label] as const] : [],
  );
  const first = after.filter((_, index) => index % 4 === 0);
  test.each(first.flatMap(([death, label]) => [2, 5, 8].map((later) => [death, later, label] as const)))(
    'at moment %i and %i later: %s',
    async (death, later) => {
      expectSameEnd(await run({ deaths: [death, death + later] }));
    },
  );
});

describe('and so over a file', () => {
  test.each(quiet.moments.flatMap((label, index) => (index % 6 === 2 ? [[index + 1, label] as const] : [])))(
    'at moment %i: %s',
    async (death) => {
      const place = sqlitePlace();
      expectSameEnd(await run({ deaths: [death] }, () => place.open()));
    },
  );
});
