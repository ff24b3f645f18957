// The calls of one step, as parts of a message.
// Owns:     what a page knows of each call.
// Does not: know the words of the step, or which step it is.
// C1. Whatever is told twice is sent once: an event comes before it is stored, and again when it is.
// C2. A call that has ended is never handed to a page as one to run: `onToolCall` is not called for it.
// C3. Calls inside other agents are shown only if they wait for somebody, as parts of their own.
import type { Json, Redactor } from '../../lib/index.ts';
import { stableStringify } from '../../lib/index.ts';
import { toShownArgs } from '../http/index.ts';
import type { AnswerChunk } from './answer-types.ts';
import type { EventFields } from './event-fields.ts';
import { getJson, getName, isRoot, isShown } from './event-fields.ts';

interface Call {
  /** Id of its part. */
  readonly id: string;
  readonly toolName: string;
  readonly isInside: boolean;
  waitId?: string;
  approvalId?: string;
  /** Arguments that the page has. */
  input?: string;
  /** Decision that the page has. */
  decision?: string;
  isOver: boolean;
}

/** Names a call in its session, whoever made it. */
export const getCallKey = (event: EventFields): string => `${getName(event, 'agentId')}/${getName(event, 'toolCallId')}`;

/** Options for one event. */
export interface CallOptions {
  /** True if it is known that the call has ended. */
  readonly isOver: boolean;
}

export class StepCalls {
  readonly #redactor: Redactor;
  readonly #calls = new Map<string, Call>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** True if the model has called anything. */
  get hasAny(): boolean {
    return this.#calls.size > 0;
  }

  /** Returns the chunks of an event; none if it is not about a call. */
  take(event: EventFields, options: CallOptions): readonly AnswerChunk[] {
    switch (event['type']) {
      case 'ToolCallStarted':
      case 'ToolCallBlocked':
        return this.#start(event, options);
      case 'ToolApprovalRequested':
        return this.#ask(event, options);
      case 'WaitResolved':
        return this.#resolve(event);
      case 'ToolCallCompleted':
        return this.#end(event);
      case 'ToolCallProgress':
        return this.#report(event);
      default:
        return [];
    }
  }

  #enter(event: EventFields): Call | undefined {
    const key = getCallKey(event);
    const known = this.#calls.get(key);
    const waitId = getName(event, 'waitId');
    if (known !== undefined) {
      if (waitId !== '') known.waitId = waitId;
      return known;
    }
    if (!isShown(event) && waitId === '') return undefined;
    const isInside = !isRoot(event);
    const id = isInside ? waitId || key : getName(event, 'toolCallId');
    const call: Call = { id, toolName: getName(event, 'tool'), isInside, isOver: false, ...(waitId !== '' && { waitId }) };
    this.#calls.set(key, call);
    return call;
  }

  #sendInput(call: Call, args: Json, { isOver }: CallOptions): readonly AnswerChunk[] {
    const input = stableStringify(args);
    if (call.input === input) return [];
    call.input = input;
    const shown = this.#redactor.value(args);
    const names = { toolCallId: call.id, toolName: call.toolName, ...(call.isInside && { dynamic: true }) };
    if (!isOver) return [{ type: 'tool-input-available', ...names, input: shown }];
    return [
      { type: 'tool-input-start', ...names },
      { type: 'tool-input-delta', toolCallId: call.id, inputTextDelta: JSON.stringify(shown) },
    ];
  }

  #start(event: EventFields, options: CallOptions): readonly AnswerChunk[] {
    const call = this.#enter(event);
    if (call === undefined || call.isOver) return [];
    return this.#sendInput(call, getJson(event, 'args'), options);
  }

  #ask(event: EventFields, options: CallOptions): readonly AnswerChunk[] {
    const call = this.#enter(event);
    if (call === undefined) return [];
    call.waitId ??= getName(event, 'toolCallId');
    // Whoever answers names exactly what was shown.
    const approvalId = getName(event, 'digest') || call.waitId;
    if (call.approvalId === approvalId) return [];
    call.approvalId = approvalId;
    const args = getJson(event, 'args');
    const { hidden_fields: hidden } = toShownArgs(args, { redactor: this.#redactor, maxLength: Infinity });
    const descriptor = hidden.length === 0 ? {} : { approvalDescriptor: { hiddenFields: [...hidden] } };
    return [...this.#sendInput(call, args, options), { type: 'tool-approval-request', approvalId, toolCallId: call.id, ...descriptor }];
  }

  #resolve(event: EventFields): readonly AnswerChunk[] {
    const waitId = getName(event, 'waitId');
    const call = [...this.#calls.values()].findLast((each) => each.waitId === waitId);
    if (call === undefined) return [];
    return this.#decide(call, getName(event, 'decision'), getName(event, 'reason'));
  }

  #decide(call: Call, decision: string, reason: string): readonly AnswerChunk[] {
    const { approvalId } = call;
    const isAnswer = decision === 'approved' || decision === 'rejected' || decision === 'expired';
    if (approvalId === undefined || !isAnswer || call.decision !== undefined) return [];
    call.decision = decision;
    const why = reason === '' ? {} : { reason: this.#redactor.text(reason) };
    return [{ type: 'tool-approval-response', approvalId, approved: decision === 'approved', ...why }];
  }

  #end(event: EventFields): readonly AnswerChunk[] {
    const call = this.#enter(event);
    if (call === undefined || call.isOver) return [];
    call.isOver = true;
    const status = getName(event, 'status');
    const toolCallId = call.id;
    if (status === 'succeeded')
      return [
        ...this.#sendInput(call, call.input === undefined ? {} : (JSON.parse(call.input) as Json), { isOver: true }),
        { type: 'tool-output-available', toolCallId, output: this.#redactor.value(getJson(event, 'result')) },
      ];
    const errorText = this.#redactor.text(getName(event, 'error')) || 'The call failed.';
    if (status === 'rejected' && call.approvalId !== undefined)
      return [...this.#decide(call, 'rejected', ''), { type: 'tool-output-denied', toolCallId }];
    if (call.input !== undefined) return [{ type: 'tool-output-error', toolCallId, errorText }];
    // It never started: the model's arguments or the name of the tool are wrong.
    const names = { toolName: call.toolName, ...(call.isInside && { dynamic: true }) };
    return [{ type: 'tool-input-error', toolCallId, ...names, input: null, errorText }];
  }

  #report(event: EventFields): readonly AnswerChunk[] {
    const call = this.#enter(event);
    if (call === undefined || call.isOver) return [];
    const progress = this.#redactor.value(getJson(event, 'progress'));
    return [{ type: 'data-progress', data: { toolCallId: call.id, toolName: call.toolName, progress }, transient: true }];
  }
}
