// Text that is being written.
// T1. Chunks may come in any order, twice, or cut in other places: the text is the same. It ends where one is missing.
// T2. A step that has waited counts its attempts and answers from 1 again, so that chunks from before and after the wait can stand in one
//     text until it is known that there was a wait. All of them are kept, to leave out those from before.
import type { EventEnvelope } from '../broadcasting/index.ts';
import { getNumber, getText } from './fields.ts';

/** A stretch of text. Positions count the characters that the model wrote, of which some may be hidden. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** All chunks that came, the last one first. */
interface ChunkList {
  readonly chunk: EventEnvelope;
  readonly others: ChunkList | undefined;
}

/** Text of one answer of an attempt at a step. */
export interface OpenText {
  /** Its earliest chunk so far. */
  readonly source: EventEnvelope;
  readonly step: number;
  readonly attempt: number;
  readonly answer: number;
  /** Time of the last chunk. */
  readonly lastAt: string;
  readonly text: readonly Stretch[];
  readonly reasoning: readonly Stretch[];
  readonly chunks: ChunkList;
}

/** A chunk that is missing. */
export interface TextGap {
  readonly type: 'text';
  readonly execution_id: string;
  readonly step_number: number;
  readonly attempt: number;
  readonly kind: 'text' | 'reasoning';
  /** Position of the first character that is missing. */
  readonly from: number;
  /** Position after the last one. */
  readonly to: number;
}

const join = (one: Stretch, next: Stretch): Stretch => ({ start: one.start, end: next.end, text: one.text + next.text });

/** Leaves out the beginning of a stretch. */
const skip = ({ start, end, text }: Stretch, to: number): Stretch => ({ start: to, end, text: text.slice(to - start) });

function addStretch(stretches: readonly Stretch[], added: Stretch): readonly Stretch[] {
  const joined: Stretch[] = [];
  const all = [...stretches, added].sort((one, other) => one.start - other.start || other.end - one.end);
  for (const each of all) {
    const last = joined.at(-1);
    if (last === undefined || each.start > last.end) joined.push(each);
    else if (each.end > last.end) joined[joined.length - 1] = join(last, skip(each, last.end));
  }
  return joined;
}

/** Appends in most cases: text comes in order. */
function addPiece(stretches: readonly Stretch[], added: Stretch): readonly Stretch[] {
  const last = stretches.at(-1);
  if (last === undefined) return [added];
  if (last.end === added.start) return [...stretches.slice(0, -1), join(last, added)];
  return last.start <= added.start && last.end >= added.end ? stretches : addStretch(stretches, added);
}

export const getTextKey = ({ execution_id, data }: EventEnvelope): string =>
  [execution_id, data['step_number'], data['attempt'], data['answer'] ?? 1].map(String).join('/');

const isSame = (one: EventEnvelope, other: EventEnvelope): boolean =>
  one.timestamp === other.timestamp &&
  (['offset', 'length', 'text', 'reasoning'] as const).every((key) => one.data[key] === other.data[key]);

function hasChunk(list: ChunkList | undefined, chunk: EventEnvelope): boolean {
  for (let each = list; each !== undefined; each = each.others) if (isSame(each.chunk, chunk)) return true;
  return false;
}

/** Adds a chunk to the text of its answer. Returns the same text if it had the chunk. */
export function addChunk(open: OpenText | undefined, chunk: EventEnvelope): OpenText {
  const { data, timestamp } = chunk;
  const kind = getText(data, 'reasoning') === undefined ? 'text' : 'reasoning';
  const text = getText(data, kind) ?? '';
  const start = getNumber(data, 'offset') ?? 0;
  const before = open ?? {
    source: chunk,
    step: getNumber(data, 'step_number') ?? 0,
    attempt: getNumber(data, 'attempt') ?? 1,
    answer: getNumber(data, 'answer') ?? 1,
    lastAt: timestamp,
    text: [],
    reasoning: [],
  };
  const stretches = addPiece(before[kind], { start, end: start + (getNumber(data, 'length') ?? text.length), text });
  // One that adds something was not here before; nearly all do.
  if (open !== undefined && stretches === open[kind] && hasChunk(open.chunks, chunk)) return open;
  const lastAt = timestamp > before.lastAt ? timestamp : before.lastAt;
  const source = timestamp < before.source.timestamp ? chunk : before.source;
  return { ...before, source, lastAt, [kind]: stretches, chunks: { chunk, others: open?.chunks } };
}

/** Leaves out the chunks of times that are over. Whatever is earlier than such a time must be over too. Returns undefined if none is left. */
export function dropChunks(open: OpenText, isOver: (at: string) => boolean): OpenText | undefined {
  if (!isOver(open.source.timestamp)) return open;
  let kept: OpenText | undefined;
  for (let each: ChunkList | undefined = open.chunks; each !== undefined; each = each.others)
    if (!isOver(each.chunk.timestamp)) kept = addChunk(kept, each.chunk);
  return kept;
}

/** Returns the text up to the first chunk that is missing. */
export function readText(stretches: readonly Stretch[]): string {
  const [first] = stretches;
  return first?.start === 0 ? first.text : '';
}

/** Names the chunks that are missing. The loss of the last one shows only when the step is stored. */
export function findTextGaps(open: OpenText): readonly TextGap[] {
  const { source, step, attempt } = open;
  return (['text', 'reasoning'] as const).flatMap((kind) => {
    const gaps: TextGap[] = [];
    let from = 0;
    for (const { start, end } of open[kind]) {
      if (start > from) gaps.push({ type: 'text', execution_id: source.execution_id, step_number: step, attempt, kind, from, to: start });
      from = end;
    }
    return gaps;
  });
}
