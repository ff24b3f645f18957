// An open step: stored in pieces, shown at once in its own process, and never mixed with another attempt.
import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../src/entry/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import { agentParticipant, createChat } from '../../src/chat/index.ts';
import { sleep, systemClock } from '../../src/lib/index.ts';
import type { EmbeddedRuntime, OpenStepItem, SessionStore, SessionWrite } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { followOpenStep } from '../../src/sessions/embedded/follow-open-step.ts';
import { OpenStepHub } from '../../src/sessions/embedded/open-step-hub.ts';
import { StoreWatcher } from '../../src/sessions/embedded/store-watcher.ts';
import type { ScriptedEntry } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { pickSubjects } from '../support/test-scale.ts';
import { createMortality, mortalStore } from './mortal-process.ts';
import type { Place } from './stage.ts';
import { ann, createGate, newProcess, places, readEvents, refusal, until } from './stage.ts';

/** Pieces that a test hands to a model. */
function createFeed() {
  const waiting: string[] = [];
  let wake = (): void => undefined;
  let isOver = false;
  async function* read(): AsyncGenerator<string> {
    for (;;) {
      for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) yield piece;
      if (isOver) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const push = (piece: string): void => {
    waiting.push(piece);
    wake();
  };
  const end = (): void => {
    isOver = true;
    wake();
  };
  return { read, push, end };
}

const isTextWrite = ({ effects = [] }: SessionWrite): boolean => effects.some(({ key }) => key.startsWith('open/'));

function setUp(
  place: Place,
  script: readonly ScriptedEntry[],
  { onProblem, ...more }: Partial<AgentOptions> & { readonly onProblem?: () => void } = {},
) {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const opened = place.open();
  const writtenAt: number[] = [];
  const store: SessionStore = {
    ...opened,
    log: {
      ...opened.log,
      write: (write) => {
        if (isTextWrite(write)) writtenAt.push(clock.monotonic());
        return opened.log.write(write);
      },
    },
  };
  const agent = createAgent({ id: 'desk', model: scriptedModel(script), ports: { clock, ids }, ...more });
  const runtime = createSessionRuntime({ ...newProcess, agents: [agent], store, clock, ids, ...(onProblem && { onProblem }) });
  return { clock, runtime, writtenAt };
}

/** Items that a reader has received, checked as it comes: no gap, no double, one attempt at a time. */
function collect(items: AsyncIterable<OpenStepItem>) {
  const received: OpenStepItem[] = [];
  const seen = { attempt: 0, answer: 0, index: 0, text: '', reasoning: '' };
  const ended = (async () => {
    for await (const each of items) {
      const isNew = each.attempt !== seen.attempt || received.at(-1)?.type === 'recorded';
      received.push(each);
      if (isNew) Object.assign(seen, { attempt: each.attempt, answer: 0, index: 0, text: '', reasoning: '' });
      if (each.type === 'event') {
        expect(each.index).toBeGreaterThan(seen.index);
        seen.index = each.index;
      }
      if (each.type !== 'text') continue;
      if (each.answer !== seen.answer) Object.assign(seen, { answer: each.answer, text: '', reasoning: '' });
      expect(each.offset).toBe(seen[each.kind].length);
      seen[each.kind] += each.text;
    }
  })();
  return { received, seen, ended };
}

const isEventItem = (item: OpenStepItem): item is Extract<OpenStepItem, { readonly type: 'event' }> => item.type === 'event';

const pickTexts = (items: readonly OpenStepItem[]): readonly string[] => items.flatMap((item) => (item.type === 'text' ? [item.text] : []));

const pickTypes = (items: readonly OpenStepItem[]): readonly string[] =>
  items.map((item) => (item.type === 'event' ? item.event.type : item.type));

function elsewhere(place: Place, follow: boolean, signal?: AbortSignal): AsyncIterable<OpenStepItem> {
  const store = place.open();
  const watcher = new StoreWatcher(store, systemClock);
  const sources = { store, watcher, openSteps: new OpenStepHub(), closing: new AbortController().signal };
  return followOpenStep(sources, { sessionId: 'one', follow, ...(signal && { signal }) });
}

async function begin(runtime: EmbeddedRuntime): Promise<void> {
  await runtime.create({ id: 'one' }, { by: ann });
  await runtime.send('one', 'Write.', { by: ann, until: 'accepted' });
}

const random = (seed: number): (() => number) => {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
};

describe.each(pickSubjects(places))('an open step over %s', (_, makePlace) => {
  test.each([1, 2, 3])('is the same for readers here, elsewhere and late, in two hundred pieces (seed %i)', async (seed) => {
    const place = makePlace();
    const feed = createFeed();
    const { clock, runtime, writtenAt } = setUp(place, [() => ({ chunks: feed.read() })]);
    await begin(runtime);
    const chance = random(seed);
    const stop = new AbortController();
    const here = collect(runtime.openStep('one', { follow: true }));
    const there = collect(elsewhere(place, true, stop.signal));
    const late: ReturnType<typeof collect>[] = [];
    let whole = '';
    for (let index = 0; index < 200; index += 1) {
      const piece = ` ${index}`;
      whole += piece;
      feed.push(piece);
      await clock.advance(Math.floor(chance() * 120));
      expect(here.seen.text).toBe(whole);
      expect(whole.startsWith(there.seen.text)).toBe(true);
      if (index % 50 === 25) late.push(collect(runtime.openStep('one', { follow: true })), collect(elsewhere(place, true, stop.signal)));
      if (index % 50 === 26) for (const { seen } of late) expect(whole.startsWith(seen.text)).toBe(true);
    }
    await clock.advance(250);
    const readers = [here, there, ...late];
    await until(() => expect(readers.map(({ seen }) => seen.text)).toStrictEqual(readers.map(() => whole)));
    for (const [index, at] of writtenAt.slice(1).entries()) expect(at - (writtenAt[index] ?? 0)).toBeGreaterThanOrEqual(250);
    expect(writtenAt.length).toBeGreaterThan(10);
    feed.end();
    await until(() => expect(readers.map(({ received }) => received.at(-1)?.type)).toStrictEqual(readers.map(() => 'recorded')));
    expect((await runtime.get('one')).text).toBe(whole);
    stop.abort();
    await runtime.drain();
    await Promise.all(readers.map(({ ended }) => ended));
  });

  test('is stored 100 ms after it began, and then every 250 ms (F1)', async () => {
    const feed = createFeed();
    const { clock, runtime, writtenAt } = setUp(makePlace(), [() => ({ chunks: feed.read() })]);
    await begin(runtime);
    feed.push('It');
    const here = collect(runtime.openStep('one', { follow: true }));
    await until(() => expect(here.seen.text).toBe('It'));
    const began = clock.monotonic();
    for (let count = 0; count < 40; count += 1) {
      feed.push(' goes on');
      await clock.advance(10);
    }
    expect(writtenAt.map((at) => at - began)).toStrictEqual([100, 350]);
    feed.end();
    await runtime.drain();
  });

  test('is not stored if the step is recorded within 100 ms, and leaves no timer behind', async () => {
    const { clock, runtime, writtenAt } = setUp(makePlace(), ['All of it at once.']);
    await runtime.create({ id: 'one' }, { by: ann });
    expect((await runtime.send('one', 'Write.', { by: ann })).text).toBe('All of it at once.');
    expect([writtenAt, clock.pendingTimers()]).toStrictEqual([[], 0]);
    await clock.advance(1000);
    expect(writtenAt).toStrictEqual([]);
  });

  test('is read once without following, with reasoning apart', async () => {
    const place = makePlace();
    const feed = createFeed();
    const gate = createGate();
    async function* chunks(): AsyncGenerator<string | { readonly type: 'reasoning'; readonly text: string }> {
      yield { type: 'reasoning', text: 'Hm. ' };
      yield 'Well';
      yield { type: 'reasoning', text: 'So.' };
      gate.reach();
      yield* feed.read();
    }
    const { clock, runtime } = setUp(place, [() => ({ chunks: chunks() })]);
    await begin(runtime);
    await gate.reached;
    await clock.advance(250);
    for (const texts of [runtime.openStep('one'), elsewhere(place, false)]) {
      const { received, seen, ended } = collect(texts);
      await ended;
      expect(seen).toMatchObject({ attempt: 1, text: 'Well', reasoning: 'Hm. So.' });
      const place = { execution: 1, step: 1, afterEntry: 2, attempt: 1 };
      const first = received.find(({ type }) => type === 'text');
      expect(first).toStrictEqual({ type: 'text', ...place, kind: 'reasoning', answer: 1, offset: 0, text: 'Hm. ' });
    }
    feed.end();
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    const { received, ended } = collect(elsewhere(place, false));
    await ended;
    expect(received).toStrictEqual([]);
  });

  test('of a session that does not exist cannot be read', async () => {
    const { runtime } = setUp(makePlace(), []);
    await refusal(collect(runtime.openStep('nobody')).ended, 'unknown-session');
    await refusal(collect(runtime.openStep('nobody', { follow: true })).ended, 'unknown-session');
  });

  test('loses its text when another model is asked, for all readers', async () => {
    const place = makePlace();
    const [feed, more] = [createFeed(), createFeed()];
    const error = { type: 'model', code: 'http-503', message: 'down', retryable: true };
    const first = scriptedModel([() => ({ chunks: feed.read(), error })], { modelId: 'first' });
    const second = scriptedModel([() => ({ chunks: more.read() })], { modelId: 'second' });
    const { clock, runtime } = setUp(place, [], { model: first, fallback: [second] });
    await begin(runtime);
    const stop = new AbortController();
    const readers = [collect(runtime.openStep('one', { follow: true })), collect(elsewhere(place, true, stop.signal))];
    feed.push('First words');
    await clock.advance(250);
    await until(() => expect(readers.map(({ seen }) => seen.text)).toStrictEqual(['First words', 'First words']));
    feed.end();
    more.push('Other');
    await clock.advance(250);
    more.push(' words');
    await clock.advance(250);
    await until(() =>
      expect(readers.map(({ seen }) => [seen.attempt, seen.answer, seen.text])).toStrictEqual([
        [1, 2, 'Other words'],
        [1, 2, 'Other words'],
      ]),
    );
    // The events of the attempt are not void: it goes on with another model.
    for (const { received } of readers) {
      expect(received.filter(({ type }) => type === 'void')).toMatchObject([{ attempt: 1, step: 1, answer: 1 }]);
      expect(pickTypes(received)).toContain('ModelFallback');
    }
    more.end();
    await until(() => expect(readers.map(({ received }) => received.at(-1)?.type)).toStrictEqual(['recorded', 'recorded']));
    stop.abort();
    await runtime.drain();
    await Promise.all(readers.map(({ ended }) => ended));
  });

  test('leaves out the text of sub-agents, not their events', async () => {
    const place = makePlace();
    const feed = createFeed();
    const helper = createAgent({ id: 'helper', model: scriptedModel([() => ({ chunks: feed.read() })]) });
    const call = { toolCalls: [{ name: 'spawn_subagent', args: { subagent: 'helper', prompt: 'Go.' } }] };
    const { clock, runtime, writtenAt } = setUp(place, [call, 'Done.'], {
      capabilities: [subAgents({ agents: { helper: { agent: helper, description: 'Helps.' } } })],
    });
    await begin(runtime);
    const here = collect(runtime.openStep('one', { follow: true }));
    feed.push('Inner words');
    await clock.advance(1000);
    expect([writtenAt.length > 0, pickTexts(here.received)]).toStrictEqual([true, []]);
    feed.end();
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    await runtime.drain();
    await here.ended;
    expect(pickTexts(here.received)).toStrictEqual(['Done.']);
    expect(here.received.filter(({ type }) => type === 'recorded')).toMatchObject([{ step: 1 }, { step: 2 }]);
  });
});

/** Text that tells which attempt wrote it. */
const letters = 'abcdefghijklmnopqrstuvwxyz';

interface Life {
  readonly moments: readonly string[];
  readonly received: readonly OpenStepItem[];
  /** Text that the readers in each process have received. */
  readonly shown: readonly OpenStepItem[];
  readonly text: string;
}

/** Lives through deaths while one reader follows from outside; each attempt of the model writes a letter of its own. */
async function live(place: Place, deaths: readonly number[]): Promise<Life> {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const mortality = createMortality({ deaths });
  let asked = 0;
  const stop = new AbortController();
  let reader: ReturnType<typeof collect> | undefined;
  const inside: ReturnType<typeof collect>[] = [];
  // The reader outside looks at the store at each tick.
  let look = (): void => undefined;
  const follow = (_: string, call: () => void): (() => void) => {
    look = call;
    return () => undefined;
  };
  for (;;) {
    const process = mortality.start();
    const answer: ScriptedEntry = () => {
      const letter = letters[asked] ?? '?';
      asked += 1;
      async function* chunks(): AsyncGenerator<string> {
        for (let index = 0; index < 12; index += 1) {
          yield letter.repeat(3);
          await sleep(clock, 60);
        }
      }
      return { chunks: chunks() };
    };
    const agent = createAgent({ id: 'desk', model: scriptedModel([answer], { repeatLast: true }), ports: { clock, ids } });
    const options = { ...newProcess, maxRecoveries: Number.POSITIVE_INFINITY, agents: [agent], clock, ids, onProblem: () => undefined };
    const runtime = createSessionRuntime({ ...options, store: mortalStore(place.open(), process) });
    const asking = (async () => {
      await runtime.create({ id: 'one' }, { by: ann, requestId: 'make' });
      await runtime.send('one', 'Write.', { by: ann, requestId: 'go' });
      return 'done' as const;
    })();
    asking.catch(() => undefined);
    let end: string | undefined;
    void Promise.race([asking, process.died]).then((how) => (end = how));
    let isRead = false;
    for (let tick = 0; end === undefined && tick < 200; tick += 1) {
      await clock.advance(30);
      look();
      if (!isRead && asked > 0) inside.push(collect(runtime.openStep('one', { follow: true })));
      isRead ||= asked > 0;
      if (reader === undefined && (await place.open().log.load('one')) !== undefined) {
        const sources = { store: place.open(), watcher: { follow }, openSteps: new OpenStepHub(), closing: stop.signal };
        reader = collect(followOpenStep(sources, { sessionId: 'one', follow: true }));
      }
    }
    if (end !== 'done') continue;
    const { text } = await runtime.get('one');
    look();
    await clock.advance(30);
    stop.abort();
    await reader?.ended;
    await runtime.drain();
    return { moments: mortality.moments, received: reader?.received ?? [], shown: inside.flatMap((each) => each.received), text };
  }
}

const quiet = await live((places[0] as (typeof places)[number])[1](), []);
const writes = quiet.moments.flatMap((label, index) => (label.includes('write') ? [[index + 1, label] as const] : []));

describe.each(pickSubjects(places))('a process that writes text and dies over %s', (_, makePlace) => {
  test.each(writes)('at moment %i (%s) leaves its readers a prefix of the final text, or a void', async (death) => {
    const { received, shown, text } = await live(makePlace(), [death]);
    const last = Math.max(0, ...received.map(({ attempt }) => attempt));
    const pieces = received.flatMap((each) => (each.type === 'text' ? [each] : []));
    for (const attempt of new Set(pieces.map((piece) => piece.attempt))) {
      const written = pieces
        .filter((piece) => piece.attempt === attempt)
        .map((piece) => piece.text)
        .join('');
      expect(new Set(written).size).toBe(1);
      if (attempt === last) expect(text.startsWith(written)).toBe(true);
      else expect(received.filter((each) => each.type === 'void' && each.attempt === attempt)).toHaveLength(1);
    }
    // A number stands for one attempt, whatever process shows it, and whether or not that was stored.
    for (const number of new Set(shown.map(({ attempt }) => attempt))) {
      const written = [...received, ...shown].flatMap((each) => (each.type === 'text' && each.attempt === number ? [...each.text] : []));
      expect(new Set(written).size).toBeLessThanOrEqual(1);
    }
    // And the index of an event stands for one event of it.
    const events = new Map<string, unknown>();
    for (const item of [...received, ...shown].filter(isEventItem)) {
      const key = `${item.afterEntry}.${item.attempt}.${item.index}`;
      expect(events.get(key) ?? item.event).toStrictEqual(item.event);
      events.set(key, item.event);
    }
    if (pieces.length > 0) expect(received.at(-1)).toMatchObject({ type: 'recorded', attempt: last });
  });
});

test('the text of a participant is that of the session, with its name', async () => {
  const feed = createFeed();
  const clock = createFakeClock();
  const ids = createCountingIds();
  const [, makePlace] = places[0] as (typeof places)[number];
  const place = makePlace();
  const writer = createAgent({ id: 'writer', model: scriptedModel([() => ({ chunks: feed.read() })]), ports: { clock, ids } });
  const chat = createChat({ id: 'desk', participants: [agentParticipant({ name: 'writer', agent: writer })], ports: { clock, ids } });
  const runtime = createSessionRuntime({ ...newProcess, agents: [chat], store: place.open(), clock, ids });
  await begin(runtime);
  const reader = collect(runtime.openStep('one', { follow: true }));
  feed.push('Words');
  await clock.advance(300);
  expect(reader.received.filter(({ type }) => type === 'text')).toMatchObject([
    { step: 1, attempt: 1, text: 'Words', participant: 'writer' },
  ]);
  feed.end();
  await until(() => expect(reader.received.at(-1)?.type).toBe('recorded'));
  await runtime.drain();
  await reader.ended;
});

const findEvents = (items: readonly OpenStepItem[], type: string) => items.filter(isEventItem).filter(({ event }) => event.type === type);

/** True if a reader in another process gets an event of this type. */
async function elsewhereHas(place: Place, type: string): Promise<boolean> {
  const { received, ended } = collect(elsewhere(place, false));
  await ended;
  return findEvents(received, type).length > 0;
}

const amount = { type: 'object', properties: { amount: { type: 'number' } } } as const;

describe.each(pickSubjects(places))('the events of an open step over %s', (_, makePlace) => {
  test('can be read here and elsewhere before they are stored, without a number', async () => {
    const place = makePlace();
    const gate = createGate();
    const work = defineTool({ name: 'work', description: 'Does it.', input: amount, run: () => gate.passed.then(() => 'done') });
    const calls = { toolCalls: [{ name: 'work', id: 'c1', args: { amount: 5 } }] };
    const { clock, runtime } = setUp(place, [calls, 'Well.'], { tools: [work] });
    await begin(runtime);
    const stop = new AbortController();
    const readers = [collect(runtime.openStep('one', { follow: true })), collect(elsewhere(place, true, stop.signal))];
    await clock.advance(250);
    const types = ['AgentExecutionStarted', 'AgentStepStarted', 'InferenceStarted', 'ToolCallStarted'];
    for (const { received } of readers) {
      await until(() => expect(pickTypes(received)).toStrictEqual(types));
      for (const item of received.filter(isEventItem)) {
        expect(item).toMatchObject({ execution: 1, step: 1, afterEntry: 2, attempt: 1, event: { executionId: 'one/1' } });
        expect(Object.keys(item.event)).not.toEqual(expect.arrayContaining(['seq']));
        expect(Object.keys(item.event)).not.toEqual(expect.arrayContaining(['id']));
      }
      expect(received.filter(isEventItem).map(({ index }) => index)).toStrictEqual([1, 2, 3, 4]);
      expect(findEvents(received, 'ToolCallStarted')).toMatchObject([{ event: { tool: 'work', toolCallId: 'c1', args: { amount: 5 } } }]);
    }
    expect((await readEvents(runtime, 'one')).map(({ type }) => type)).toStrictEqual(['UserMessageReceived']);
    gate.open();
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    for (const { received } of readers) {
      await until(() => expect(received.filter(({ type }) => type === 'recorded')).not.toHaveLength(0));
      expect(received.find(({ type }) => type === 'recorded')).toMatchObject({ step: 1, attempt: 1 });
      expect(received.some(({ type }) => type === 'void')).toBe(false);
    }
    // Each event is stored; those of records are only there.
    const stored = (await readEvents(runtime, 'one')).map(({ type }) => type);
    for (const { received } of readers) for (const { event } of received.filter(isEventItem)) expect(stored).toContain(event.type);
    expect(findEvents(readers[0]?.received ?? [], 'ContinuationEvaluated')).toStrictEqual([]);
    stop.abort();
    await runtime.drain();
    await Promise.all(readers.map(({ ended }) => ended));
  });

  test('are cut if they are large, keep their secrets only if asked to, and are whole once they are stored', async () => {
    const place = makePlace();
    const gate = createGate();
    const free = { type: 'object' } as const;
    const args = { path: 'a.txt', password: 'hunter2', content: 'x'.repeat(20_000) };
    const many = { numbers: Array.from({ length: 3000 }, (_each, index) => index) };
    const work = defineTool({ name: 'work', description: 'Does it.', input: free, run: () => gate.passed.then(() => 'done') });
    const toolCalls = [
      { name: 'work', id: 'c1', args },
      { name: 'work', id: 'c2', args: many },
    ];
    const { clock, runtime } = setUp(place, [{ toolCalls }, 'Well.'], { tools: [work] });
    await begin(runtime);
    await until(async () => {
      await clock.advance(250);
      expect(await elsewhereHas(place, 'ToolCallStarted')).toBe(true);
    });
    for (const items of [runtime.openStep('one'), elsewhere(place, false)]) {
      const { received, ended } = collect(items);
      await ended;
      const [first, second] = findEvents(received, 'ToolCallStarted');
      expect(first).toMatchObject({ cut: ['args'], event: { args: { ...args, content: 'x'.repeat(500) } } });
      expect(second).toMatchObject({ cut: ['args'], event: { args: null } });
    }
    const { received, ended } = collect(runtime.openStep('one', { redact: true }));
    await ended;
    expect(JSON.stringify(received)).not.toContain('hunter2');
    expect(findEvents(received, 'ToolCallStarted')[0]?.event).toMatchObject({ tool: 'work', args: { path: 'a.txt' } });
    gate.open();
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    const started = (await readEvents(runtime, 'one')).filter((event) => event.type === 'ToolCallStarted');
    expect(started.map((event) => event.args)).toStrictEqual([args, many]);
  });

  test('have the latest progress of a call, for those who read late', async () => {
    const place = makePlace();
    const gate = createGate();
    let working = 0;
    const work = defineTool({
      name: 'work',
      description: 'Does it.',
      input: amount,
      run: async (_args, { report }) => {
        for (let percent = 0; percent < 100; percent += 1) report(percent);
        working += 1;
        await gate.passed;
      },
    });
    const toolCalls = [
      { name: 'work', id: 'c1', args: {} },
      { name: 'work', id: 'c2', args: {} },
    ];
    const { clock, runtime } = setUp(place, [{ toolCalls }, 'Well.'], { tools: [work] });
    await begin(runtime);
    await until(() => expect(working).toBe(2));
    await clock.advance(250);
    await until(async () => expect(await elsewhereHas(place, 'ToolCallProgress')).toBe(true));
    for (const items of [runtime.openStep('one'), elsewhere(place, false)]) {
      const { received, ended } = collect(items);
      await ended;
      expect(findEvents(received, 'ToolCallProgress')).toMatchObject([
        { event: { toolCallId: 'c1', progress: 99 } },
        { event: { toolCallId: 'c2', progress: 99 } },
      ]);
    }
    gate.open();
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
  });

  test('ask for an approval with the digest that gives it, also before the step waits', async () => {
    const place = makePlace();
    const gate = createGate();
    const pay = defineTool({ name: 'pay', description: 'Does it.', input: amount, needsApproval: true, run: () => 'paid' });
    const slow = defineTool({ name: 'slow', description: 'Does it.', input: amount, run: () => gate.passed.then(() => 'done') });
    const toolCalls = [
      { name: 'pay', id: 'c1', args: { amount: 5 } },
      { name: 'slow', id: 'c2', args: {} },
    ];
    const { clock, runtime } = setUp(place, [{ toolCalls }, 'Well.'], { tools: [pay, slow] });
    await begin(runtime);
    await clock.advance(250);
    const stop = new AbortController();
    const { received, ended } = collect(elsewhere(place, true, stop.signal));
    await until(() => expect(findEvents(received, 'ToolApprovalRequested')).toHaveLength(1));
    stop.abort();
    await ended;
    const [asked] = findEvents(received, 'ToolApprovalRequested');
    const event: Readonly<Record<string, unknown>> = asked?.event ?? {};
    const { toolCallId, digest } = event;
    if (typeof toolCallId !== 'string' || typeof digest !== 'string') throw new Error('No approval was asked for.');
    const approved = runtime.approve('one', { id: toolCallId, digest }, { by: ann });
    gate.open();
    expect(await approved).toMatchObject({ status: 'completed', text: 'Well.' });
  });

  test('are stored when the step waits; what comes after that is told apart from them', async () => {
    const place = makePlace();
    const gate = createGate();
    const pay = defineTool({
      name: 'pay',
      description: 'Does it.',
      input: amount,
      needsApproval: true,
      run: () => gate.passed.then(() => 'paid'),
    });
    const calls = { toolCalls: [{ name: 'pay', id: 'c1', args: { amount: 5 } }] };
    const { clock, runtime } = setUp(place, [calls, 'Well.'], { tools: [pay] });
    await runtime.create({ id: 'one' }, { by: ann });
    const reader = collect(runtime.openStep('one', { follow: true }));
    const { waitingFor } = await runtime.send('one', 'Pay.', { by: ann });
    await until(() => expect(pickTypes(reader.received).at(-1)).toBe('recorded'));
    expect((await readEvents(runtime, 'one')).map(({ type }) => type)).toContain('ToolApprovalRequested');
    const [wait] = waitingFor;
    if (wait === undefined) throw new Error('Nothing waits.');
    const approved = runtime.approve('one', wait, { by: ann });
    await clock.advance(250);
    await until(() => expect(pickTypes(reader.received)).toContain('ToolCallStarted'));
    const [before] = findEvents(reader.received, 'ToolApprovalRequested');
    const [after] = findEvents(reader.received, 'ToolCallStarted');
    expect([before?.step, after?.step, before?.attempt, after?.attempt]).toStrictEqual([1, 1, 1, 1]);
    expect(after?.afterEntry).toBeGreaterThan(before?.afterEntry ?? 0);
    gate.open();
    await approved;
    await runtime.drain();
    await reader.ended;
  });

  test('and the text of an answer that has come are shown again by the process that resumes the step', async () => {
    const place = makePlace();
    const gate = createGate();
    const look = defineTool({
      name: 'look',
      description: 'Does it.',
      input: amount,
      effect: 'pure',
      run: () => gate.passed.then(() => 'seen'),
    });
    const script: readonly ScriptedEntry[] = [{ text: 'Let me look.', toolCalls: [{ name: 'look', id: 'c1', args: {} }] }, 'Well.'];
    // What an abandoned process still tries to write is refused.
    const first = setUp(place, script, { tools: [look], onProblem: () => undefined });
    await begin(first.runtime);
    const stop = new AbortController();
    const reader = collect(elsewhere(place, true, stop.signal));
    await first.clock.advance(250);
    await until(() => expect(reader.seen.text).toBe('Let me look.'));
    // The first process is abandoned in the middle of the call.
    const second = setUp(place, ['Well.'], { tools: [look] });
    await second.runtime.ready;
    await until(() => expect(second.clock.pendingTimers()).toBeGreaterThan(0));
    await second.clock.advance(250);
    await until(() => expect(pickTexts(reader.received)).toStrictEqual(['Let me look.', 'Let me look.']));
    expect(reader.received.filter(({ type }) => type === 'void')).toMatchObject([{ attempt: 1 }]);
    expect(findEvents(reader.received, 'ToolCallStarted')).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
    gate.open();
    await until(() => expect(reader.received.filter(({ type }) => type === 'recorded')).toMatchObject([{ step: 1, attempt: 2 }]));
    stop.abort();
    await reader.ended;
    await second.runtime.drain();
  });
});
