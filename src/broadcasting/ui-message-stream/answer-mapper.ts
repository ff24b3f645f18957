// The events of an answer as chunks of a UI message: stream protocol v1 of the AI SDK.
// Owns:     what a page has of the answer so far.
// Does not: read anything, wait, or know the time. The same events always give the same chunks.
// M1. What a page has at the end is what was recorded: text that was streamed and then recorded otherwise is taken back.
// M2. An event may come twice, before it is stored and after; its chunks are sent once.
// M3. The words of a step come before its calls, in whatever order they are stored.
// M4. Secrets are removed from everything that is sent.
import type { Redactor } from '../../lib/index.ts';
import { defaultRedactor } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import type { AnswerChunk, AnswerMetadata, AnswerOutcome } from './answer-types.ts';
import type { EventFields } from './event-fields.ts';
import { getName, getStepKey, isRoot, isShown } from './event-fields.ts';
import { toFinishReason } from './finish-reason.ts';
import { describeNotice } from './notices.ts';
import { getCallKey, StepCalls } from './step-calls.ts';
import { StepText } from './step-text.ts';

export interface AnswerMapperOptions {
  readonly redactor?: Redactor;
  /** Finds a message of the conversation: what a model thought is stored there only. */
  readonly findMessage?: (messageId: string) => Message | undefined;
}

interface CurrentStep {
  readonly key: string;
  readonly text: StepText;
  readonly calls: StepCalls;
  /** Stored events of the step: what is left if an attempt is void. */
  readonly stored: EventFields[];
  /** Events of its calls that are not stored yet. */
  readonly live: EventFields[];
}

/** Line breaks do not count: between parts of a message they are added. */
const isSameText = (one: string, other: string): boolean => one === other || one.replaceAll('\n', '') === other.replaceAll('\n', '');

const findEndedCalls = (events: readonly EventFields[]): ReadonlySet<string> =>
  new Set(events.filter(({ type }) => type === 'ToolCallCompleted').map(getCallKey));

const isStepEnd = ({ type, status }: EventFields): boolean =>
  type === 'AgentStepCompleted' || type === 'AgentFinished' || (type === 'AgentStateUpdated' && status === 'waiting');

export class AnswerMapper {
  readonly #redactor: Redactor;
  readonly #findMessage: NonNullable<AnswerMapperOptions['findMessage']>;
  #step: CurrentStep | undefined;
  /** Stored events of a step whose end was not read yet. They are stored together, so it comes next. */
  #waiting: EventFields[] = [];
  #endedCalls: ReadonlySet<string> = new Set();

  constructor({ redactor = defaultRedactor, findMessage = () => undefined }: AnswerMapperOptions = {}) {
    this.#redactor = redactor;
    this.#findMessage = findMessage;
  }

  start(messageId: string | undefined, messageMetadata?: AnswerMetadata): readonly AnswerChunk[] {
    return [{ type: 'start', ...(messageId !== undefined && { messageId }), ...(messageMetadata !== undefined && { messageMetadata }) }];
  }

  /** Takes a piece that a model has just written. */
  takeText(kind: 'text' | 'reasoning', text: string): readonly AnswerChunk[] {
    const opened = this.#step === undefined ? this.#open('0') : [];
    return [...opened, ...(this.#step?.text.say(kind, this.#redactor.text(text)) ?? [])];
  }

  /** Takes an event that has just happened, stored or not. */
  takeEvent(event: EventFields): readonly AnswerChunk[] {
    const { type } = event;
    if (type === 'TextDelta' || type === 'ReasoningDelta')
      return isShown(event)
        ? [...this.#enter(event), ...this.takeText(type === 'TextDelta' ? 'text' : 'reasoning', getName(event, 'text'))]
        : [];
    if (type === 'AgentStepStarted' && isRoot(event)) return this.#startStep(event);
    if (type === 'ModelFallback' && isShown(event)) return [...this.voidAttempt(), ...this.#toNotice(event)];
    if (type === 'RetryScheduled' && isRoot(event)) return this.#toNotice(event);
    if (isStepEnd(event) && isRoot(event)) return this.#recordText(event);
    const entered = this.#enter(event);
    if (getName(event, 'toolCallId') !== '' && type !== 'ToolCallProgress') this.#step?.live.push(event);
    return [...entered, ...this.#takeCall(event)];
  }

  /** Takes back everything of the open step that is not stored: it is run again, or another model answers. */
  voidAttempt(): readonly AnswerChunk[] {
    const before = this.#step;
    if (before === undefined) return [];
    return [...this.#reset(before), ...this.#replay(before.stored)];
  }

  /** Takes stored events: all that have happened so far, or the next one. */
  takeStored(events: readonly EventFields[]): readonly AnswerChunk[] {
    this.#endedCalls = findEndedCalls(events);
    const chunks = events.flatMap((event) => this.#takeStoredEvent(event));
    this.#endedCalls = new Set();
    return chunks;
  }

  /** Ends the message. An answer that fails while a page listens is an error there. */
  finish(outcome: AnswerOutcome | undefined, { isLive, sessionId }: FinishOptions = {}): readonly AnswerChunk[] {
    const ended = [...this.#flush(undefined), ...this.#close()];
    if (outcome === undefined) return [...ended, { type: 'finish', finishReason: 'other' }];
    const messageMetadata = { ...(sessionId !== undefined && { sessionId }), ...outcome };
    const told: AnswerChunk = { type: 'data-outcome', id: 'outcome', data: outcome };
    if (isLive === true && outcome.status === 'failed')
      return [...ended, told, { type: 'message-metadata', messageMetadata }, { type: 'error', errorText: outcome.why }];
    return [...ended, told, { type: 'finish', finishReason: toFinishReason(outcome), messageMetadata }];
  }

  #takeStoredEvent(event: EventFields): readonly AnswerChunk[] {
    if (event['type'] === 'WaitResolved') return [...this.#flush(undefined), ...this.#replay([event])];
    this.#waiting.push(event);
    return isStepEnd(event) && isRoot(event) ? this.#flush(event) : [];
  }

  /** Sends the stored events of a step: its words, then its calls. */
  #flush(end: EventFields | undefined): readonly AnswerChunk[] {
    const events = this.#waiting;
    this.#waiting = [];
    const begun = events.flatMap((event) => (event['type'] === 'AgentStepStarted' && isRoot(event) ? this.#open(getStepKey(event)) : []));
    const spoken = end === undefined ? [] : this.#recordText(end);
    return [...begun, ...spoken, ...this.#replay(events)];
  }

  #replay(events: readonly EventFields[]): readonly AnswerChunk[] {
    const step = this.#step;
    for (const event of events) if (step?.stored.includes(event) === false) step.stored.push(event);
    const ended = findEndedCalls(events);
    return events.flatMap((event) => this.#takeCall(event, ended));
  }

  #takeCall(event: EventFields, ended: ReadonlySet<string> = new Set()): readonly AnswerChunk[] {
    const step = this.#step;
    if (step === undefined) return [];
    const key = getCallKey(event);
    const chunks = step.calls.take(event, { isOver: ended.has(key) || this.#endedCalls.has(key) });
    // A call ends the part of the text before it.
    return chunks.length === 0 ? [] : [...step.text.close(), ...chunks];
  }

  #startStep(event: EventFields): readonly AnswerChunk[] {
    const isAgain = event['resumed'] === true || event['attempt'] !== undefined;
    const isKnown = this.#step?.key === getStepKey(event);
    return isAgain && isKnown ? this.voidAttempt() : this.#open(getStepKey(event));
  }

  #enter(event: EventFields): readonly AnswerChunk[] {
    const isOwn = isRoot(event) && Number(event['stepNumber'] ?? 0) > 0 && event['type'] !== 'AgentExecutionStarted';
    return isOwn ? this.#open(getStepKey(event)) : [];
  }

  /** Goes on to a step, if it is another one. */
  #open(key: string): readonly AnswerChunk[] {
    if (this.#step?.key === key) return [];
    const closed = this.#close();
    this.#step = this.#createStep(key);
    return [...closed, { type: 'start-step' }];
  }

  #close(): readonly AnswerChunk[] {
    const step = this.#step;
    this.#step = undefined;
    return step === undefined ? [] : [...step.text.close(), { type: 'finish-step' }];
  }

  #createStep(key: string, stored: EventFields[] = []): CurrentStep {
    return { key, text: new StepText(key), calls: new StepCalls(this.#redactor), stored, live: [] };
  }

  #reset({ key, stored }: CurrentStep): readonly AnswerChunk[] {
    this.#step = this.#createStep(key, stored);
    const spoken = stored.findLast((event) => isStepEnd(event) && event['type'] !== 'AgentFinished');
    return [{ type: 'reset-step' }, ...(spoken === undefined ? [] : this.#recordText(spoken))];
  }

  /** Makes the text of the step what was recorded. */
  #recordText(event: EventFields): readonly AnswerChunk[] {
    if (event['type'] === 'AgentFinished' || getStepKey(event) !== this.#step?.key) return [];
    const step = this.#step;
    if (!step.stored.includes(event)) step.stored.push(event);
    const recorded = this.#redactor.text(getName(event, 'text'));
    const written = step.text.get('text');
    if (written !== '' && !isSameText(written, recorded))
      return [...this.#reset(step), ...this.#replay(step.stored), ...step.live.flatMap((each) => this.#takeCall(each))];
    // In this order: each changes what is open.
    return [
      ...step.text.say('reasoning', this.#findThought(step, event)),
      ...(written === '' ? step.text.say('text', recorded) : []),
      ...step.text.close(),
    ];
  }

  /** Finds what the model thought, if nobody has seen it being written. */
  #findThought({ text }: CurrentStep, event: EventFields): string {
    if (text.get('text') !== '' || text.get('reasoning') !== '') return '';
    return this.#redactor.text(this.#findMessage(getName(event, 'messageId'))?.reasoning ?? '');
  }

  #toNotice(event: EventFields): readonly AnswerChunk[] {
    return [{ type: 'data-notice', data: { text: describeNotice(event, this.#redactor) }, transient: true }];
  }
}

/** Circumstances of an answer's end. */
export interface FinishOptions {
  /** True if a page has listened while it happened. */
  readonly isLive?: boolean;
  readonly sessionId?: string;
}
