// A view: everything that a page shows of a session.
// Owns:     what a view says; each part is computed when it is first read.
// Does not: change. `reduce` returns another view.
import type { ViewClocks } from './derive-clocks.ts';
import { deriveClocks, deriveUsage } from './derive-clocks.ts';
import { deriveMessages } from './derive-messages.ts';
import type { ViewWait } from './derive-waits.ts';
import { deriveWaits, isSnapshotNewer } from './derive-waits.ts';
import type { ViewWhy } from './derive-why.ts';
import { deriveWhy } from './derive-why.ts';
import { getShown } from './drop-over.ts';
import type { ViewUsage } from './execution-facts.ts';
import { getText, isRoot } from './fields.ts';
import { getNeededTotals } from './head-totals.ts';
import { findMissing } from './known-ranges.ts';
import type { StatusViewMessage, ViewMessage } from './message.ts';
import { StatusType } from './message.ts';
import type { TextGap } from './open-text.ts';
import { findTextGaps } from './open-text.ts';
import type { ViewState } from './view-state.ts';
import { createState } from './view-state.ts';

/** Something that a view lacks. */
export type ViewGap =
  /** Events after one number, up to another. */
  | { readonly type: 'events'; readonly after_seq: number; readonly to_seq: number }
  /** The text of a message, which was too large for its envelope. */
  | { readonly type: 'payload'; readonly seq: number; readonly part: number }
  | TextGap;

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
    ...getShown(open).texts.flatMap(findTextGaps),
  ];
}

function isOpen({ open }: ViewState): boolean {
  const { items, texts } = getShown(open);
  return items.some(isRoot) || texts.some(({ source }) => isRoot(source));
}

function getStatus(state: ViewState): string {
  const { lastStatus, lastInput, snapshot } = state;
  if (isOpen(state)) return 'in_progress';
  if (snapshot !== undefined && isSnapshotNewer(state)) return snapshot.status;
  const totals = getNeededTotals(state);
  const lastSeq = Math.max(lastStatus?.seq ?? 0, totals?.seq ?? 0);
  if (lastInput !== undefined && lastInput.seq > lastSeq) return 'in_progress';
  if (totals !== undefined && totals.seq === lastSeq) return totals.status;
  return (lastStatus && getText(lastStatus.data, 'status')) ?? 'pending';
}

class LazyView implements AgentView {
  readonly state: ViewState;
  #messages: readonly ViewMessage[] | undefined;
  #waits: readonly ViewWait[] | undefined;
  #gaps: readonly ViewGap[] | undefined;
  #why: ViewWhy | undefined;
  #usage: ViewUsage | undefined;

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
    return (this.#usage ??= deriveUsage(this.state));
  }

  get clocks(): ViewClocks {
    return deriveClocks(this.state);
  }

  get why(): ViewWhy {
    return (this.#why ??= deriveWhy(this.state, this));
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
    const { lastStatus, lastInput, totals } = this.state;
    const source = lastStatus ?? lastInput ?? totals?.source;
    if (this.status !== 'in_progress' || isBusy || source === undefined || this.waits.length > 0) return messages;
    const { timestamp, agent_id = '' } = source;
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
}

/** Creates the view of a session of which nothing is known. */
export const createView = (sessionId: string): AgentView => new LazyView(createState(sessionId));

/** Returns the state that a view was made of. */
export function getState(view: AgentView): ViewState {
  if (view instanceof LazyView) return view.state;
  throw new TypeError('This view was not made by createView() or reduce().');
}

export const toView = (state: ViewState): AgentView => new LazyView(state);

/** Returns the highest number that is known, whatever is missing before it: a connection continues behind it. */
export const getNewestSeq = (view: AgentView): number => getState(view).known.at(-1)?.last ?? 0;
