// Envelopes that are not stored yet, and what was taken back of them.
import type { EventEnvelope } from '../broadcasting/index.ts';
import { getNumber, getStep, getText } from './fields.ts';
import type { OpenText } from './open-text.ts';
import { addChunk, getTextKey } from './open-text.ts';

/** Something that was taken back: everything up to a rank. */
export interface VoidMark {
  readonly rank: number;
  readonly at: string;
}

export type VoidMarks = ReadonlyMap<string, readonly VoidMark[]>;

export interface OpenItems {
  readonly items: ReadonlyMap<string, EventEnvelope>;
  readonly texts: ReadonlyMap<string, OpenText>;
  /** Attempts that were taken back, by step; none of them is both earlier and of a lower rank than another. */
  readonly voids: VoidMarks;
  /** Answers that were taken back, by step. */
  readonly textVoids: VoidMarks;
}

export const noItems: OpenItems = { items: new Map(), texts: new Map(), voids: new Map(), textVoids: new Map() };

export const getStepKey = (executionId: string, step: number): string => `${executionId}/${step}`;

/** Ranks answers: those of later attempts are later. */
export const toRank = ({ attempt, answer }: Pick<OpenText, 'attempt' | 'answer'>): number => attempt * 1_000_000 + answer;

const getItemKey = ({ event, execution_id, attempt, index, part, timestamp, data }: EventEnvelope): string =>
  [event, execution_id, attempt, index, part, timestamp, data['tool_call_id']].map(String).join('\n');

/** Orders envelopes that are not stored yet. */
export function compareOpen(one: EventEnvelope, other: EventEnvelope): number {
  if (one.timestamp !== other.timestamp) return one.timestamp < other.timestamp ? -1 : 1;
  return (one.index ?? 0) - (other.index ?? 0) || one.part - other.part;
}

const covers = (one: VoidMark, other: VoidMark): boolean => one.rank >= other.rank && one.at >= other.at;

/** Adds a mark. A lower rank may be the later one: a step that has waited counts its attempts from 1 again. */
function addMark(marks: VoidMarks, key: string, mark: VoidMark): VoidMarks {
  const before = marks.get(key) ?? [];
  if (before.some((each) => covers(each, mark))) return marks;
  return new Map(marks).set(key, [...before.filter((each) => !covers(mark, each)), mark]);
}

function addVoid(open: OpenItems, envelope: EventEnvelope): OpenItems {
  const { data, execution_id, timestamp: at } = envelope;
  const [step, attempt, answer] = [getStep(envelope), getNumber(data, 'attempt'), getNumber(data, 'answer')];
  // Without an attempt it repeats what the record of its step says.
  if (step === undefined || attempt === undefined) return open;
  const key = getStepKey(execution_id, step);
  if (getText(data, 'scope') === 'text') {
    const textVoids = answer === undefined ? open.textVoids : addMark(open.textVoids, key, { rank: toRank({ attempt, answer }), at });
    return textVoids === open.textVoids ? open : { ...open, textVoids };
  }
  const voids = addMark(open.voids, key, { rank: attempt, at });
  return voids === open.voids ? open : { ...open, voids };
}

/** Adds an envelope that has no number, or a void. Returns the same object if it changes nothing. */
export function addOpen(open: OpenItems, envelope: EventEnvelope): OpenItems {
  if (envelope.event === 'agent.stream.void') return addVoid(open, envelope);
  if (envelope.event === 'agent.stream.chunk') {
    const key = getTextKey(envelope);
    const before = open.texts.get(key);
    const text = addChunk(before, envelope);
    return text === before ? open : { ...open, texts: new Map(open.texts).set(key, text) };
  }
  const key = getItemKey(envelope);
  return open.items.has(key) ? open : { ...open, items: new Map(open.items).set(key, envelope) };
}
