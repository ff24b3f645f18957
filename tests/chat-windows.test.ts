// Windows of participants: what each of them reads of a conversation that never gets shorter.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pickRuns } from './support/test-scale.ts';
import { compaction } from '../src/capabilities/index.ts';
import type { Chat, Participant } from '../src/chat/index.ts';
import { agentParticipant, ChatState, createChat, functionParticipant, llmParticipant } from '../src/chat/index.ts';
import type { ModelRequest } from '../src/inference/index.ts';
import { createAgent, defineTool, ErrorPolicy, Message, ModelFailedError } from '../src/entry/index.ts';
import { createCountingIds, createFakeClock } from '../src/lib/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../src/sessions/index.ts';
import type { ScriptedAnswer, ScriptedModel } from '../src/testing/index.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { newProcess } from './sessions/stage.ts';

const numRuns = pickRuns({ quick: 30, slow: 500 });
const anything = { type: 'object', properties: {} } as const;

/** Each message has a number of its own, by which it is found again wherever it is read. */
const toNumberedText = (number: number, length: number): string => `<${number}>${'x'.repeat(length)}`;
const numbersIn = (text: string): readonly number[] => [...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number));
const isSystem = (message: Message): boolean => message.isSystem();
const isSummary = ({ metadata }: Message): boolean => metadata['purpose'] === 'summary';
const getText = ({ messages }: ModelRequest): string =>
  messages
    .filter((message) => !isSystem(message))
    .map(({ text }) => text)
    .join('\n');
const getSize = ({ text }: Message): number => text.length;

interface WindowSizes {
  readonly maxTokens: number;
  readonly maxBufferTokens: number;
}

/** Choices, random or by a test. */
interface Plan {
  /** Length of the words with this number; undefined for a function that says nothing. */
  readonly length: (number: number) => number;
  /** True if a summarizer fails at this call. */
  readonly summaryFails?: (name: string, time: number) => boolean;
  /** Number of calls in the turn before the words with this number. */
  readonly calls?: (number: number) => number;
  /** True if the model breaks off once, after its calls, before it says the words with this number. */
  readonly breaksOff?: (number: number) => boolean;
  readonly isSilent?: (turn: number) => boolean;
  /** True if the words with this number come from the host's program and not from a person. */
  readonly isNote?: (number: number) => boolean;
}

/** Somebody who reads, and what it read. */
interface Reader {
  readonly name: string;
  readonly sizes: WindowSizes | undefined;
  readonly model: ScriptedModel;
  readonly summarizer: ScriptedModel;
  /** Messages folded into a summary that was used. */
  readonly folded: Set<number>;
  /** The summary that was made last. */
  newest: string | undefined;
}

/** A place where things are said; outlives the chats that are made in it. */
class Hall {
  readonly clock = createFakeClock();
  readonly ids = createCountingIds();
  /** Numbers of what was said, without empty words. */
  readonly said: number[] = [];
  readonly problems: string[] = [];
  readonly readers = new Map<string, Reader>();
  readonly #plan: Plan;
  readonly #brokenOff = new Set<number>();
  #last = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  words(): string {
    this.#last += 1;
    this.said.push(this.#last);
    return toNumberedText(this.#last, this.#plan.length(this.#last));
  }

  reader(name: string, sizes?: WindowSizes): Reader {
    const folded = new Set<number>();
    let summaries = 0;
    const model = scriptedModel([(request) => this.#answer(reader, request)], { repeatLast: true });
    const summarizer = scriptedModel([(request) => this.#summary(reader, request, (summaries += 1))], { repeatLast: true });
    const reader: Reader = { name, sizes, model, summarizer, folded, newest: undefined };
    this.readers.set(name, reader);
    return reader;
  }

  #summary(reader: Reader, request: ModelRequest, time: number): ScriptedAnswer {
    const { name, folded } = reader;
    const usage = { input: 1000, output: 100 };
    if (this.#plan.summaryFails?.(name, time) === true) return { error: new Error('no summary today') };
    for (const number of numbersIn(getText(request))) {
      if (folded.has(number)) this.problems.push(`${number} was folded twice for ${name}`);
      folded.add(number);
    }
    reader.newest = `S${time}.`;
    return { text: reader.newest, usage };
  }

  #answer(reader: Reader, request: ModelRequest): ScriptedAnswer {
    this.#check(reader, request);
    const usage = { input: 10, output: 5 };
    const done = request.messages.filter(({ toolCalls }) => toolCalls.length > 0).length;
    const calls = this.#plan.calls?.(this.#last + 1) ?? 0;
    if (done >= calls && this.#plan.breaksOff?.(this.#last + 1) === true && !this.#brokenOff.has(this.#last + 1)) {
      this.#brokenOff.add(this.#last + 1);
      return { error: new ModelFailedError('503'), usage };
    }
    return done < calls ? { toolCalls: [{ name: 'look', id: `c${this.#last}-${done}` }], usage } : { text: this.words(), usage };
  }

  /** Everything that was said is read word by word, or was folded once; in its order, and nothing twice. */
  #check({ name, folded, newest }: Reader, request: ModelRequest): void {
    const read = numbersIn(getText(request));
    const expected = this.said.filter((number) => !folded.has(number));
    if (JSON.stringify(read) !== JSON.stringify(expected))
      this.problems.push(`${name} read ${read.join()}, not ${expected.join()}; folded ${[...folded].join()}`);
    const summaries = request.messages.filter(isSummary).map(({ text }) => text.split('\n').at(-1));
    if (summaries.join() !== (newest ?? '')) this.problems.push(`${name} read the summaries ${summaries.join()}, not ${newest ?? 'none'}`);
  }

  participant({ name, sizes, model, summarizer }: Reader): Participant {
    const look = defineTool({ name: 'look', description: 'Looks.', input: anything, effect: 'pure', run: () => 'seen '.repeat(8) });
    const pay = defineTool({ name: 'pay', description: 'Pays.', input: anything, needsApproval: true, run: () => 'paid' });
    const capabilities = sizes === undefined ? [] : [compaction({ model: summarizer, ...sizes, countTokens: getSize })];
    return llmParticipant({ name, model, tools: { look, pay }, capabilities, limits: { steps: 9, tokens: Infinity, wallMs: Infinity } });
  }

  /** A participant that is not a model; says nothing in some turns. */
  crier(): Participant {
    return functionParticipant({
      name: 'crier',
      speak: ({ state }) => (this.#plan.isSilent?.(state.messages.length) === true ? '' : this.words()),
    });
  }

  chat(
    participants: readonly Participant[],
    more: { readonly steps?: number; readonly order?: (messages: number) => string; readonly errors?: ErrorPolicy } = {},
  ): Chat {
    const { steps = Infinity, order, errors } = more;
    return createChat({
      participants,
      limits: { steps, tokens: Infinity },
      ports: { clock: this.clock, ids: this.ids, random: () => 0.5, onProblem: (problem) => void this.problems.push(String(problem)) },
      ...(order !== undefined && { selector: ({ state }) => order(state.messages.length) }),
      ...(errors !== undefined && { errors }),
    });
  }

  empty(): ChatState {
    return ChatState.empty({ clock: this.clock, ids: this.ids });
  }

  /** Says something to the chat, and lets it answer. */
  async round(chat: Chat, state: ChatState): Promise<ChatState> {
    const words = this.words();
    const metadata = this.#plan.isNote?.(this.#last) === true ? { purpose: 'note' } : {};
    return chat.run(state.withUserMessage(Message.user(words, { ids: this.ids, metadata })));
  }

  async rounds(chat: Chat, count: number, between: (state: ChatState) => ChatState = (state) => state): Promise<ChatState> {
    let state = this.empty();
    for (let each = 0; each < count; each += 1) state = between(await this.round(chat, state));
    return state;
  }
}

const throughJson = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const listSteps = ({ session }: ChatState) => session.executions.flatMap(({ results }) => results.toArray().map(({ step }) => step));
const small: WindowSizes = { maxTokens: 120, maxBufferTokens: 80 };
const large: WindowSizes = { maxTokens: 600, maxBufferTokens: 400 };
const readBy = ({ model }: Reader): readonly string[] => model.calls.map(getText);
const sameLength = (length: number): Plan => ({ length: () => length });

/** Messages of one request besides its summary. */
const measureRequest = ({ messages }: ModelRequest): number =>
  messages.filter((message) => !isSystem(message) && !isSummary(message)).reduce((sum, message) => sum + getSize(message), 0);

describe('thirty turns', () => {
  async function thirty(plan: Plan = sameLength(20), between?: (state: ChatState) => ChatState) {
    const hall = new Hall(plan);
    const [ann, bob, cleo] = [hall.reader('ann', small), hall.reader('bob', large), hall.reader('cleo')];
    const chat = (): Chat => hall.chat([ann, bob, cleo].map((each) => hall.participant(each)));
    let state = hall.empty();
    for (let round = 0; round < 10; round += 1) {
      state = await hall.round(chat(), state);
      state = between?.(state) ?? state;
    }
    return { hall, ann, bob, cleo, state };
  }

  test('what each model reads stays within its window, and nothing is lost for anybody', async () => {
    const { hall, ann, bob, cleo, state } = await thirty();
    expect(hall.problems).toStrictEqual([]);
    expect([ann, bob, cleo].map(({ model }) => model.calls.length)).toStrictEqual([10, 10, 10]);
    // One message of 30 may be kept as the last words beside a full buffer.
    for (const { model, sizes } of [ann, bob])
      for (const request of model.calls)
        expect(measureRequest(request)).toBeLessThanOrEqual((sizes?.maxTokens ?? 0) + (sizes?.maxBufferTokens ?? 0) + 32);
    expect([ann.summarizer.calls.length > bob.summarizer.calls.length, bob.summarizer.calls.length > 0]).toStrictEqual([true, true]);
    expect(state.session.stepCount).toBe(30);
  });

  test('the conversation that all share stays whole', async () => {
    const { hall, state } = await thirty();
    expect(state.messages.length).toBe(40);
    expect(state.messages.toArray().flatMap(({ text }) => numbersIn(text))).toStrictEqual(hall.said);
    expect(state.transcript.map(({ speaker }) => speaker).slice(0, 4)).toStrictEqual([undefined, 'ann', 'bob', 'cleo']);
    expect(state.store.section('summary').length + state.store.section('buffer').length).toBe(0);
  });

  test('one without a window reads everything, word by word', async () => {
    const { hall, cleo } = await thirty();
    expect(numbersIn(readBy(cleo).at(-1) ?? '')).toStrictEqual(hall.said.slice(0, -1));
    expect([cleo.folded.size, cleo.summarizer.calls.length]).toStrictEqual([0, 0]);
  });

  test('buffer and summary survive JSON, and go on in another process', async () => {
    const [here, there] = [await thirty(), await thirty(sameLength(20), throughJson)];
    for (const name of ['ann', 'bob', 'cleo'] as const) {
      expect(readBy(there[name])).toStrictEqual(readBy(here[name]));
      expect(there[name].summarizer.calls.map(getText)).toStrictEqual(here[name].summarizer.calls.map(getText));
    }
    expect(JSON.stringify(there.state)).toBe(JSON.stringify(here.state));
  });

  test('what summaries used counts on the turn in which they were made', async () => {
    const { ann, bob, state } = await thirty();
    const made = listSteps(state).filter(({ usage }) => usage.total > 15);
    expect(made.every(({ usage }) => usage.total === 15 + 1100)).toBe(true);
    expect(made.filter(({ participant }) => participant === 'ann')).toHaveLength(ann.summarizer.calls.length);
    expect(made.filter(({ participant }) => participant === 'bob')).toHaveLength(bob.summarizer.calls.length);
    const summaries = ann.summarizer.calls.length + bob.summarizer.calls.length;
    expect(state.session.usage.total).toBe(30 * 15 + summaries * 1100);
  });

  test('a folding is told as an event with its speaker', async () => {
    const hall = new Hall(sameLength(40));
    const ann = hall.reader('ann', small);
    const chat = hall.chat([hall.participant(ann), hall.crier()]);
    const told: (readonly [string | undefined, string])[] = [];
    chat.wiretap((event) => {
      if (event.type === 'HookReported') told.push([event.participant, event.describe()]);
    });
    await hall.rounds(chat, 5);
    expect(told.length).toBeGreaterThan(2);
    expect(new Set(told.map(([participant]) => participant))).toStrictEqual(new Set(['ann']));
  });
});

test('two windows do not disturb each other: one reads the same, whatever window the other has', async () => {
  const read: (readonly string[])[] = [];
  for (const other of [undefined, small, large, { maxTokens: 1, maxBufferTokens: 1 }]) {
    const hall = new Hall(sameLength(30));
    const [ann, bob] = [hall.reader('ann', small), hall.reader('bob', other)];
    await hall.rounds(hall.chat([ann, bob].map((each) => hall.participant(each))), 12);
    expect(hall.problems).toStrictEqual([]);
    read.push([...readBy(ann), ...ann.summarizer.calls.map(getText)]);
  }
  expect(read[0]?.length).toBeGreaterThan(12);
  for (const each of read.slice(1)) expect(each).toStrictEqual(read[0]);
});

describe('a summary that fails', () => {
  test('loses nothing: everything is read until one can be made, and no turn fails', async () => {
    const hall = new Hall({ length: () => 30, summaryFails: (_, time) => time <= 3 });
    const ann = hall.reader('ann', small);
    const state = await hall.rounds(hall.chat([hall.participant(ann), hall.crier()]), 10, throughJson);
    expect(hall.problems).toStrictEqual([]);
    expect([state.status, state.session.stepCount]).toStrictEqual(['completed', 20]);
    expect(listSteps(state).flatMap(({ errors }) => errors)).toStrictEqual([]);
    expect(ann.folded.size).toBeGreaterThan(0);
    expect(ann.summarizer.calls.length).toBeGreaterThan(4);
  });

  test('for ever: everything is read, all the time', async () => {
    const hall = new Hall({ length: () => 30, summaryFails: () => true });
    const ann = hall.reader('ann', small);
    await hall.rounds(hall.chat([hall.participant(ann), hall.crier()]), 10, throughJson);
    expect(hall.problems).toStrictEqual([]);
    expect(numbersIn(readBy(ann).at(-1) ?? '')).toStrictEqual(hall.said.slice(0, -2));
  });
});

describe('a summary that was made', () => {
  const parts = (hall: Hall, ann: Reader) => [hall.participant(ann), hall.crier()];

  test('is kept where the turn fails after it', async () => {
    const hall = new Hall(sameLength(40));
    const ann = hall.reader('ann', small);
    let isDown = false;
    const model: ScriptedModel = {
      ...ann.model,
      generate: (request) => (isDown ? scriptedModel([{ error: new Error('down') }]).generate(request) : ann.model.generate(request)),
      stream: (request, hear) =>
        isDown ? scriptedModel([{ error: new Error('down') }]).stream(request, hear) : ann.model.stream(request, hear),
    };
    const chat = hall.chat(parts(hall, { ...ann, model }));
    let state = await hall.rounds(chat, 2);
    const before = ann.summarizer.calls.length;
    isDown = true;
    state = throughJson(await hall.round(chat, state));
    expect([state.status, ann.summarizer.calls.length]).toStrictEqual(['failed', before + 1]);
    const { participant, window } = state.steps[0] ?? {};
    expect([participant, window?.summary?.text]).toStrictEqual(['ann', expect.stringContaining(`S${before + 1}.`)]);
    isDown = false;
    for (let round = 0; round < 4; round += 1) state = throughJson(await hall.round(chat, state));
    // Folded twice, or read beside its summary, would be a problem.
    expect(hall.problems).toStrictEqual([]);
    expect(state.status).toBe('completed');
  });

  test('is kept while the turn waits, and the turn goes on with it in another process', async () => {
    const hall = new Hall(sameLength(40));
    const ann = hall.reader('ann', small);
    let asks = false;
    const paying: ScriptedAnswer = { toolCalls: [{ name: 'pay', id: 'p1' }], usage: { input: 10, output: 5 } };
    const getTurn = (request: ModelRequest) =>
      asks && !request.messages.some(({ toolCalls }) => toolCalls.length > 0) ? scriptedModel([paying]) : ann.model;
    const model: ScriptedModel = {
      ...ann.model,
      generate: (request) => getTurn(request).generate(request),
      stream: (request, hear) => getTurn(request).stream(request, hear),
    };
    const chat = (): Chat => hall.chat(parts(hall, { ...ann, model }));
    let state = await hall.rounds(chat(), 2);
    asks = true;
    const before = ann.summarizer.calls.length;
    state = throughJson(await hall.round(chat(), state));
    expect([state.status, ann.summarizer.calls.length]).toStrictEqual(['waiting', before + 1]);
    const [wait] = state.waitingFor;
    state = throughJson(await chat().run(state.approve(wait?.id ?? '')));
    expect([state.status, ann.summarizer.calls.length]).toStrictEqual(['completed', before + 1]);
    expect(state.steps[0]?.usage.total).toBe(1100 + 15 + 15);
    asks = false;
    for (let round = 0; round < 4; round += 1) state = throughJson(await hall.round(chat(), state));
    expect(hall.problems).toStrictEqual([]);
  });
});

test('an agent that takes part has a window of its own in the same way', async () => {
  const hall = new Hall(sameLength(40));
  const [ann, bob] = [hall.reader('ann', small), hall.reader('bob', small)];
  const agent = createAgent({
    model: ann.model,
    capabilities: [compaction({ model: ann.summarizer, ...small, countTokens: getSize })],
    ports: { clock: hall.clock, ids: hall.ids },
  });
  const chat = hall.chat([agentParticipant({ name: 'ann', agent }), hall.participant(bob)]);
  const state = await hall.rounds(chat, 10, throughJson);
  expect(hall.problems).toStrictEqual([]);
  expect(ann.summarizer.calls.length).toBeGreaterThan(3);
  expect(state.messages.length).toBe(30);
});

test('a run that is cut off in a turn after its summary was made goes on with what was kept', async () => {
  const hall = new Hall(sameLength(40));
  const ann = hall.reader('ann', small);
  const cut = new AbortController();
  let isCut = false;
  const cutting = (): ScriptedModel => (isCut ? (cut.abort('enough'), scriptedModel([{ text: 'never heard' }])) : ann.model);
  const model: ScriptedModel = {
    ...ann.model,
    generate: (request) => cutting().generate(request),
    stream: (request, hear) => cutting().stream(request, hear),
  };
  const chat = hall.chat([hall.participant({ ...ann, model }), hall.crier()]);
  let state = await hall.rounds(chat, 2);
  isCut = true;
  const before = ann.summarizer.calls.length;
  const asked = state.withUserMessage(hall.words(), { ids: hall.ids });
  state = throughJson(await chat.run(asked, { signal: cut.signal }));
  expect([state.status, ann.summarizer.calls.length]).toStrictEqual(['stopped', before + 1]);
  expect(state.messages.toArray().flatMap(({ text }) => numbersIn(text))).toStrictEqual(hall.said);
  isCut = false;
  for (let round = 0; round < 4; round += 1) state = throughJson(await hall.round(chat, state));
  expect(hall.problems).toStrictEqual([]);
});

test('a message that closes a waiting turn loses nothing: what its summary held is read, or folded, again', async () => {
  const hall = new Hall(sameLength(40));
  const ann = hall.reader('ann', small);
  const paying = scriptedModel([{ toolCalls: [{ name: 'pay', id: 'p1' }] }], { repeatLast: true });
  let asks = false;
  const model: ScriptedModel = {
    ...ann.model,
    generate: (request) => (asks ? paying : ann.model).generate(request),
    stream: (request, hear) => (asks ? paying : ann.model).stream(request, hear),
  };
  const chat = hall.chat([hall.participant({ ...ann, model }), hall.crier()]);
  let state = await hall.rounds(chat, 2);
  const before = { newest: ann.newest, folded: new Set(ann.folded) };
  asks = true;
  state = throughJson(await hall.round(chat, state));
  expect([state.status, ann.newest === before.newest]).toStrictEqual(['waiting', false]);
  const isKept = (): boolean => state.steps.some(({ window }) => window?.summary?.text.endsWith(ann.newest ?? '') === true);
  asks = false;
  const words = hall.words();
  state = throughJson(state.withUserMessage(words, { ids: hall.ids }));
  if (!isKept()) {
    // Nobody will read the summary that was made in the turn that was given up.
    ann.newest = before.newest;
    ann.folded.clear();
    for (const number of before.folded) ann.folded.add(number);
  }
  state = throughJson(await chat.run(state));
  for (let round = 0; round < 3; round += 1) state = throughJson(await hall.round(chat, state));
  expect(hall.problems).toStrictEqual([]);
  expect(state.messages.toArray().flatMap(({ text }) => numbersIn(text))).toStrictEqual(hall.said);
});

test('a fork has the windows of the step at which it begins', async () => {
  const hall = new Hall(sameLength(40));
  const ann = hall.reader('ann', small);
  const chat = hall.chat([hall.participant(ann), hall.crier()]);
  const by = { id: 'ann', kind: 'user' };
  const runtime = createSessionRuntime({ agents: [chat], store: createMemoryPlace().open(), clock: hall.clock, ids: hall.ids });
  await runtime.create({ id: 's' }, { by });
  for (let round = 0; round < 6; round += 1) await runtime.send('s', hall.words(), { by });
  expect([hall.problems, ann.summarizer.calls.length > 2]).toStrictEqual([[], true]);
  await runtime.fork('s', { execution: 1, step: 2 }, { by, id: 'fork' });
  // Its turn is taken with everything that was said until then: nothing was folded at that time.
  await runtime.send('fork', 'What now?', { by });
  const request = ann.model.calls.at(-1);
  expect([numbersIn(request === undefined ? '' : getText(request)), request?.messages.filter(isSummary)]).toStrictEqual([[1, 2, 3], []]);
});

test.each([
  { what: 'a small window', sizes: small },
  { what: 'a large window', sizes: large },
  { what: 'no window', sizes: undefined },
])('calls of a turn that broke off are read once when it is tried again, with $what: none is made twice', async ({ sizes }) => {
  const hall = new Hall({ length: () => 20, calls: () => 1, breaksOff: (number) => number % 4 === 2 });
  const [ann, bob] = [hall.reader('ann', sizes), hall.reader('bob', small)];
  const chat = hall.chat(
    [ann, bob].map((each) => hall.participant(each)),
    { errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }) },
  );
  const state = await hall.rounds(chat, 12, throughJson);
  expect(hall.problems).toStrictEqual([]);
  const taken = listSteps(state).filter(({ participant }) => participant === 'ann');
  const broken = taken.filter(({ unfinished }) => unfinished !== undefined);
  expect([broken.length > 2, broken.every(({ errors }) => errors.length === 1)]).toStrictEqual([true, true]);
  // Each turn: its one call, then the words; one that broke off is asked once more.
  const spoken = taken.length - broken.length;
  expect([spoken, taken.flatMap(({ inner }) => inner?.calls ?? []).length, ann.model.calls.length]).toStrictEqual([
    12,
    spoken,
    2 * spoken + broken.length,
  ]);
  for (const { messages } of ann.model.calls) {
    const results = messages.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));
    expect(messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id))).toStrictEqual(results);
    expect(results.length).toBeLessThanOrEqual(1);
  }
});

test('whatever is said, each reads every word or has it folded once, in order, and within bounds', async () => {
  const sizes = fc.record({ maxTokens: fc.integer({ min: 1, max: 250 }), maxBufferTokens: fc.integer({ min: 1, max: 250 }) });
  const worlds = fc.record({
    lengths: fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 20 }),
    calls: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 10 }),
    silent: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
    fails: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    notes: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    order: fc.array(fc.constantFrom('ann', 'bob', 'cleo', 'crier'), { minLength: 1, maxLength: 12 }),
    steps: fc.integer({ min: 1, max: 5 }),
    rounds: fc.integer({ min: 1, max: 7 }),
    reloads: fc.boolean(),
    ann: sizes,
    bob: sizes,
  });
  const at = <Value>(list: readonly Value[], index: number): Value => list[index % list.length] as Value;
  await fc.assert(
    fc.asyncProperty(worlds, async ({ lengths, calls, silent, fails, notes, order, steps, rounds, reloads, ...windows }) => {
      const hall = new Hall({
        length: (number) => at(lengths, number),
        calls: (number) => at(calls, number),
        isSilent: (turn) => at(silent, turn),
        isNote: (number) => at(notes, number),
        summaryFails: (_, time) => at(fails, time),
      });
      const readers = [hall.reader('ann', windows.ann), hall.reader('bob', windows.bob), hall.reader('cleo')];
      const chat = hall.chat([...readers.map((each) => hall.participant(each)), hall.crier()], {
        steps,
        order: (messages) => at(order, messages),
      });
      const state = await hall.rounds(chat, rounds, reloads ? throughJson : undefined);
      expect(hall.problems).toStrictEqual([]);
      expect(listSteps(state).flatMap(({ errors }) => errors)).toStrictEqual([]);
      expect(state.session.stepCount).toBeGreaterThanOrEqual(Math.min(steps, 4) * rounds);
      expect(state.messages.toArray().flatMap(({ text }) => numbersIn(text))).toStrictEqual(hall.said);
      if (fails.some((each) => each)) return;
      const longest = 110;
      for (const { model, sizes: given } of readers)
        for (const request of given === undefined ? [] : model.calls) {
          const { maxTokens, maxBufferTokens } = given ?? { maxTokens: 0, maxBufferTokens: 0 };
          expect(measureRequest(request)).toBeLessThanOrEqual(Math.max(maxTokens, longest) + maxBufferTokens + longest);
        }
    }),
    { numRuns },
  );
}, 60_000);

describe('what is stored', () => {
  async function sizeAfter(rounds: number, length: number, sizes: WindowSizes | undefined): Promise<{ size: number; own: number }> {
    const hall = new Hall(sameLength(length));
    const readers = [hall.reader('ann', sizes), hall.reader('bob', sizes)];
    const state = await hall.rounds(hall.chat(readers.map((each) => hall.participant(each))), rounds, throughJson);
    return { size: JSON.stringify(state).length, own: JSON.stringify(state.messages.toArray()).length };
  }
  const getWindow = (length: number): WindowSizes => ({ maxTokens: 6 * length, maxBufferTokens: 4 * length });

  test('has no copies of the conversation: what windows add is the same for long words as for short ones', async () => {
    const [short, long] = [await sizeAfter(15, 50, getWindow(70)), await sizeAfter(15, 5000, getWindow(5020))];
    const [shortMore, longMore] = [short.size - short.own, long.size - long.own];
    // A few digits more, but not one message more.
    expect(Math.abs(longMore - shortMore)).toBeLessThan(2000);
  });

  test('grows by the same for each turn', async () => {
    const at = async (rounds: number): Promise<number> => (await sizeAfter(rounds, 200, getWindow(220))).size;
    const [ten, twenty, forty] = [await at(10), await at(20), await at(40)];
    expect(forty - twenty).toBeLessThan(2.2 * (twenty - ten));
  });

  test('a turn that waits keeps what it needs, and lets go of it at its end', async () => {
    const hall = new Hall(sameLength(2000));
    const ann = hall.reader('ann');
    const paying: ScriptedAnswer = { toolCalls: [{ name: 'pay', id: 'p1' }] };
    const model = scriptedModel([{ text: hall.words() }, { text: hall.words() }, paying, { text: hall.words() }]);
    const chat = hall.chat([hall.participant({ ...ann, model })]);
    const before = await hall.rounds(chat, 2);
    const waiting = await hall.round(chat, before);
    expect(waiting.status).toBe('waiting');
    const [wait] = waiting.waitingFor;
    const end = await chat.run(throughJson(waiting).approve(wait?.id ?? ''));
    expect(end.status).toBe('completed');
    expect(JSON.stringify(end).length - JSON.stringify(before).length).toBeLessThan(2 * 2000 + 5000);
  });

  test('the log of a session grows by the same for each turn', async () => {
    const hall = new Hall(sameLength(1000));
    const [ann, bob] = [hall.reader('ann', getWindow(1020)), hall.reader('bob')];
    const place = createMemoryPlace();
    const by = { id: 'ann', kind: 'user' };
    const start = () =>
      createSessionRuntime({
        ...newProcess,
        agents: [hall.chat([ann, bob].map((each) => hall.participant(each)))],
        store: place.open(),
        clock: hall.clock,
        ids: hall.ids,
      });
    await start().create({ id: 's' }, { by });
    const sizes: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const runtime = start();
      expect((await runtime.send('s', hall.words(), { by })).status).toBe('completed');
      await runtime.drain();
      const entries = await place.open().log.entries('s');
      sizes.push(entries.reduce((sum, { body, events = '' }) => sum + body.length + events.length, 0));
    }
    expect(hall.problems).toStrictEqual([]);
    const [first = 0, middle = 0, last = 0] = [sizes[0], sizes[9], sizes[19]];
    expect(last - middle).toBeLessThan(1.3 * (middle - first));
  });
});

test('calls of turns that failed for good leave the window in their place, and are folded once', async () => {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const folded: string[] = [];
  const summarizer = scriptedModel(
    [
      (request) => {
        folded.push(getText(request));
        return { text: `Summary ${folded.length}.` };
      },
    ],
    { repeatLast: true },
  );
  let made = 0;
  const send = defineTool({ name: 'send', description: 'A tool.', input: anything, effect: 'pure', run: () => `sent <${(made += 1)}>` });
  // Two calls with each input, and then the model breaks.
  const answers: (ScriptedAnswer | undefined)[] = [1, 2, 3, 4, 5].flatMap(() => [
    { toolCalls: [{ name: 'send' }] },
    { toolCalls: [{ name: 'send' }] },
    { error: new ModelFailedError('503') },
  ]);
  const model = scriptedModel([() => answers.shift() ?? { text: 'Well.' }], { repeatLast: true });
  const window = compaction({ model: summarizer, maxTokens: 3, maxBufferTokens: 3, countTokens: () => 1 });
  const chat = createChat({
    participants: [llmParticipant({ name: 'm', model, tools: [send], capabilities: [window] })],
    ports: { clock, ids },
  });
  let state = ChatState.empty({ clock, ids });
  for (let input = 1; input <= 5; input += 1) {
    state = throughJson(await chat.run(state.withUserMessage(`Input ${input}.`, { ids })));
    expect(state.status).toBe('failed');
  }
  // What a run folded that failed is folded in its own window; what each turn begins with has every call at most once.
  for (const { messages } of model.calls) {
    const read = messages.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));
    expect(new Set(read).size).toBe(read.length);
  }
  const end = await chat.run(state.withUserMessage('Input 6.', { ids }));
  expect([end.status, end.text, made]).toStrictEqual(['completed', 'Well.', 10]);
  expect(folded.length).toBeGreaterThan(0);
  const again = folded.flatMap((text) => [...new Set(numbersIn(text))]);
  expect(new Set(again).size).toBe(again.length);
});
