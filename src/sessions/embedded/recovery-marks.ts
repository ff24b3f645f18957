// How often the open step of a session was resumed after a crash.
// M1. A mark is a row beside the effects of the open step, and goes with them: when a step is recorded or parked, counting starts again.
// M2. A mark is stored before the step is resumed, so that a process that is killed counts too.
import type { EffectRow } from '../../journal/index.ts';
import { readObject } from '../../lib/index.ts';

const prefix = 'recovery/';

interface Mark {
  readonly attempts: number;
  /** True if the process ended in order: the next one that resumes the step does not count. */
  readonly wasLeft?: boolean;
}

function readMark(body: string): Mark {
  const data = readObject(JSON.parse(body), 'recovery mark');
  return { attempts: data.number('attempts'), wasLeft: data.optionalBoolean('wasLeft') === true };
}

export class RecoveryMarks {
  #stored = 0;
  #last: Mark = { attempts: 0 };

  constructor(rows: readonly EffectRow[]) {
    const marks = rows.filter(RecoveryMarks.isMark);
    const last = marks.at(-1);
    this.#stored = marks.length;
    if (last !== undefined) this.#last = readMark(last.body);
  }

  static isMark({ key }: EffectRow): boolean {
    return key.startsWith(prefix);
  }

  /** Number of marks that are stored. */
  get count(): number {
    return this.#stored;
  }
  /** Number of times that the open step was resumed. */
  get attempts(): number {
    return this.#last.attempts;
  }
  /** The number that this is if the step is resumed now. */
  get nextAttempt(): number {
    return this.attempts + (this.#last.wasLeft === true ? 0 : 1);
  }

  /** Returns the row to store before the step is resumed. */
  takeUp(): EffectRow {
    return this.#add({ attempts: this.nextAttempt });
  }

  /** Returns the row to store when the process ends in order. */
  leave(): EffectRow {
    return this.#add({ attempts: this.attempts, wasLeft: true });
  }

  /** Returns the row to store when somebody asks to try again. */
  restart(): EffectRow {
    return this.#add({ attempts: 0 });
  }

  /** The step is recorded or parked: its rows are dropped. */
  clear(): void {
    this.#stored = 0;
    this.#last = { attempts: 0 };
  }

  #add(mark: Mark): EffectRow {
    this.#last = mark;
    this.#stored += 1;
    return { key: `${prefix}${this.#stored}`, phase: 'intent', body: JSON.stringify(mark) };
  }
}
