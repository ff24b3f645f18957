// The part of an answer that a page does not have.
// P1. A page that continues its own message has some of its steps. The last of them is sent again: it may be out of date.
import type { AnswerChunk } from '../answer-types.ts';
import type { ChunkGroup } from './follow-answer.ts';

function skip(chunks: readonly AnswerChunk[], steps: number): readonly AnswerChunk[] {
  const starts = chunks.flatMap(({ type }, index) => (type === 'start-step' ? [index] : []));
  const last = starts[Math.min(steps, starts.length) - 1];
  return [{ type: 'reset-step' }, ...(last === undefined ? chunks : chunks.slice(last + 1))];
}

/** Leaves out the steps before the last one that a page has, and takes that one back. */
export async function* skipSteps(
  groups: AsyncGenerator<ChunkGroup, boolean, undefined>,
  steps: number,
): AsyncGenerator<ChunkGroup, boolean, undefined> {
  for (let count = 1; ; count += 1) {
    const next = await groups.next();
    if (next.done === true) return next.value;
    // The first group is the start of the message, the second what was stored.
    yield count === 2 ? { ...next.value, chunks: skip(next.value.chunks, steps) } : next.value;
  }
}
