// Random chats: any mix of participants, selectors, failures, limits, waits, storage and further inputs.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { ErrorPolicy, ModelFailedError, RateLimitedError } from '../errors/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedAnswer } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { StepResult } from '../step-by-step/index.ts';
import type { ChatEvent, ChatStep, Participant, SelectFacts, Selector } from './index.ts';
import {
  byMention,
  ChatState,
  coordinator,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
  roundRobin,
  scriptedParticipant,
} from './index.ts';

const numRuns = pickRuns({ quick: 40, slow: 500 });
const names = ['al', 'bea', 'cy', 'di'] as const;
const words = fc.constantFrom('Yes.', '@bea?', '@cy and @al', '', 'x', 'Nobody @knows.');
const counts = fc.record({ input: fc.nat(60), output: fc.nat(60) });

const answer: fc.Arbitrary<Told> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ text: words, usage: counts }) },
  { weight: 2, arbitrary: fc.record({ text: words, usage: counts, calls: fc.integer({ min: 1, max: 2 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      usage: counts,
      error: fc.constantFrom(new ModelFailedError('down'), new RateLimitedError('slow'), new Error('odd')),
    }),
  },
  { weight: 1, arbitrary: fc.record({ text: words, usage: counts, finishReason: fc.constantFrom('length', 'content_filter') }) },
);
const acted = fc.constantFrom<'words' | 'nothing' | 'throws' | 'number'>('words', 'words', 'nothing', 'throws', 'number');
const who = fc.oneof(
  fc.record({ kind: fc.constant('scripted' as const), says: fc.array(words, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant('llm' as const), script: fc.array(answer, { minLength: 1, maxLength: 6 }) }),
  fc.record({ kind: fc.constant('function' as const), changes: fc.array(acted, { minLength: 1, maxLength: 4 }) }),
  fc.record({ kind: fc.constant('human' as const) }),
);
type Who = typeof who extends fc.Arbitrary<infer Value> ? Value : never;

const plan = fc.record({
  company: fc.array(who, { minLength: 1, maxLength: 4 }),
  selector: fc.constantFrom('round-robin', 'by-mention', 'function', 'stranger', 'coordinator'),
  policy: fc.constantFrom(ErrorPolicy.stopOnAnyError(), ErrorPolicy.retryAll(2), ErrorPolicy.retryToolErrors(3)),
  steps: fc.integer({ min: 1, max: 9 }),
  tokens: fc.integer({ min: 20, max: 2000 }),
  ownRules: fc.boolean(),
  inputs: fc.integer({ min: 1, max: 3 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

const look = defineTool({ name: 'look', description: 'A tool.', input: { type: 'object' }, effect: 'pure', run: () => 'seen' });
const pay = defineTool({ name: 'pay', description: 'A tool.', input: { type: 'object' }, needsApproval: true, run: () => 'paid' });

/** Answer for a model to give. */
interface Told extends ScriptedAnswer {
  readonly usage: { readonly input: number; readonly output: number };
  readonly calls?: number;
}

/** Usage of the models of one chat, as they reported it. */
interface Meter {
  total: number;
}

function createMeteredModel(script: readonly Told[], meter: Meter) {
  let next = 0;
  return scriptedModel(
    [
      () => {
        const entry = script[(next += 1) - 1] ?? script.at(-1);
        if (entry === undefined) return { text: 'x' };
        meter.total += entry.usage.input + entry.usage.output;
        const { calls = 0, ...rest } = entry;
        const toolCalls = Array.from({ length: calls }, (_, index) => ({ name: index === 0 ? 'look' : 'pay' }));
        return { ...rest, ...(calls > 0 && { toolCalls }) };
      },
    ],
    { repeatLast: true },
  );
}

function setUpParticipant(given: Who, name: string, meter: Meter): Participant {
  if (given.kind === 'scripted') return scriptedParticipant({ name, says: given.says });
  if (given.kind === 'human') return humanParticipant({ name });
  if (given.kind === 'llm')
    return llmParticipant({
      name,
      model: createMeteredModel(given.script, meter),
      tools: [look, pay],
      errors: ErrorPolicy.stopOnAnyError(),
      limits: { steps: 3 },
    });
  return functionParticipant({
    name,
    // A function of the state: it does the same however the run is driven.
    speak: ({ state }) => {
      const act = given.changes[state.session.stepCount % given.changes.length];
      if (act === 'throws') throw new Error(`${name} has no words`);
      return act === 'number' ? (4 as never) : act === 'nothing' ? undefined : `${name} at ${state.session.stepCount}`;
    },
  });
}

function setUpSelector({ selector }: Plan, present: readonly string[], meter: Meter): Selector | ((facts: SelectFacts) => string) {
  const at = ({ state }: SelectFacts): string => present[(state.session.stepCount * 7) % present.length] ?? '';
  if (selector === 'by-mention') return byMention();
  if (selector === 'function') return at;
  if (selector === 'stranger') return (facts) => (facts.state.session.stepCount % 3 === 2 ? 'zoe' : at(facts));
  if (selector === 'coordinator') {
    const choices = ['bea', 'zoe', '{"participant":"al","reason":"r"}', ''].map((text) => ({ text, usage: { input: 3, output: 1 } }));
    return coordinator({ model: createMeteredModel(choices, meter) });
  }
  return roundRobin();
}

function open(given: Plan) {
  const [clock, ids, meter] = [createFakeClock(), createCountingIds('id'), { total: 0 }];
  const present = names.slice(0, given.company.length);
  const events: ChatEvent[] = [];
  const chat = createChat({
    participants: given.company.map((each, index) => setUpParticipant(each, present[index] ?? '', meter)),
    selector: setUpSelector(given, present, meter),
    limits: { steps: given.steps, tokens: given.tokens },
    errors: given.policy.withBackoff({ baseMs: 0 }),
    ...(given.ownRules && { onlyCriteria: [] }),
    ports: { clock, ids, random: () => 0, onProblem: () => undefined },
  });
  chat.wiretap((event) => events.push(event));
  return { chat, ids, events, meter, present, start: ChatState.empty({ clock, ids }) };
}

const plain = (state: ChatState): unknown => JSON.parse(JSON.stringify(state));
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const answerWaits = (state: ChatState): ChatState =>
  state.waitingFor.reduce((next, { id, type }) => (type === 'approval' ? next.approve(id) : next.answer(id, `words for ${id}`)), state);

type World = ReturnType<typeof open>;
type Drive = (world: World, state: ChatState) => Promise<ChatState>;

const atOnce: Drive = ({ chat }, state) => chat.run(state);
const storeEachStep: Drive = async ({ chat }, given) => {
  let state = roundTrip(given);
  while (chat.hasNextStep(state)) state = roundTrip(await chat.nextStep(state));
  return state;
};
const byChanges: Drive = async ({ chat }, given) => {
  let [state, copy] = [given, roundTrip(given)];
  for await (const next of chat.iterate(given)) {
    copy = ChatState.codec.patch(copy, JSON.parse(JSON.stringify(ChatState.codec.diff(state, next))));
    expect(plain(copy)).toStrictEqual(plain(next));
    state = next;
  }
  return copy;
};

async function play(given: Plan, drive: Drive): Promise<World & { readonly end: ChatState }> {
  const world = open(given);
  let state = world.start;
  for (let input = 1; input <= given.inputs; input += 1) {
    state = await drive(world, state.withUserMessage(`Input ${input}.`, { ids: world.ids }));
    // People answer, but not for ever.
    for (let round = 0; round < 12 && state.status === 'waiting'; round += 1) state = await drive(world, answerWaits(state));
  }
  return { ...world, end: state };
}

test('cut off or asked to stop anywhere, it settles with its reason, keeps its numbers, and goes on with the next input', async () => {
  await fc.assert(
    fc.asyncProperty(plan, fc.nat(40), fc.boolean(), async (given, at, isAbort) => {
      const world = open(given);
      const host = new AbortController();
      let heard = 0;
      const run = world.chat.start(world.start.withUserMessage('Input.', { ids: world.ids }), {
        signal: host.signal,
        onEvent: () => {
          heard += 1;
          // The first is told before there is a run to stop.
          if (heard !== at + 2) return;
          if (isAbort) host.abort('enough');
          else run.requestStop('enough');
        },
      });
      const { state: first } = await run.result;
      if (heard >= at && at > 0 && first.status === 'stopped' && first.stopReason === 'user_requested')
        expect(first.waitingFor).toStrictEqual([]);
      expect([first.status === 'waiting', first.waitingFor.length > 0]).toStrictEqual([
        first.stopReason === undefined,
        first.stopReason === undefined,
      ]);
      const second = await world.chat.run(roundTrip(first).withUserMessage('Next.', { ids: world.ids }));
      expect([second.session.executions.length, second.status === 'pending']).toStrictEqual([2, false]);
      // An answer that was cut off has told nothing of what it used.
      if (isAbort) expect(second.session.usage.total).toBeLessThanOrEqual(world.meter.total);
      else expect(second.session.usage.total).toBe(world.meter.total);
      const seqs = listStored(world.events).map(({ seq }) => seq);
      expect(seqs).toStrictEqual(seqs.map((_, index) => index + 1));
      for (const { participant, outputMessages } of allSteps(second))
        if (participant === undefined) expect(outputMessages).toStrictEqual([]);
    }),
    { numRuns },
  );
});

const facts = (state: ChatState): unknown => [
  state.status,
  state.stopReason,
  state.session.executions.map(({ results }) =>
    results
      .toArray()
      .map(({ step, outcome }) => [step.participant, step.selection, step.errors, step.usage, step.inner?.status, outcome.resolvedBy]),
  ),
  state.transcript,
  state.session.usage,
  state.data.lastSeq,
];
const allSteps = (state: ChatState) => state.session.executions.flatMap(({ results }) => results.toArray().map(({ step }) => step));
const listStored = (events: readonly ChatEvent[]) => events.filter(({ id }) => !id.includes('.'));

test('every turn has one result, one judgement and one speaker; what it says is in the conversation once', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const { end, events, present } = await play(given, atOnce);
      const steps = allSteps(end);
      const own = events.filter(({ agentId }) => agentId === end.agentId);
      const count = (type: string) => own.filter((event) => event.type === type).length;
      const begun = steps.length + (end.pendingStep === undefined ? 0 : 1);
      expect([count('AgentStepCompleted'), count('AgentStepStarted'), new Set(steps.map(({ id }) => id)).size]).toStrictEqual([
        steps.length,
        begun,
        steps.length,
      ]);
      for (const { participant, outputMessages, errors, interrupted, memo } of steps) {
        // Only a turn that could not be given has no speaker.
        if (participant === undefined) expect(errors.length > 0 || interrupted !== undefined).toBe(true);
        else expect(present).toContain(participant);
        expect([outputMessages.length, memo]).toStrictEqual([errors.length > 0 || interrupted !== undefined ? 0 : 1, undefined]);
        for (const { name, metadata } of outputMessages) expect([name, metadata['turn']]).toStrictEqual([participant, true]);
      }
      const spoken = steps.flatMap(({ outputMessages }) => outputMessages.map(({ id }) => id));
      expect(
        end.messages
          .toArray()
          .filter(({ metadata }) => metadata['turn'] === true)
          .map(({ id }) => id),
      ).toStrictEqual(spoken);
      const seqs = listStored(events).map(({ seq }) => seq);
      expect(seqs).toStrictEqual(seqs.map((_, index) => index + 1));
    }),
    { numRuns },
  );
});

test('every event of a turn says whose turn it is', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const { end, events } = await play(given, atOnce);
      const speakers = new Map(
        end.session.executions.flatMap(({ id = '', results, pendingStep: pending }) => [
          ...results.toArray().map(({ step, number }) => [`${id}/${number}`, step.participant] as const),
          ...(pending === undefined ? [] : [[`${id}/${pending.number}`, pending.partial.participant] as const]),
        ]),
      );
      for (const event of events) {
        if (event.agentId !== end.agentId) expect(event.participant).toBeDefined();
        else if (
          event.stepNumber > 0 &&
          ['AgentStepStarted', 'AgentStepCompleted', 'ContinuationEvaluated', 'ParticipantSelected', 'TextDelta'].includes(event.type)
        )
          expect(event.participant).toBe(speakers.get(`${event.executionId}/${event.stepNumber}`));
      }
    }),
    { numRuns },
  );
});

test('what the chat has used is what its models have told', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const { end, meter } = await play(given, atOnce);
      expect(end.session.usage.total).toBe(meter.total);
      // A turn that still waits after all the answers has used something too.
      const waiting = end.pendingStep?.partial.usage.total ?? 0;
      expect(allSteps(end).reduce((sum, { usage }) => sum + usage.total, waiting)).toBe(meter.total);
    }),
    { numRuns },
  );
});

test.each([
  { how: 'stored and read again at every step', drive: storeEachStep },
  { how: 'kept as changes', drive: byChanges },
])('$how, it comes to the same end', async ({ drive }) => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const [one, other] = [await play(given, atOnce), await play(given, drive)];
      const without = (value: unknown): unknown => (drive === storeEachStep ? (value as unknown[]).slice(0, -1) : value);
      expect(JSON.stringify(without(facts(other.end)))).toBe(JSON.stringify(without(facts(one.end))));
      expect(plain(roundTrip(other.end))).toStrictEqual(plain(other.end));
    }),
    { numRuns },
  );
});

/** A turn that was cut off was not taken, nor one whose failure ended the run or is tried again: it comes again. */
const wasTaken = ({ step, outcome, handling }: StepResult<ChatStep>): boolean => {
  const isWhole = step.interrupted === undefined || step.interrupted === 'superseded';
  return isWhole && (step.errors.length === 0 || (outcome.shouldContinue && handling?.decision !== 'retry'));
};

/** The rule of the round, told once more: the next one, unless it is two turns ahead of one who may have it in its place. */
function findNext(present: readonly string[], before: readonly StepResult<ChatStep>[], input: string | undefined): string | undefined {
  const taken = before.filter(wasTaken);
  const last = taken.findLast(({ step }) => step.participant !== undefined)?.step.participant;
  const place = present.indexOf(last ?? '');
  const round = [...present.slice(place + 1), ...present.slice(0, place + 1)];
  const had = taken.filter(({ step }) => step.input === input).map(({ step }) => step.participant);
  const turns = (name: string | undefined): number => had.filter((each) => each === name).length;
  const fewest = Math.min(...present.map(turns));
  const behind = turns(round[0]) >= fewest + 2 ? round.find((name) => turns(name) === fewest && name !== last) : undefined;
  return behind ?? round[0];
}

test("in a round, each turn is the next one's, and a turn that is tried again the same one's", async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const { end, present } = await play({ ...given, selector: 'round-robin' }, atOnce);
      const results = end.session.executions.flatMap(({ results: each }) => each.toArray());
      results.forEach(({ step }, index) => {
        const last = results[index - 1];
        const isRetry = step.selection?.by === 'retry';
        expect(step.participant).toBe(isRetry ? last?.step.participant : findNext(present, results.slice(0, index), step.input));
        // A turn of an earlier execution is not tried again by this rule, but by its place in the round.
        const isSameRun = last !== undefined && step.input === last.step.input;
        const wasCutOff = last?.step.interrupted !== undefined && last.step.interrupted !== 'superseded';
        if (isSameRun) expect(isRetry).toBe(last.step.participant !== undefined && (last.handling?.decision === 'retry' || wasCutOff));
      });
    }),
    { numRuns },
  );
});
