// A view: everything that a page shows of a session.
// Owns:     what a view says; each part is computed when it is first read.
// Does not: change. `reduce` returns another view.
import type { StoredEnvelope } from './block.ts';
import { deriveMessages } from './derive-messages.ts';
import type { ViewWait } from './derive-waits.ts';
import { deriveWaits, isSnapshotNewer } from './derive-waits.ts';
import type { ViewUsage } from './execution-facts.ts';
import { isRest } from './execution-facts.ts';
import { getObject, getText, isRoot } from './fields.ts';
import { findMissing } from './known-ranges.ts';
import type { StatusViewMessage, ViewMessage } from './message.ts';
import { StatusType } from './message.ts';
import type { Meter, StepDecision } from './meters.ts';
import { readDecision, readMeter } from './meters.ts';
import type { TextGap } from './open-text.ts';
import { findTextGaps } from './open-text.ts';
import { describeStop } from './sentences.ts';
import type { ViewState } from './view-state.ts';
import { createState } from './view-state.ts';

/** Something that a view lacks. */
export type ViewGap =
  /** Events after one number, up to another. */
  | { readonly type: 'events'; readonly after_seq: number; readonly to_seq: number }
  /** The text of a message, which was too large for its envelope. */
  | { readonly type: 'payload'; readonly seq: number; readonly part: number }
  | TextGap;

/** Times and counts of the last execution. */
export interface ViewClocks {
  readonly step_count: number;
  readonly started_at?: string;
  /** Time at which it ended or began to wait; absent while it runs. */
  readonly rested_at?: string;
  /** Sum of the durations of its steps. */
  readonly duration_ms: number;
}

/** Why the session is in the state that it is in. */
export interface ViewWhy {
  /** One sentence; empty if nothing is known yet. */
  readonly sentence: string;
  readonly stop_reason?: string;
  readonly resolved_by?: string;
  /** The numbers of the criterion that decided. */
  readonly meter?: Meter;
  /** The decision after each step, oldest first. */
  readonly steps: readonly StepDecision[];
}

/** Everything that a page shows of a session. It never changes. */
export interface AgentView {
  readonly session_id: string;
  readonly messages: readonly ViewMessage[];
  /** `pending`, `in_progress`, `waiting`, `completed`, `stopped`, `failed`, … */
  readonly status: string;
  readonly waits: readonly ViewWait[];
  /** Tokens of all steps of the session. */
  readonly usage: ViewUsage;
  readonly clocks: ViewClocks;
  readonly why: ViewWhy;
  /** Everything that is missing. Empty if the view is whole. */
  readonly gaps: readonly ViewGap[];
  /** Number up to which nothing is missing: connect again with it. */
  readonly known_seq: number;
}

function toGaps({ known, head, cuts, open }: ViewState): readonly ViewGap[] {
  return [
    ...findMissing(known, head).map(({ first, last }) => ({ type: 'events' as const, after_seq: first - 1, to_seq: last })),
    ...[...cuts.values()].sort((one, other) => one.seq - other.seq).map(({ seq, part }) => ({ type: 'payload' as const, seq, part })),
    ...[...open.texts.values()].flatMap(findTextGaps),
  ];
}

const isOpen = ({ open }: ViewState): boolean =>
  [...open.items.values()].some(isRoot) || [...open.texts.values()].some(({ source }) => isRoot(source));

function getStatus(state: ViewState): string {
  const { lastStatus, lastInput, snapshot } = state;
  if (isOpen(state)) return 'in_progress';
  if (snapshot !== undefined && isSnapshotNewer(state)) return snapshot.status;
  if (lastInput !== undefined && lastInput.seq > (lastStatus?.seq ?? 0)) return 'in_progress';
  return (lastStatus && getText(lastStatus.data, 'status')) ?? 'pending';
}

function toClocks({ lastStatus, executions }: ViewState): ViewClocks {
  const facts = lastStatus && executions.get(lastStatus.execution_id);
  if (lastStatus === undefined || facts === undefined) return { step_count: 0, duration_ms: 0 };
  const { stepCount, startedAt, durationMs } = facts;
  const rested = isRest(lastStatus) ? { rested_at: lastStatus.timestamp } : {};
  return { step_count: stepCount, started_at: startedAt, ...rested, duration_ms: Math.round(durationMs) };
}

function describeStatus({ data }: StoredEnvelope): string {
  const isDone = getText(data, 'status') === 'completed';
  const sentence = getText(data, 'sentence') ?? '';
  return getText(data, 'stop_reason') === undefined || isDone ? sentence : describeStop(data);
}

class LazyView implements AgentView {
  readonly state: ViewState;
  #messages: readonly ViewMessage[] | undefined;
  #waits: readonly ViewWait[] | undefined;
  #gaps: readonly ViewGap[] | undefined;
  #why: ViewWhy | undefined;

  constructor(state: ViewState) {
    this.state = state;
  }

  get session_id(): string {
    return this.state.sessionId;
  }

  get messages(): readonly ViewMessage[] {
    return (this.#messages ??= this.#withThinking(deriveMessages(this.state)));
  }

  get status(): string {
    return getStatus(this.state);
  }

  get waits(): readonly ViewWait[] {
    return (this.#waits ??= deriveWaits(this.state));
  }

  get usage(): ViewUsage {
    return this.state.usage;
  }

  get clocks(): ViewClocks {
    return toClocks(this.state);
  }

  get why(): ViewWhy {
    return (this.#why ??= this.#readWhy());
  }

  get gaps(): readonly ViewGap[] {
    return (this.#gaps ??= toGaps(this.state));
  }

  get known_seq(): number {
    const [first] = this.state.known;
    return first?.first === 1 ? first.last : 0;
  }

  /** Says that the model is asked, if nothing else shows that something happens. */
  #withThinking(messages: readonly ViewMessage[]): readonly ViewMessage[] {
    const last = messages.at(-1);
    const isBusy = (last?.role === 'assistant' && last.provisional) || (last?.role === 'tool' && last.tool_status === 'running');
    const source = this.state.lastStatus ?? this.state.lastInput;
    if (this.status !== 'in_progress' || isBusy || source === undefined || this.waits.length > 0) return messages;
    const { timestamp, agent_id } = source;
    const thinking: StatusViewMessage = {
      id: 'thinking',
      role: 'status',
      status_type: StatusType.Thinking,
      text: 'Thinking…',
      timestamp,
      agent_id,
    };
    return [...messages, thinking];
  }

  #readWhy(): ViewWhy {
    const { lastStatus, blocks, snapshot } = this.state;
    const steps = blocks
      .values()
      .filter(({ key, envelopes }) => key.startsWith('step:') && envelopes[0] !== undefined && isRoot(envelopes[0]))
      .sort((one, other) => (one.envelopes[0]?.seq ?? 0) - (other.envelopes[0]?.seq ?? 0))
      .flatMap(({ envelopes }) => readDecision(envelopes) ?? []);
    if (snapshot !== undefined && isSnapshotNewer(this.state)) {
      const { sentence = '', stop_reason } = snapshot;
      return { sentence, ...(stop_reason !== undefined && { stop_reason }), steps };
    }
    if (lastStatus === undefined) return { sentence: '', steps };
    const { data } = lastStatus;
    const [stopReason, resolvedBy] = [getText(data, 'stop_reason'), getText(data, 'resolved_by')];
    const meter = readMeter(getObject(data, 'context') ?? {});
    return {
      sentence: describeStatus(lastStatus),
      ...(stopReason !== undefined && { stop_reason: stopReason }),
      ...(resolvedBy !== undefined && { resolved_by: resolvedBy }),
      ...(meter !== undefined && { meter }),
      steps,
    };
  }
}

/** Creates the view of a session of which nothing is known. */
export const createView = (sessionId: string): AgentView => new LazyView(createState(sessionId));

/** Returns the state that a view was made of. */
export function getState(view: AgentView): ViewState {
  if (view instanceof LazyView) return view.state;
  throw new TypeError('This view was not made by createView() or reduce().');
}

export const toView = (state: ViewState): AgentView => new LazyView(state);
