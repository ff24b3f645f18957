// A process may die at any moment of a chat, and a store may fail; the conversation comes to the same end.
import { readField } from '../../src/lib/index.ts';
import type { EffectRow } from '../../src/journal/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Chat } from '../../src/chat/index.ts';
import {
  agentParticipant,
  ChatState,
  coordinator,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
} from '../../src/chat/index.ts';
import { compaction } from '../../src/capabilities/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import { createAgent, defineTool, SteplineError } from '../../src/entry/index.ts';
import type { Session, EmbeddedRuntime, SessionStore, SessionWait, StoredEvent } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { ScriptedModel, ScriptedToolCall } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { MortalProcess, Mortality, Troubles } from './mortal-process.ts';
import { createMortality, mortalStore, outOfOrder } from './mortal-process.ts';
import { readActions, newProcess } from './stage.ts';
import type { World } from './ten-steps.ts';
import { createWorld } from './ten-steps.ts';

const usage = { input: 10, output: 1 };
const what = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] } as const;
const call = (id: string, name: string): ScriptedToolCall => ({ id, name, args: { what: id } });

/** The chosen speaker, turn by turn; the fourth name is unknown. */
const order = ['maker', 'sensor', 'guest', 'somebody', 'maker', 'clerk'];
const speakers = ['maker', 'sensor', 'guest', 'boss', 'maker', 'clerk'];

/** The calls of the maker in its first turn, in its second, and those of the clerk. */
const firstPlan = [[call('c1', 'charge')], [call('c2', 'note'), call('c3', 'book')]];
const secondPlan = [[call('p1', 'pay')], [call('c4', 'charge')]];
const clerkPlan = [[call('i1', 'charge')]];

/** The tools that must not do their work twice. */
const once: ReadonlySet<string> = new Set(['charge', 'book', 'pay']);

function toolsIn({ done }: World, process: MortalProcess) {
  const doing = (key: string, name: string): Promise<string> =>
    process.work(`work ${name} ${key}`, () => {
      done.set(`${name} ${key}`, (done.get(`${name} ${key}`) ?? 0) + 1);
      return `${name} done`;
    });
  const tool = (name: string, effect: 'once' | 'idempotent', needsApproval = false) =>
    defineTool({
      name,
      description: name,
      input: what,
      effect,
      needsApproval,
      run: (_, { idempotencyKey }) => doing(idempotencyKey, name),
    });
  const book = defineTool({
    name: 'book',
    description: 'Books, once, and can be asked about it.',
    input: what,
    effect: 'once',
    run: (_, { idempotencyKey }) => doing(idempotencyKey, 'book'),
    reconcile: (key) =>
      process.work(`reconcile ${key}`, () => (done.has(`book ${key}`) ? { happened: true, result: 'found' } : { happened: false })),
  });
  return { charge: tool('charge', 'once'), note: tool('note', 'idempotent'), pay: tool('pay', 'once', true), book };
}

/** Answers as `answer` says, from within this process. */
function modelIn(
  process: MortalProcess,
  name: string,
  answer: (request: ModelRequest) => { text?: string; toolCalls?: readonly ScriptedToolCall[] },
): ScriptedModel {
  return scriptedModel([(request) => process.work(`model ${name}`, () => ({ ...answer(request), usage }))], { repeatLast: true });
}

const textIn = ({ messages }: ModelRequest): string => messages.map(({ text }) => text).join('\n');
const stepsDone = ({ messages }: ModelRequest): number => messages.filter(({ toolCalls }) => toolCalls.length > 0).length;

/** The chat, as this process has it. */
function room(world: World, process: MortalProcess): Chat {
  const ports = { clock: world.clock, ids: world.ids, random: () => 0.5, onProblem: () => undefined };
  const { charge, ...others } = toolsIn(world, process);
  const answerByPlan = (plan: readonly (readonly ScriptedToolCall[])[], text: string) => (request: ModelRequest) => {
    const toolCalls = plan[stepsDone(request)];
    return toolCalls === undefined ? { text } : { toolCalls };
  };
  const maker = modelIn(process, 'maker', (request) =>
    (textIn(request).includes('Go ahead') ? answerByPlan(secondPlan, 'Paid.') : answerByPlan(firstPlan, 'Made.'))(request),
  );
  const summarizer = modelIn(process, 'summarizer', (request) => ({ text: `So far ${textIn(request).length} letters.` }));
  const countCalls = (name: string, words: string) => (): Promise<string> =>
    process.work(`speak ${name}`, () => {
      world.done.set(name, (world.done.get(name) ?? 0) + 1);
      return words;
    });
  const chosen = modelIn(process, 'coordinator', (request) => {
    const turns = textIn(request).match(/^\{"speaker":"(?:maker|clerk|sensor|guest|boss)"/gm)?.length ?? 0;
    return { text: JSON.stringify({ participant: order[turns], reason: `turn ${turns + 1}` }) };
  });
  // Only what was said counts, so that nothing of a turn leaves the window before its end.
  const countTokens = ({ toolCalls, toolResults }: ModelRequest['messages'][number]): number =>
    toolCalls.length + toolResults.length > 0 ? 0 : 1;
  return createChat({
    id: 'room',
    participants: [
      llmParticipant({
        name: 'maker',
        model: maker,
        tools: { charge, ...others },
        limits: { steps: 9 },
        capabilities: [compaction({ model: summarizer, maxTokens: 2, maxBufferTokens: 2, countTokens })],
      }),
      agentParticipant({
        name: 'clerk',
        agent: createAgent({ id: 'clerk', model: modelIn(process, 'clerk', answerByPlan(clerkPlan, 'Filed.')), tools: { charge }, ports }),
      }),
      functionParticipant({ name: 'sensor', speak: countCalls('sensor', 'It is warm.') }),
      humanParticipant({ name: 'guest', reply: countCalls('guest', 'I like it.') }),
      humanParticipant({ name: 'boss' }),
    ],
    selector: coordinator({ model: chosen }),
    ports,
  });
}

const by = { id: 'ann', kind: 'user' };

interface Lived {
  readonly session: Session;
  readonly state: ChatState;
  readonly events: readonly StoredEvent[];
  /** Effects that were begun and had no result, each time the session was read to go on with it. */
  readonly open: readonly string[];
  readonly actions: readonly string[];
  readonly world: World;
}

interface Memory {
  boss?: SessionWait | undefined;
  pay?: SessionWait | undefined;
}

const hasCode = (error: unknown, code: string): boolean => SteplineError.is(error) && error.code === code;
const isOutOfOrder = (error: unknown): boolean => error instanceof Error && error.message.includes(outOfOrder);

async function askOnce(runtime: EmbeddedRuntime, memory: Memory): Promise<void> {
  await runtime.create({ id: 's' }, { by }).catch((error: unknown) => {
    if (!hasCode(error, 'session-conflict')) throw error;
  });
  const sent = await runtime.send('s', 'Make it.', { by, requestId: 'go' });
  memory.boss ??= sent.waitingFor[0];
  if (memory.boss === undefined) throw new Error(`nobody is waited for: ${sent.explain()}`);
  const heard = await runtime.answer('s', memory.boss, { by, value: 'Go ahead.', requestId: 'words' });
  memory.pay ??= heard.waitingFor[0];
  if (memory.pay === undefined) throw new Error(`nothing to approve: ${heard.explain()}`);
  await runtime.approve('s', memory.pay, { by, requestId: 'yes' });
}

/** Asks again if the store failed; the open step is resumed, as the error advises. */
async function ask(runtime: EmbeddedRuntime, memory: Memory): Promise<'done'> {
  for (;;) {
    try {
      await askOnce(runtime, memory);
      return 'done';
    } catch (error) {
      if (!isOutOfOrder(error)) throw error;
      await runtime.resume('s', { by });
    }
  }
}

const openKeys = (rows: readonly EffectRow[]): readonly string[] => {
  const results = new Set(rows.filter(({ phase }) => phase === 'result').map(({ key }) => key));
  return rows.filter(({ phase, key }) => phase === 'intent' && !results.has(key)).map(({ key }) => key);
};

async function readEnd(runtime: EmbeddedRuntime): Promise<Pick<Lived, 'session' | 'state' | 'events'>> {
  const session = await runtime.get('s');
  const events: StoredEvent[] = [];
  for await (const event of runtime.events('s')) events.push(event);
  if (!(session.state instanceof ChatState)) throw new Error('That is no chat.');
  return { session, state: session.state, events };
}

/** Lives through all deaths to the end of the chat. `openStore` opens it as a new process would. */
async function live(world: World, mortality: Mortality, openStore: () => SessionStore): Promise<Lived> {
  const memory: Memory = {};
  const open: string[] = [];
  const problems: unknown[] = [];
  for (;;) {
    const store = openStore();
    const watched: SessionStore = {
      ...store,
      log: {
        ...store.log,
        load: async (id) => {
          const stored = await store.log.load(id);
          open.push(...openKeys(stored?.effects ?? []));
          return stored;
        },
      },
    };
    const process = mortality.start();
    const runtime = createSessionRuntime({
      ...newProcess,
      // Processes die here more often than a step is resumed by default.
      maxRecoveries: Number.POSITIVE_INFINITY,
      agents: [room(world, process)],
      store: mortalStore(watched, process),
      clock: world.clock,
      ids: world.ids,
      onProblem: (error) => {
        if (!isOutOfOrder(error)) problems.push(error);
      },
    });
    const asked = await Promise.race([ask(runtime, memory), process.died]);
    if (problems.length > 0) throw problems[0];
    const end = asked === 'died' ? asked : await Promise.race([readEnd(runtime), process.died]);
    if (end === 'died') continue;
    const actions = (await readActions(store, 's')).map(({ type }) => type);
    return { ...end, open, actions, world };
  }
}

/** Runs the chat with these troubles; `open` opens the store as each new process would. */
async function run({ open, ...troubles }: Troubles & { readonly open?: () => SessionStore } = {}) {
  const place = createMemoryPlace();
  const mortality = createMortality(troubles);
  return { lived: await live(createWorld(), mortality, open ?? (() => place.open())), moments: mortality.moments };
}

/** Results of the turns, without ids and times. */
function listTurns({ state }: Lived): readonly unknown[] {
  return state.steps.map(({ participant, selection, errors, inner, window, usage: spent, outputMessages }) => ({
    participant,
    selection,
    errors,
    said: outputMessages.map(({ text, name, role }) => [name, role, text]),
    usage: spent,
    inner: inner && [inner.orchestrator, inner.status, inner.stopReason, inner.stepCount, inner.calls?.map(({ tool }) => tool)],
    window: window && [window.folded, window.buffered, window.kept, window.summary?.text],
  }));
}

/** The calls that must not be made twice and were cut off, by the statuses that the turns keep. */
const listInterrupted = ({ state }: Lived): readonly string[] =>
  state.steps
    .flatMap(({ inner }) => inner?.calls ?? [])
    .flatMap(({ status, tool }) => (status === 'succeeded' ? [] : [`${tool} ${status}`]));

/** Results of calls of which only the start was kept, by effect key; the others lose nothing. */
const whenCutOff: Readonly<Record<string, string>> = {
  '1/turn/1/maker/1/tool/1/0': 'charge unknown',
  '1/turn/1/maker/1/tool/2/1': 'book cancelled',
  '1/turn/5/maker/2/tool/1/0': 'pay unknown',
  '1/turn/5/maker/2/tool/2/0': 'charge unknown',
  '1/turn/6/clerk/1/tool/1/0': 'charge unknown',
};

/** A call is told as cut off if it was, and only there; one that can be asked about only if it did not happen. */
function expectCutOff(lived: Lived): void {
  const happened = [...lived.world.done.keys()].some((work) => work.startsWith('book '));
  const expected = [...new Set(lived.open)]
    .flatMap((key) => whenCutOff[key] ?? [])
    .filter((each) => !(happened && each.startsWith('book')));
  expect([...listInterrupted(lived)].sort()).toStrictEqual(expected.sort());
}

function expectSameWork(quiet: Lived, lived: Lived): void {
  expect([...lived.world.done.keys()].filter((key) => !quiet.world.done.has(key))).toStrictEqual([]);
  for (const work of quiet.world.done.keys()) {
    const times = lived.world.done.get(work) ?? 0;
    if (once.has(work.split(' ')[0] ?? '')) expect(times, work).toBeLessThanOrEqual(1);
    else expect(times, work).toBeGreaterThanOrEqual(1);
  }
  // What was not cut off was done.
  const missing = [...quiet.world.done.keys()].filter((work) => !lived.world.done.has(work));
  expect(missing.length).toBeLessThanOrEqual(listInterrupted(lived).length);
}

/** Events without what differs between two runs: that a run was taken up again is told once more for each process. */
function eventLines({ events }: Lived): readonly string[] {
  const kept = events.filter((event) => !(event.type === 'AgentExecutionStarted' && event.resumed));
  return kept
    .map((event) =>
      JSON.stringify([event.stepNumber, event.type, readField(event, 'toolCallId'), event.agentId === 's', event.participant]),
    )
    .sort();
}

/** Compares a chat with one in which no process died. */
function expectSameEnd(quiet: Lived, lived: Lived): void {
  const { session, state, events } = lived;
  expect([session.status, session.stopReason, session.executions, session.stepCount]).toStrictEqual(['completed', 'completed', 1, 6]);
  expect(state.steps.map(({ participant }) => participant)).toStrictEqual(speakers);
  expect(state.transcript).toStrictEqual(quiet.state.transcript);
  expect(listTurns(lived)).toStrictEqual(listTurns(quiet));
  expect(session.usage).toStrictEqual(quiet.session.usage);
  const ids = state.messages.toArray().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(lived.actions.filter((type) => type !== 'resume')).toStrictEqual(['create', 'send', 'answer', 'approve']);
  expectSameWork(quiet, lived);
  expectCutOff(lived);
  expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  expect(eventLines(lived)).toStrictEqual(eventLines(quiet));
}

const quiet = await run();
type Moment = readonly [number: number, label: string];
const momentsLike = (label: RegExp): readonly Moment[] =>
  quiet.moments.flatMap((moment, index) => (label.test(moment) ? [[index + 1, moment] as const] : []));

test('a chat in which nobody dies does each piece of work once, and has many moments to die at', () => {
  expect(new Set(quiet.lived.world.done.values())).toStrictEqual(new Set([1]));
  expect(quiet.lived.world.done.size).toBe(8);
  expect(quiet.moments.length).toBeGreaterThan(120);
  expect(listInterrupted(quiet.lived)).toStrictEqual([]);
  expect(quiet.lived.state.transcript.map(({ text }) => text)).toStrictEqual([
    'Make it.',
    'Made.',
    'It is warm.',
    'I like it.',
    'Go ahead.',
    'Paid.',
    'Filed.',
  ]);
  expect(quiet.lived.state.steps[3]?.selection?.problem).toContain('somebody');
  // 6 choices, 3 and 3 answers of the maker, 2 of the clerk, and one summary.
  expect(quiet.lived.session.usage.total).toBe((6 + 3 + 3 + 2 + 1) * 11);
  expectSameEnd(quiet.lived, quiet.lived);
});

describe('a process that dies', () => {
  test.each(momentsLike(/./))('at moment %i: %s', async (death) => {
    const { lived, moments } = await run({ deaths: [death] });
    expect(moments.length).toBeGreaterThan(death);
    expectSameEnd(quiet.lived, lived);
  });
});

describe('a second process that dies while it takes up what the first one left', () => {
  const first = momentsLike(/^after (work|speak|model|write intent)/).filter((_, index) => index % 5 === 0);
  const pairs = first.flatMap(([death, moment]) => [1, 5, 9].map((later) => [death, later, moment] as const));
  test.each(pairs)('at moment %i and %i later: %s', async (death, later) => {
    const { lived } = await run({ deaths: [death, death + later] });
    expectSameEnd(quiet.lived, lived);
  });
});

describe('a process that dies over a file', () => {
  const sample = momentsLike(/work (charge|book|pay)|speak|model (coordinator|summarizer)/).filter((_, index) => index % 2 === 0);
  test.each(sample)('at moment %i: %s', async (death) => {
    const folder = mkdtempSync(join(tmpdir(), 'stepline-chat-crash-'));
    try {
      const { lived } = await run({ deaths: [death], open: () => sqliteStore({ path: join(folder, 'sessions.db') }) });
      expectSameEnd(quiet.lived, lived);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a store that fails one operation, in a process that lives on', () => {
  const sample = momentsLike(/(write (?!entry 1$)|findRequest)/).filter((_, index) => index % 4 === 1);
  test.each(sample)('at moment %i: %s', async (failure) => {
    const { lived } = await run({ failures: [failure] });
    expectSameEnd(quiet.lived, lived);
  });
});
