// A run of AG-UI over a session.
// Owns:     where the run begins and ends in the events of the session.
// Does not: change the session, or know HTTP.
// S1. It ends when the session rests after everything that the request did to it was applied.
// S2. Leaving it changes nothing: the session goes on.
// S3. A reader that lacks messages of the session, or shows a text that was taken back, gets a snapshot.
import type { JsonObject } from '../../lib/index.ts';
import { escapePart } from '../../lib/index.ts';
import type { RecordedAction, Session, SessionWait, StoredEvent } from '../../sessions/index.ts';
import type { SessionStreamItem } from '../http/index.ts';
import { SessionStream, toShownArgs } from '../http/index.ts';
import type { AgUiEvent, AgUiInterrupt, AgUiMessage } from './ag-ui-event.ts';
import { protocolVersion } from './ag-ui-event.ts';
import { EventFields } from './event-fields.ts';
import type { AgUiServices } from './handler-options.ts';
import { toInterrupt } from './interrupts.ts';
import type { RunInput } from './read-input.ts';
import type { RunEnd } from './run-end.ts';
import { toEndEvents } from './run-end.ts';
import { RunEvents } from './run-events.ts';
import type { StartedRun } from './start-run.ts';
import { toAgUiMessages, toUserMessage } from './to-messages.ts';
import { findWaitCalls } from './wait-calls.ts';

/** An event to send, or that nothing has happened for a while. */
export type RunItem = AgUiEvent | 'idle';

type Items = AsyncGenerator<RunItem, void, undefined>;
type OpenItem = Extract<SessionStreamItem, { readonly type: 'open' }>;

const isTop = (event: StoredEvent): boolean => event.parentAgentId === null;
const isRest = (event: StoredEvent): boolean => (event.type === 'AgentFinished' && isTop(event)) || event.type === 'CrashLoopDetected';

/** Fields that are wrong in an event if they were too large. */
const sentFields = ['args', 'result', 'error'];

export class SessionRunStream {
  readonly #services: AgUiServices;
  readonly #input: RunInput;
  readonly #started: StartedRun;
  readonly #events: RunEvents;
  readonly #session: Session;
  /** Messages and waits whose events have not come yet. */
  readonly #expected: Set<string>;
  /** The event of a step that waits, if everything is answered and has not been applied yet. */
  #answered: StoredEvent | undefined;
  /** False if answers that are not applied are not waited for any more. */
  #isPatient = true;
  /** Events of the open step that were not sent because something of them was cut. */
  readonly #skipped = new Set<string>();

  constructor(services: AgUiServices, input: RunInput, started: StartedRun) {
    this.#services = services;
    this.#input = input;
    this.#started = started;
    this.#session = started.session;
    this.#events = new RunEvents({ redactor: services.redactor, hasSnapshots: true });
    this.#expected = new Set([...started.waitIds, ...(started.message === undefined ? [] : [started.message.id])]);
  }

  /** Reads the run until it ends, or the signal aborts. */
  async *read(signal: AbortSignal): Items {
    const { threadId, runId } = this.#input;
    yield { type: 'RUN_STARTED', threadId, runId, protocolVersion };
    yield* this.#begin();
    const { left } = this.#started;
    if (left !== undefined) return yield* this.#endEarly(left);
    const isAtRest = this.#expected.size === 0 && this.#session.status !== 'in_progress';
    yield* isAtRest ? this.#end(await this.#toSessionEnd(this.#session)) : this.#follow(signal);
  }

  /** Sends the conversation if the page lacks something of it, and notes what the page knows. */
  async *#begin(): Items {
    const { state } = this.#session;
    const { redactor, runtime } = this.#services;
    const { message } = this.#started;
    const earlier = toAgUiMessages(state, redactor);
    const isKnown = ({ id }: AgUiMessage): boolean => this.#input.knownIds.has(id);
    // A new message is not in the state yet.
    const messages = message === undefined ? earlier : [...earlier, toUserMessage(message, redactor)];
    if (!earlier.every((each) => each.role === 'reasoning' || isKnown(each))) {
      // Clients keep the places of messages that they have, so the newest one is left out first: it comes after those that are added.
      yield { type: 'MESSAGES_SNAPSHOT', messages: earlier };
      if (message !== undefined) yield { type: 'MESSAGES_SNAPSHOT', messages };
    }
    this.#events.noteMessages(messages);
    this.#events.usage.noteBase(state.usage);
    for (const [waitId, call] of await findWaitCalls(runtime, this.#session)) this.#events.noteCall(waitId, call);
  }

  async *#follow(signal: AbortSignal): Items {
    const { runtime, clock, heartbeatMs, maxBufferBytes } = this.#services;
    const { id: sessionId, lastSeq: after } = this.#session;
    const stream = new SessionStream({ runtime, sessionId, after, clock, heartbeatMs, maxBufferBytes, signal });
    for await (const item of stream.read()) {
      if (item.type === 'idle') yield 'idle';
      if (item.type === 'open') yield* this.#addOpen(item);
      if (item.type === 'stored') yield* this.#addStored(item);
      const rest = item.type === 'stored' && isRest(item.event) ? item.event : this.#answered;
      // An answer that is not applied by then never will be.
      if (item.type === 'idle' && this.#answered !== undefined) this.#isPatient = false;
      const end = await this.#findEnd(item, rest);
      if (end !== undefined) return yield* this.#end(end);
      if (this.#events.isStale) yield* this.#sendSnapshot();
    }
    yield* this.#events.close();
    const message = 'The stream was ended, and the session goes on. Run the thread again without a new message to follow it.';
    yield { type: 'RUN_ERROR', message, code: 'stream-ended' };
  }

  async *#sendSnapshot(): Items {
    const { state } = await this.#services.runtime.get(this.#session.id);
    const messages = toAgUiMessages(state, this.#services.redactor);
    yield { type: 'MESSAGES_SNAPSHOT', messages };
    this.#events.replaceMessages(messages);
  }

  *#addOpen({ item, place }: OpenItem): Generator<AgUiEvent, void, undefined> {
    const { execution, step, attempt } = item;
    const ids = place.getIds({
      agentId: this.#session.state.agentId,
      executionId: `${escapePart(this.#session.id)}/${execution}`,
      orchestrator: 'agent',
    });
    if (item.type === 'text') {
      const type = item.kind === 'text' ? 'TextDelta' : 'ReasoningDelta';
      yield* this.#events.add(toStored({ ...ids, type, text: item.text, stepNumber: step, participant: item.participant }));
    } else if (item.type === 'void') yield* this.#events.takeBackStep(ids.executionId, step, item.answer === undefined);
    else if (item.cut?.some((field) => sentFields.includes(field)) === true) this.#skipped.add(`${attempt}/${item.index}`);
    else yield* this.#addEvent(toStored(item.event));
  }

  *#addStored({ event, confirmed }: Extract<SessionStreamItem, { readonly type: 'stored' }>): Generator<AgUiEvent, void, undefined> {
    if (event.type === 'UserMessageReceived') this.#expected.delete(event.messageId);
    if (event.type === 'WaitResolved') this.#expected.delete(event.waitId);
    const key = `${confirmed.attempt ?? 0}/${confirmed.index ?? 0}`;
    if (confirmed.index === undefined || this.#skipped.delete(key)) yield* this.#addEvent(event);
  }

  *#addEvent(event: StoredEvent): Generator<AgUiEvent, void, undefined> {
    yield* this.#events.add(event);
    if (event.type === 'ToolApprovalRequested') yield* this.#announceApproval(event);
  }

  /** Shows what will be asked when the step waits: it can be answered at once. */
  *#announceApproval(event: StoredEvent): Generator<AgUiEvent, void, undefined> {
    const fields = new EventFields(event);
    const [id, digest] = [fields.text('waitId'), fields.text('digest')];
    if (id === '' || digest === '') return;
    const args = fields.json('args') ?? null;
    const wait: SessionWait = { type: 'approval', id, toolName: fields.text('tool'), args, sessionId: this.#session.id, digest };
    // Holds: an interrupt is JSON.
    yield { type: 'CUSTOM', name: 'stepline.interrupt', value: this.#toInterrupt(wait, 0) as unknown as JsonObject };
  }

  #toInterrupt(wait: SessionWait, stepCount: number): AgUiInterrupt {
    const { redactor } = this.#services;
    const shown = 'args' in wait ? toShownArgs(wait.args, { redactor, maxLength: Infinity }) : { hidden_fields: [] };
    const { args, hidden_fields: hiddenFields } = shown;
    return toInterrupt({ wait, stepCount, hiddenFields, call: this.#events.findAsked(wait.id), ...(args !== undefined && { args }) });
  }

  /** Returns how the run ended; undefined if it goes on. `rest` is the last event, if the session rests with it. */
  async #findEnd({ type }: SessionStreamItem, rest: StoredEvent | undefined): Promise<RunEnd | undefined> {
    if (type === 'open') return undefined;
    // What a worker refuses leaves no event.
    if (this.#expected.size > 0) return rest === undefined && type !== 'idle' ? undefined : this.#findRefusal();
    return rest && this.#toEnd(rest);
  }

  async #toEnd(event: StoredEvent): Promise<RunEnd | undefined> {
    const { runtime } = this.#services;
    const fields = new EventFields(event);
    const session = await runtime.get(this.#session.id);
    this.#answered = undefined;
    if (event.type === 'CrashLoopDetected' || fields.text('status') === 'waiting') {
      // Somebody may have answered already; then it goes on.
      if (session.status !== 'waiting') return undefined;
      if (!this.#isPatient || !(await this.#isAnswered(session))) return this.#toSessionEnd(session);
      this.#answered = event;
      return undefined;
    }
    const [failure] = fields.list('errors');
    const isCurrent = session.lastSeq === event.seq;
    return {
      ...noEnd,
      status: fields.text('status'),
      stopReason: fields.optionalText('stopReason'),
      resolvedBy: fields.optionalText('resolvedBy'),
      reason: fields.optionalText('reason'),
      stepCount: fields.number('stepCount'),
      explanation: isCurrent ? session.explain() : undefined,
      result: isCurrent ? session.text : undefined,
      failure: { code: failure?.optionalText('code'), message: failure?.optionalText('message') },
    };
  }

  /** True if every approval that a session waits for was answered, during the step for example, and is only not applied yet. */
  async #isAnswered({ id, waitingFor }: Session): Promise<boolean> {
    const actions = await this.#services.runtime.actions(id);
    const isGiven = ({ type, id: waitId, digest }: SessionWait): boolean =>
      type === 'approval' &&
      actions.some((each) => 'waitId' in each && each.waitId === waitId && each.digest === digest && each.refused === undefined);
    return waitingFor.length > 0 && waitingFor.every(isGiven);
  }

  /** Returns the end of a run of which something that the request asked for was refused; undefined if nothing was. */
  async #findRefusal(): Promise<RunEnd | undefined> {
    const { requestIds } = this.#started;
    const actions = await this.#services.runtime.actions(this.#session.id);
    const isOwn = ({ requestId }: RecordedAction): boolean => requestId !== undefined && requestIds.includes(requestId);
    const message = actions.find((action) => action.refused !== undefined && isOwn(action))?.refused;
    return message === undefined ? undefined : { ...noEnd, status: 'failed', failure: { code: 'action-refused', message } };
  }

  /** Describes a session at rest. */
  async #toSessionEnd(session: Session): Promise<RunEnd> {
    const { status, stopReason, stepCount, waitingFor, text } = session;
    const isRun = status !== 'pending';
    for (const [waitId, call] of await findWaitCalls(this.#services.runtime, session)) this.#events.noteCall(waitId, call);
    const isPageOnly = waitingFor.every(({ type }) => type === 'client-tool');
    const calls = isPageOnly ? waitingFor.flatMap(({ id }) => this.#events.findAsked(id)?.callId ?? []) : [];
    const explanation = isRun ? session.explain() : undefined;
    return {
      status,
      stopReason,
      stepCount,
      explanation,
      reason: explanation?.split('\n')[0],
      result: text,
      interrupts: isPageOnly ? [] : waitingFor.map((wait) => this.#toInterrupt(wait, stepCount)),
      pendingToolCallIds: calls,
    };
  }

  /** Ends a run for which some answers are still missing. */
  async *#endEarly(left: readonly SessionWait[]): Items {
    const session = this.#session;
    const total = session.waitingFor.length;
    const sentence = `${total - left.length} of ${total} answers are here. AG-UI continues a run only when all are: nothing was run yet.`;
    yield { type: 'CUSTOM', name: 'stepline.collected', value: { sentence, left: left.map(({ id }) => id) } };
    const end = await this.#toSessionEnd(session);
    yield* this.#end({ ...end, pendingToolCallIds: [], interrupts: left.map((wait) => this.#toInterrupt(wait, session.stepCount)) });
  }

  async *#end(end: RunEnd): Items {
    const { threadId, runId } = this.#input;
    yield* this.#events.close();
    yield* toEndEvents(end, { threadId, runId, usage: this.#events.usage.toUsage(), redactor: this.#services.redactor });
  }
}

const noEnd = { stepCount: 0, interrupts: [], pendingToolCallIds: [] };

/** Reads an event that is not stored yet like one that is: it lacks only its id and its number. */
const toStored = (event: Readonly<Record<string, unknown>>): StoredEvent =>
  // Holds: the fields of a stored event beside these two are checked wherever they are read.
  ({ at: 0, ...event, id: '', seq: 0 }) as unknown as StoredEvent;
