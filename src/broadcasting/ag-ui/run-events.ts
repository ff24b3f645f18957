// The events of one run of AG-UI, made from events of Stepline.
// Owns:     what the reader knows: open steps, texts and sub-agents, calls that were announced and answered.
// Does not: start or finish the run, read a session, or send.
// R1. Everything that is opened is closed: `close` leaves nothing open.
// R2. A call is announced once and answered once, however often its events come.
// R3. Arguments, results and texts have no secrets.
import type { Json, Redactor } from '../../lib/index.ts';
import { defaultRedactor } from '../../lib/index.ts';
import type { AnyEvent } from '../index.ts';
import type { AgUiEvent, AgUiMessage } from './ag-ui-event.ts';
import { toMessageId, toResultId } from './ag-ui-ids.ts';
import { EventFields } from './event-fields.ts';
import { Subagents } from './subagents.ts';
import type { TextAuthor } from './text-parts.ts';
import { TextParts } from './text-parts.ts';
import { UsageCounter } from './usage-counter.ts';

export interface RunEventsOptions {
  readonly redactor?: Redactor;
  /** True if the reader is sent a snapshot whenever {@link RunEvents.isStale}. @default false */
  readonly hasSnapshots?: boolean;
}

/** A call that waits for an approval. */
export interface AskedCall {
  readonly callId: string;
  readonly subagentRunId?: string;
}

type Events = Generator<AgUiEvent, void, undefined>;

const toText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

export class RunEvents {
  readonly usage: UsageCounter = new UsageCounter();
  readonly #redactor: Redactor;
  readonly #texts: TextParts;
  readonly #subagents = new Subagents();
  readonly #steps = new Map<string, { readonly stepName: string; readonly tag: TextAuthor }>();
  readonly #announced = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #asked = new Map<string, AskedCall>();
  readonly #messages = new Set<string>();
  #isStale = false;

  constructor({ redactor = defaultRedactor, hasSnapshots = false }: RunEventsOptions = {}) {
    this.#redactor = redactor;
    this.#texts = new TextParts({ redactor, hasSnapshots });
  }

  /** True if the reader shows something that was taken back. A snapshot helps: say so with {@link replaceMessages}. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** Notes the messages that the reader has been sent as a snapshot: it has no others any more. */
  replaceMessages(messages: Iterable<AgUiMessage>): void {
    this.#isStale = false;
    this.#announced.clear();
    this.#answered.clear();
    this.noteMessages(messages);
  }

  /** Notes messages that the reader has. */
  noteMessages(messages: Iterable<AgUiMessage>): void {
    for (const message of messages) {
      this.#messages.add(message.id);
      if (message.role === 'tool') this.#answered.add(message.toolCallId);
      if (message.role !== 'assistant') continue;
      this.#texts.note(message.id, message.content ?? '');
      for (const { id } of message.toolCalls ?? []) this.#announced.add(id);
    }
  }

  /** Notes a call that the reader knows, by the wait that it led to. */
  noteCall(waitId: string, call: AskedCall): void {
    this.#announced.add(call.callId);
    this.#asked.set(waitId, call);
  }

  /** Returns the call that a wait is about, if it was seen. */
  findAsked(waitId: string): AskedCall | undefined {
    return this.#asked.get(waitId);
  }

  /** Adds an event, and returns what the reader is sent. */
  add(event: AnyEvent): readonly AgUiEvent[] {
    const fields = new EventFields(event);
    const at = fields.number('at');
    return [...this.#map(fields)].map((each) => ({ ...each, ...(Number.isSafeInteger(at) && at > 0 && { timestamp: at }) }));
  }

  /** Takes back the text of a step; with `isAttempt` all that was sent of it, because it is run again. */
  takeBackStep(executionId: string, step: number, isAttempt: boolean): readonly AgUiEvent[] {
    if (isAttempt) this.#isStale = true;
    return [...this.#takeBack((messageId) => messageId === toMessageId(executionId, step))];
  }

  /** Ends everything that is open. */
  close(): readonly AgUiEvent[] {
    return [...this.#texts.endAll(() => true), ...this.#endSteps(() => true), ...this.#subagents.endAll()];
  }

  *#map(fields: EventFields): Events {
    const type = fields.text('type');
    if (type !== 'AgentFinished') yield* this.#subagents.start(fields);
    switch (type) {
      case 'UserMessageReceived':
        return yield* this.#addUserMessage(fields);
      case 'AgentExecutionStarted':
        if (fields.parent === undefined && !fields.flag('resumed')) this.usage.clearBase();
        return;
      case 'AgentStepStarted':
        return yield* this.#startStep(fields);
      case 'InferenceStarted':
        this.usage.noteModel(fields.text('model'));
        return;
      case 'ReasoningDelta':
        return yield* this.#texts.reason(fields.messageId, fields.text('text'), this.#getAuthor(fields));
      case 'TextDelta':
        return yield* this.#texts.write(fields.messageId, fields.text('text'), this.#getAuthor(fields));
      case 'ModelFallback':
        return yield* this.#takeBack((messageId) => messageId === fields.messageId);
      case 'ToolApprovalRequested':
      case 'ToolCallStarted':
        return yield* this.#announce(fields);
      case 'ToolCallProgress':
        return yield* this.#addProgress(fields);
      case 'ToolCallCompleted':
        return yield* this.#answer(fields);
      case 'AgentStateUpdated':
        return yield* this.#park(fields);
      case 'AgentStepCompleted':
        return yield* this.#endStep(fields);
      case 'RetryScheduled':
        return yield* this.#addRetry(fields);
      case 'AgentFinished':
        if (fields.parent === undefined) this.usage.noteTotal(fields.inner('usage'));
        else yield* this.#endSubagent(fields);
        return;
      default:
        return;
    }
  }

  #getTag(fields: EventFields): { readonly subagentRunId?: string } {
    return this.#subagents.getTag(fields);
  }

  #getAuthor(fields: EventFields): TextAuthor {
    const name = fields.optionalText('participant');
    return { ...this.#getTag(fields), ...(name !== undefined && { name }) };
  }

  *#addUserMessage(fields: EventFields): Events {
    const messageId = fields.text('messageId');
    if (this.#messages.has(messageId)) return;
    this.#messages.add(messageId);
    yield { type: 'TEXT_MESSAGE_START', messageId, role: 'user' };
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: this.#redactor.text(fields.text('text')) };
    yield { type: 'TEXT_MESSAGE_END', messageId };
  }

  *#startStep(fields: EventFields): Events {
    const key = fields.messageId;
    const stepName = `step ${fields.number('stepNumber')}`;
    if (this.#steps.has(key)) return;
    const tag = this.#getTag(fields);
    this.#steps.set(key, { stepName, tag });
    yield { type: 'STEP_STARTED', stepName, ...tag };
  }

  *#endSteps(isMeant: (key: string) => boolean): Events {
    for (const [key, { stepName, tag }] of this.#steps) {
      if (!isMeant(key)) continue;
      this.#steps.delete(key);
      yield { type: 'STEP_FINISHED', stepName, ...tag };
    }
  }

  *#announce(fields: EventFields): Events {
    const { callId: toolCallId, messageId } = fields;
    const tag = this.#getTag(fields);
    yield* this.#texts.end(messageId);
    const waitId = fields.optionalText('waitId');
    if (waitId !== undefined) this.#asked.set(waitId, { callId: toolCallId, ...tag });
    this.#subagents.noteCall(fields);
    if (this.#announced.has(toolCallId)) return;
    this.#announced.add(toolCallId);
    const parentMessageId = this.#texts.getId(messageId);
    yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: fields.text('tool'), parentMessageId, ...tag };
    yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(this.#redactor.value(fields.json('args') ?? null)), ...tag };
    yield { type: 'TOOL_CALL_END', toolCallId, ...tag };
  }

  *#addProgress(fields: EventFields): Events {
    const progress = this.#redactor.value(fields.json('progress') ?? null);
    yield { type: 'CUSTOM', name: 'stepline.progress', value: { toolCallId: fields.callId, progress }, ...this.#getTag(fields) };
  }

  *#answer(fields: EventFields): Events {
    const { callId: toolCallId } = fields;
    this.#subagents.forgetCall(fields);
    if (this.#answered.has(toolCallId)) return;
    this.#answered.add(toolCallId);
    const content = toText(this.#redactor.value(fields.json('result') ?? fields.json('error') ?? ''));
    yield { type: 'TOOL_CALL_RESULT', messageId: toResultId(toolCallId), toolCallId, content, role: 'tool', ...this.#getTag(fields) };
  }

  /** Sends the text of a step that waits. */
  *#park(fields: EventFields): Events {
    if (fields.optionalText('messageId') !== undefined) yield* this.#settle(fields);
  }

  *#endStep(fields: EventFields): Events {
    yield* this.#settle(fields);
    yield* this.#endSteps((key) => key === fields.messageId);
  }

  *#settle(fields: EventFields): Events {
    const isWhole = yield* this.#texts.settle(fields.messageId, fields.text('text'), this.#getAuthor(fields));
    if (isWhole) return;
    this.#isStale = true;
    // Without a snapshot, the text that counts is sent under another id.
    yield* this.#texts.settle(fields.messageId, fields.text('text'), this.#getAuthor(fields));
  }

  *#takeBack(isMeant: (messageId: string) => boolean): Events {
    if (yield* this.#texts.takeBackAll(isMeant)) this.#isStale = true;
  }

  *#addRetry(fields: EventFields): Events {
    const value = {
      step: fields.number('stepNumber'),
      delayMs: fields.number('delayMs'),
      errorType: fields.text('errorType'),
      message: this.#redactor.text(fields.text('message')),
    };
    yield { type: 'CUSTOM', name: 'stepline.retry', value, ...this.#getTag(fields) };
  }

  *#endSubagent(fields: EventFields): Events {
    const isOwn = (key: string): boolean => key.startsWith(`${fields.text('executionId')}/`);
    yield* this.#texts.endAll(isOwn);
    yield* this.#endSteps(isOwn);
    yield* this.#subagents.end(fields, this.#redactor);
  }
}
