// The writer of the open steps of one run.
// Owns:     the text and the events of the current attempt, and when they are stored.
// Does not: store anything itself (the log does), or know who reads.
// F1. The first text of an attempt is written after 100 ms, so that readers elsewhere see it begin; else there is at most one write per
//     250 ms, and none once the step is recorded.
// F2. A write that fails ends the storing of this attempt, and nothing else: the run continues.
// F3. Nothing is shown under the number of an attempt that another process could give again: the number follows from the owners that
//     the step had, or its first row is stored.
// F4. Events are made plain and stored up to a total per attempt; text is always stored. The record of the step has all of it.
import { readField } from '../../lib/index.ts';
import { toOpenEvent } from '../core/open-event.ts';
import type { OpenItem, RowItem } from '../core/open-step.ts';
import { addItem, toOpenRow, toRowItem } from '../core/open-step.ts';
import { hasWork } from '../core/session.ts';
import type { OpenStepPlace } from '../core/session-runtime.ts';
import type { OpenStepHub } from './open-step-hub.ts';
import type { SessionLog } from './session-log.ts';

/** Time from the first text of an attempt to its first write. */
const firstTextMs = 100;

/** Time between two writes. */
const writeEveryMs = 250;

/** The most characters of events that are stored of one attempt. */
const maxStoredEvents = 256 * 1024;

const kinds: Readonly<Record<string, 'text' | 'reasoning'>> = { TextDelta: 'text', ReasoningDelta: 'reasoning' };

/** An attempt at a step. */
interface OpenAttempt {
  readonly place: OpenStepPlace;
  /** The text of the attempt: none yet, nothing stored yet, or stored from here on. */
  text: 'none' | 'new' | 'stored';
  /** Execution and step of the run that writes the current answer: a run inside a turn may take several steps. */
  source: string;
  answer: number;
  length: { text: number; reasoning: number };
  /** Number of events. */
  events: number;
  /** Items that are not stored yet. */
  unstored: OpenItem[];
  /** Items that are not shown yet. */
  unshown: OpenItem[];
  rows: number;
  eventBytes: number;
  /** True if its number is never given again. */
  isSafe: boolean;
  hasFailed: boolean;
}

export class OpenStepWriter {
  readonly #log: SessionLog;
  readonly #hub: OpenStepHub;
  #attempt: OpenAttempt | undefined;
  /** True if the text of the current answer is void. */
  #isAnswerVoid = false;
  #isWriting = false;
  #cancelTimer: (() => void) | undefined;

  constructor(log: SessionLog, hub: OpenStepHub) {
    this.#log = log;
    this.#hub = hub;
  }

  /** Takes an event of the run, if it belongs to the open step. */
  note(event: object): void {
    if (this.#log.journal.isShut) return;
    const type = String(readField(event, 'type'));
    const kind = kinds[type];
    if (kind !== undefined) {
      if (this.#isOwn(event)) this.#addText(event, kind);
      return;
    }
    // Text that was streamed of an answer that failed is void.
    if (type === 'ModelFallback' && this.#isOwn(event)) this.#isAnswerVoid = true;
    this.#addEvent(event);
  }

  /** The step is about to be recorded, or to wait: nothing more of it is stored. Returns a function to call when that is safe. */
  endStep(): () => void {
    const { id, storedAttempt } = this.#log;
    const afterEntry = (this.#attempt?.place ?? storedAttempt ?? this.#hub.findAttempt(id))?.afterEntry;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#attempt = undefined;
    this.#isAnswerVoid = false;
    return () => {
      if (afterEntry !== undefined) this.#hub.record(id, afterEntry);
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

  #addText(event: object, kind: 'text' | 'reasoning'): void {
    const [text, participant] = [readField(event, 'text'), readField(event, 'participant')];
    if (typeof text !== 'string' || text === '') return;
    const attempt = this.#findAttempt();
    this.#enterAnswer(attempt, `${String(readField(event, 'executionId'))}/${String(readField(event, 'stepNumber'))}`);
    const { place, answer, length } = attempt;
    const offset = length[kind];
    if (attempt.text === 'none') {
      attempt.text = 'new';
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
    }
    length[kind] += text.length;
    this.#add(attempt, { type: 'text', ...place, kind, answer, offset, text, ...(typeof participant === 'string' && { participant }) });
  }

  #addEvent(event: object): void {
    const { state } = this.#log;
    const seq = readField(event, 'seq');
    // Events of a record are stored when they are emitted. After the last one, no step is open.
    if (typeof seq !== 'number' || seq <= state.data.lastSeq || !hasWork(state)) return;
    const attempt = this.#findAttempt();
    attempt.events += 1;
    this.#add(attempt, { type: 'raw-event', ...attempt.place, index: attempt.events, event });
  }

  #add(attempt: OpenAttempt, item: OpenItem): void {
    addItem(attempt.unstored, item);
    if (attempt.isSafe) this.#hub.show(this.#log.id, [item]);
    else addItem(attempt.unshown, item);
    this.#arm();
  }

  #findAttempt(): OpenAttempt {
    if (this.#attempt !== undefined) return this.#attempt;
    const { place, isSafe } = this.#createPlace();
    this.#isAnswerVoid = false;
    this.#hub.begin(this.#log.id, place);
    const length = { text: 0, reasoning: 0 };
    const counts = { answer: 0, events: 0, rows: 0, eventBytes: 0 };
    this.#attempt = { place, text: 'none', source: '', length, ...counts, unstored: [], unshown: [], isSafe, hasFailed: false };
    return this.#attempt;
  }

  /** Starts another answer if the text before is void, or another step of an inner run writes. */
  #enterAnswer(attempt: OpenAttempt, source: string): void {
    if (attempt.source === source && !this.#isAnswerVoid) return;
    attempt.source = source;
    attempt.answer += 1;
    attempt.length = { text: 0, reasoning: 0 };
    this.#isAnswerVoid = false;
  }

  /** Returns the place of the next attempt; its number is safe if a process that resumes the step gives a higher one. */
  #createPlace(): { readonly place: OpenStepPlace; readonly isSafe: boolean } {
    const { id, state, head, storedAttempt, ownersSince } = this.#log;
    const { number: execution, pendingStep, results } = state.execution;
    const step = pendingStep?.number ?? results.length + 1;
    const begun = this.#hub.findAttempt(id);
    const before = begun?.execution === execution && begun.step === step ? begun : undefined;
    const attempt = Math.max(before?.attempt ?? 0, storedAttempt?.attempt ?? 0, ownersSince) + 1;
    const afterEntry = storedAttempt?.afterEntry ?? before?.afterEntry ?? head;
    return { place: { execution, step, afterEntry, attempt }, isSafe: attempt === ownersSince + 1 };
  }

  #arm(): void {
    if (this.#cancelTimer !== undefined || this.#isWriting) return;
    const delayMs = this.#attempt?.text === 'new' ? firstTextMs : writeEveryMs;
    this.#cancelTimer = this.#log.services.clock.schedule(delayMs, () => void this.#write(), true);
  }

  async #write(): Promise<void> {
    this.#cancelTimer = undefined;
    const attempt = this.#attempt;
    if (attempt === undefined || attempt.hasFailed) return;
    this.#isWriting = true;
    try {
      await this.#store(attempt);
    } catch {
      // What a failing store means for the run is decided by what the run writes.
      attempt.hasFailed = true;
    }
    this.#isWriting = false;
    if (this.#attempt !== undefined && !this.#attempt.hasFailed && this.#attempt.unstored.length > 0) this.#arm();
  }

  async #store(attempt: OpenAttempt): Promise<void> {
    const { unstored } = attempt;
    attempt.unstored = [];
    if (attempt.text === 'new') attempt.text = 'stored';
    const items = await this.#toRowItems(attempt, unstored);
    // The step may have been recorded meanwhile, or the session released.
    if (attempt !== this.#attempt || this.#log.journal.isShut || items.length === 0) return;
    attempt.rows += 1;
    await this.#log.writeOpenStep(toOpenRow(attempt.place, items, attempt.rows));
    attempt.isSafe = true;
    if (attempt !== this.#attempt || attempt.unshown.length === 0) return;
    this.#hub.show(this.#log.id, attempt.unshown);
    attempt.unshown = [];
  }

  async #toRowItems(attempt: OpenAttempt, items: readonly OpenItem[]): Promise<readonly RowItem[]> {
    const rowItems: RowItem[] = [];
    for (const item of items) {
      if (item.type !== 'raw-event') rowItems.push(toRowItem(item));
      else if (attempt.eventBytes < maxStoredEvents) {
        const plain = toRowItem(await toOpenEvent(this.#log.id, item));
        attempt.eventBytes += JSON.stringify(plain).length;
        rowItems.push(plain);
      }
    }
    return rowItems;
  }
}
