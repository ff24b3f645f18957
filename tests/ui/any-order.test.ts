// Views of random sessions, whatever their transport does to the envelopes.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { toTotals } from '../../src/broadcasting/http/session-totals.ts';
import type { Envelope, EventEnvelope } from '../../src/broadcasting/index.ts';
import { createEnvelopeMapper } from '../../src/broadcasting/index.ts';
import { getState } from '../../src/ui/agent-view.ts';
import { getShown } from '../../src/ui/drop-over.ts';
import type { AgentView } from '../../src/ui/index.ts';
import { createView, fillGap, reduce, reduceAll } from '../../src/ui/index.ts';
import { getTextKey } from '../../src/ui/open-text.ts';
import { pickRuns } from '../support/test-scale.ts';
import type { EventLog, Scenario } from './random-log.ts';
import { runScenario, scenario } from './random-log.ts';

// One seed for all properties: they draw the same scenarios, so that each scenario is run once for all of them.
const runs = { numRuns: pickRuns({ quick: 25, slow: 500 }), seed: Math.trunc(Math.random() * 2 ** 31) };
const logs = new Map<string, Promise<EventLog>>();
const empty = createView('one');

/** Runs a scenario, or returns the log of its first run. */
function getLog(given: Scenario): Promise<EventLog> {
  const key = JSON.stringify(given);
  const log = logs.get(key) ?? runScenario(given);
  logs.set(key, log);
  return log;
}

afterAll(() => logs.clear());

const toPlain = (view: AgentView): unknown => {
  const { messages, status, waits, usage, clocks, why, gaps, known_seq } = view;
  return { messages, status, waits, usage, clocks, why, gaps, known_seq };
};

/** Draws numbers from 0 up to 1, all equally likely; the same ones for the same seed. */
function createChance(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A number made by chance: doubles that fast-check draws are nearly all close to 0. */
const seed = fc.integer().map(createChance);
type Chance = () => number;
const draw = (chance: Chance): number => chance();

function shuffle<Item>(items: readonly Item[], chance: Chance): readonly Item[] {
  const shuffled = [...items];
  for (let index = shuffled.length - 1; index > 0; index -= 1) {
    const other = Math.floor(draw(chance) * (index + 1));
    [shuffled[index], shuffled[other]] = [shuffled[other]!, shuffled[index]!];
  }
  return shuffled;
}

const double = (items: readonly Envelope[], chance: Chance): readonly Envelope[] =>
  items.flatMap((item) => (draw(chance) < 0.3 ? [item, item] : [item]));

/** Fetches what a view says that it lacks, in pages, until it lacks nothing more. */
function repair(view: AgentView, stored: readonly EventEnvelope[]): AgentView {
  let repaired = view;
  for (let round = 0; round < 1000; round += 1) {
    const gap = repaired.gaps.find(({ type }) => type === 'events');
    if (gap?.type !== 'events') return repaired;
    const found = stored.filter(({ seq = 0 }) => seq > gap.after_seq && seq <= gap.to_seq);
    repaired = fillGap(repaired, gap, found);
  }
  throw new Error('The view names gaps without end.');
}

/** Takes a part from the beginning, whole events only. */
function takePart(live: readonly Envelope[], part: number): readonly Envelope[] {
  let end = Math.floor(part * (live.length + 1));
  const getSeq = (envelope: Envelope | undefined): number => (envelope !== undefined && 'seq' in envelope ? (envelope.seq ?? 0) : 0);
  while (getSeq(live[end]) > 0 && getSeq(live[end]) === getSeq(live[end - 1])) end += 1;
  return live.slice(0, end);
}

const isChunk = (envelope: Envelope): envelope is EventEnvelope => envelope.event === 'agent.stream.chunk';
const getOffset = ({ data }: EventEnvelope): number => Number(data['offset']);

const isOfSameText = (one: EventEnvelope, other: EventEnvelope): boolean =>
  getTextKey(one) === getTextKey(other) && (one.data['text'] === undefined) === (other.data['text'] === undefined);

/** Lists the chunks of texts that are being written and shown; of each text the newest first. */
function listOpenChunks(view: AgentView): readonly EventEnvelope[] {
  const chunks: EventEnvelope[] = [];
  for (const text of getShown(getState(view).open).texts)
    for (let each: typeof text.chunks | undefined = text.chunks; each !== undefined; each = each.others) chunks.push(each.chunk);
  return chunks;
}

const expectWhole = (view: AgentView, { stored }: EventLog): void => {
  expect(toPlain(view)).toEqual(toPlain(reduceAll(empty, stored)));
  expect(view.gaps).toEqual([]);
};

describe('the view of a session', () => {
  it('is the same for its envelopes in any order and any number', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, seed, async (given, chance) => {
        const log = await getLog(given);
        expectWhole(shuffle(double([...log.live, log.head], chance), chance).reduce(reduce, empty), log);
      }),
      runs,
    );
  });

  it('names what was lost, and is whole once that is fetched', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, seed, async (given, chance) => {
        const log = await getLog(given);
        const loss = draw(chance);
        const received = double(log.live, chance).filter(() => draw(chance) >= loss);
        const view = shuffle([...received, log.head], chance).reduce(reduce, empty);
        const seen = new Set(received.flatMap((each) => ('seq' in each ? [`${each.seq ?? 0}.${each.part}`] : [])));
        const isWhole = log.stored.every(({ seq, part }) => seen.has(`${seq ?? 0}.${part}`));
        expect(view.gaps.some(({ type }) => type === 'events')).toBe(!isWhole);
        expectWhole(repair(view, log.stored), log);
      }),
      runs,
    );
  });

  it('is whole for what an adapter sends, once its gaps are fetched', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, seed, async (given, chance) => {
        const log = await getLog(given);
        const received = double(log.broadcast, chance).filter(() => draw(chance) >= 0.2);
        const view = repair(shuffle([...received, log.head], chance).reduce(reduce, empty), log.stored);
        expectWhole(view, log);
        // A process that takes over a turn which has waited cannot know what the one before has sent of it: until the turn is stored, its
        // text may mix with that.
        if (given.kind === 'chat' && given.inputs.some((text) => text.includes('hang!'))) return;
        const sent = log.broadcast.slice(0, Math.floor(draw(chance) * (log.broadcast.length + 1)));
        expect(toPlain(shuffle(sent, chance).reduce(reduce, empty))).toEqual(toPlain(reduceAll(empty, sent)));
      }),
      runs,
    );
  });

  it('has the right totals when it begins in the middle, and is whole once it is filled backwards', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, seed, async (given, chance) => {
        const log = await getLog(given);
        const lastSeq = log.stored.at(-1)?.seq ?? 0;
        const after = Math.floor(draw(chance) * lastSeq);
        const head = createEnvelopeMapper().toHead({ sessionId: 'one', seq: after, at: 0, totals: toTotals(log.session) });
        const newest = log.stored
          .filter(({ seq = 0 }) => seq > after)
          .map((each) => ({ ...each, prev_seq: Math.max(each.prev_seq ?? 0, after) }));
        const whole = reduceAll(empty, log.stored);
        const view = shuffle(double([head, ...newest], chance), chance).reduce(reduce, empty);
        expect({ status: view.status, usage: view.usage }).toEqual({ status: whole.status, usage: whole.usage });
        expect(view.clocks).toMatchObject({ step_count: whole.clocks.step_count, duration_ms: whole.clocks.duration_ms });
        if (after > 0) expect(view.gaps).toContainEqual({ type: 'events', after_seq: 0, to_seq: after });
        expectWhole(repair(view, log.stored), log);
      }),
      runs,
    );
  });

  it('is the same in mid-run for what has been sent until then', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, seed, async (given, chance) => {
        const { live } = await getLog(given);
        const sent = takePart(live, draw(chance));
        const inOrder = reduceAll(empty, sent);
        expect(toPlain(shuffle(double(sent, chance), chance).reduce(reduce, empty))).toEqual(toPlain(inOrder));
        expect(inOrder.gaps).toEqual([]);
      }),
      runs,
    );
  });

  it('names the chunks that were lost in mid-answer, and has the whole text once they come', async () => {
    let named = 0;
    await fc.assert(
      fc.asyncProperty(scenario, seed, async (given, chance) => {
        const { live } = await getLog(given);
        const ends = [...live.keys()].filter((index) => isChunk(live[index]!));
        // Right behind a chunk, so that a text is open.
        const sent = live.slice(0, (ends[Math.floor(draw(chance) * ends.length)] ?? live.length) + 1);
        const whole = reduceAll(empty, sent);
        // The newest chunk arrives and one before it does not, so that there is something to name; the others are left to chance.
        const open = listOpenChunks(whole);
        const [newest, ...earlier] = open;
        const lost = earlier[Math.floor(draw(chance) * earlier.length)];
        const received = sent.filter((each) => !isChunk(each) || each === newest || (each !== lost && draw(chance) < 0.6));
        const view = shuffle(received, chance).reduce(reduce, empty);
        for (const chunk of open.filter((each) => !received.includes(each))) {
          const isFollowed = open.some(
            (each) => received.includes(each) && isOfSameText(each, chunk) && getOffset(each) > getOffset(chunk),
          );
          const isNamed = view.gaps.some((gap) => gap.type === 'text' && gap.from <= getOffset(chunk) && gap.to > getOffset(chunk));
          if (isFollowed) expect(isNamed).toBe(true);
          if (isNamed) named += 1;
        }
        expect(toPlain(reduceAll(view, sent))).toEqual(toPlain(whole));
      }),
      runs,
    );
    expect(named).toBeGreaterThan(0);
  });

  it('shows each call inside another with the message of that one', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const { stored } = await getLog(given);
        const { messages } = reduceAll(empty, stored);
        const calls = new Set(messages.flatMap(({ role, id }) => (role === 'tool' ? [id] : [])));
        for (const message of messages) {
          if (message.role !== 'tool') continue;
          const isNested = given.kind === 'agent' && message.parent_agent_id !== undefined;
          expect(message.parent_id !== undefined).toBe(isNested);
          if (message.parent_id !== undefined) expect(calls).toContain(message.parent_id);
        }
      }),
      runs,
    );
  });

  it('has the words of the stored conversation, in their order', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        fc.pre(given.kind === 'agent');
        const { stored, session } = await getLog(given);
        const { messages, status } = reduceAll(empty, stored);
        const spoken = messages.flatMap(({ role, text }) => (role === 'user' || role === 'assistant' ? [text] : []));
        const kept = [...session.state.messages]
          .filter((message) => (message.isUser() || message.isAssistant()) && message.text !== '')
          .filter((message) => !(message.isAssistant() && message.toolCalls.length > 0 && message.text.startsWith('{')))
          .map(({ text }) => text);
        expect(spoken).toEqual(kept);
        expect(status).toBe(session.status);
      }),
      runs,
    );
  });
});
