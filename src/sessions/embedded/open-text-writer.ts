// The writer of the text of one run's open steps.
// Owns:     the text of the current attempt, and when it is stored.
// Does not: store anything itself (the log does), or know who reads.
// F1. At most one write per 250 ms, and none once the step is recorded.
// F2. A write that fails ends the storing of this attempt, and nothing else: the run continues.
// F3. No text is shown under the number of an attempt that another process could give again: the number follows from the marks of the
//     step, or its first row is stored.
import { readField } from '../../lib/index.ts';
import type { TextAttempt, TextPiece } from '../core/open-text.ts';
import { addPiece, toTextRow } from '../core/open-text.ts';
import type { OpenTextHub } from './open-text-hub.ts';
import type { SessionLog } from './session-log.ts';

/** Time between two writes. */
const writeEveryMs = 250;

const kinds: Readonly<Record<string, TextPiece['kind']>> = { TextDelta: 'text', ReasoningDelta: 'reasoning' };

/** An attempt that writes text. */
interface OpenAttempt {
  readonly place: TextAttempt;
  /** Execution and step of the run that writes it: a run inside a turn may take several steps. */
  readonly source: string;
  readonly length: { text: number; reasoning: number };
  /** All of its text that is not stored yet. */
  unstored: readonly TextPiece[];
  /** Its text that is not shown yet. */
  unshown: readonly TextPiece[];
  rows: number;
  /** True if its number is never given again. */
  isSafe: boolean;
  hasFailed: boolean;
}

export class OpenTextWriter {
  readonly #log: SessionLog;
  readonly #hub: OpenTextHub;
  #attempt: OpenAttempt | undefined;
  #isVoid = false;
  #isWriting = false;
  #cancelTimer: (() => void) | undefined;

  constructor(log: SessionLog, hub: OpenTextHub) {
    this.#log = log;
    this.#hub = hub;
  }

  /** Takes the text of an event of the run, if it has any that belongs to the open step. */
  note(event: object): void {
    const type = String(readField(event, 'type'));
    const kind = kinds[type];
    if ((kind === undefined && type !== 'ModelFallback') || !this.#isOwn(event) || this.#log.journal.isShut) return;
    // Text that was streamed of an answer that failed is void.
    if (kind === undefined) this.#isVoid = true;
    else this.#add(event, kind);
  }

  /** The step is about to be recorded, or to wait: nothing more of it is stored. Returns a function to call when that is safe. */
  endStep(): () => void {
    const { id, storedText } = this.#log;
    const since = (this.#attempt?.place ?? storedText ?? this.#hub.findAttempt(id))?.since;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#attempt = undefined;
    this.#isVoid = false;
    return () => {
      if (since !== undefined) this.#hub.record(id, since);
    };
  }

  /** The run has ended. */
  close(): void {
    const { id } = this.#log;
    // The step may be run again already, by a session that was loaded again.
    const isOpen = this.#attempt !== undefined && this.#attempt.place === this.#hub.findAttempt(id);
    this.endStep();
    if (isOpen) this.#hub.drop(id);
  }

  /** True for an event of the session's agent, or of the participant whose turn it is; agents inside those write for nobody. */
  #isOwn(event: object): boolean {
    const { agentId } = this.#log.state;
    if (readField(event, 'agentId') === agentId) return true;
    return readField(event, 'participant') !== undefined && readField(event, 'parentAgentId') === agentId;
  }

  #add(event: object, kind: TextPiece['kind']): void {
    const [text, participant] = [readField(event, 'text'), readField(event, 'participant')];
    if (typeof text !== 'string' || text === '') return;
    const attempt = this.#findAttempt(`${String(readField(event, 'executionId'))}/${String(readField(event, 'stepNumber'))}`);
    const offset = attempt.length[kind];
    const piece = { ...attempt.place, kind, offset, text, ...(typeof participant === 'string' && { participant }) };
    attempt.length[kind] += text.length;
    attempt.unstored = addPiece(attempt.unstored, piece);
    attempt.unshown = addPiece(attempt.unshown, piece);
    this.#show(attempt);
    this.#arm();
  }

  #findAttempt(source: string): OpenAttempt {
    const current = this.#attempt;
    if (current?.source === source && !this.#isVoid) return current;
    const { place, isSafe } = this.#createPlace();
    this.#isVoid = false;
    this.#hub.begin(this.#log.id, place);
    const length = { text: 0, reasoning: 0 };
    this.#attempt = { place, source, length, unstored: [], unshown: [], rows: 0, isSafe, hasFailed: false };
    return this.#attempt;
  }

  /** Returns the place of the next attempt; its number is safe if a process that resumes the step gives a higher one. */
  #createPlace(): { readonly place: TextAttempt; readonly isSafe: boolean } {
    const { id, state, head, storedText, marks } = this.#log;
    const { number: execution, pendingStep, results } = state.execution;
    const step = pendingStep?.number ?? results.length + 1;
    const begun = this.#hub.findAttempt(id);
    const before = begun?.execution === execution && begun.step === step ? begun : undefined;
    const attempt = Math.max(before?.attempt ?? 0, storedText?.attempt ?? 0, marks) + 1;
    const since = storedText?.since ?? before?.since ?? head;
    return { place: { execution, step, attempt, since }, isSafe: attempt === marks + 1 };
  }

  #show(attempt: OpenAttempt): void {
    if (!attempt.isSafe || attempt.unshown.length === 0) return;
    const pieces = attempt.unshown;
    attempt.unshown = [];
    this.#hub.show(this.#log.id, pieces);
  }

  #arm(): void {
    if (this.#cancelTimer !== undefined || this.#isWriting) return;
    this.#cancelTimer = this.#log.claimed.clock.schedule(writeEveryMs, () => void this.#write(), true);
  }

  async #write(): Promise<void> {
    this.#cancelTimer = undefined;
    const attempt = this.#attempt;
    if (attempt === undefined || attempt.hasFailed || attempt.unstored.length === 0 || this.#log.journal.isShut) return;
    const rows = attempt.unstored.map((piece) => toTextRow(piece, (attempt.rows += 1)));
    attempt.unstored = [];
    this.#isWriting = true;
    try {
      await this.#log.writeText(rows);
      attempt.isSafe = true;
      if (attempt === this.#attempt) this.#show(attempt);
    } catch {
      // What a failing store means for the run is decided by what the run writes.
      attempt.hasFailed = true;
    }
    this.#isWriting = false;
    if (this.#attempt !== undefined && this.#attempt.unstored.length > 0) this.#arm();
  }
}
