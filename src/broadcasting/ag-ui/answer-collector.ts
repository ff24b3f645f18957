// Answers that wait for others.
// Owns:     answers to some of the interrupts of a thread, until there is one to each.
// Does not: store them. In another process, or after a restart, they are asked for again; nothing was run.
// C1. AG-UI continues a run only when everything it waits for is answered: until then no answer has an effect.
// C2. An answer is kept only while it is waited for. The first one counts; another one is refused.
import { jsonEquals, present } from '../../lib/index.ts';
import { AlreadyAnsweredError } from '../../step-by-step/index.ts';
import type { GivenAnswer } from './answers.ts';

function assertSame(kept: GivenAnswer, given: GivenAnswer): void {
  if (!jsonEquals(present({ ...kept.decision }), present({ ...given.decision }))) throw new AlreadyAnsweredError(given.wait.waitId);
}

/** Threads with answers that are kept; of more, the oldest are asked for again. */
const mostThreads = 1000;

export class AnswerCollector {
  readonly #threads = new Map<string, ReadonlyMap<string, GivenAnswer>>();

  /** Adds answers, and returns all that are there to the interrupts that are open. They are kept unless all are answered. */
  collect(threadId: string, given: readonly GivenAnswer[], openIds: readonly string[]): ReadonlyMap<string, GivenAnswer> {
    const kept = this.#threads.get(threadId) ?? new Map<string, GivenAnswer>();
    const found = openIds.flatMap((id) => {
      const [early, late] = [kept.get(id), given.find(({ interruptId }) => interruptId === id)];
      if (early !== undefined && late !== undefined) assertSame(early, late);
      const answer = early ?? late;
      return answer === undefined ? [] : [[id, answer] as const];
    });
    const answers = new Map(found);
    this.#threads.delete(threadId);
    if (answers.size > 0 && answers.size < openIds.length) this.#threads.set(threadId, answers);
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= mostThreads) break;
      this.#threads.delete(oldest);
    }
    return answers;
  }
}
