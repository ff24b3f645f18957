// A session as it is shown, and as a list finds it.
import type { StopReason } from '../../continuation/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { omitUndefined, readObject, readTime } from '../../lib/index.ts';
import type { Usage } from '../../messages/index.ts';
import { canBegin, ExecutionStatus as Statuses, toAskedCall } from '../../step-by-step/index.ts';
import type {
  CompletedResult,
  ExecutionStatus,
  ExplainStateOptions,
  FailedResult,
  RunResult,
  RunResultBase,
  RunState,
  StoppedResult,
  Wait,
} from '../../step-by-step/index.ts';
import type { ForkPoint, RecordedAction } from './action.ts';
import type { AgentIdentity } from './agents.ts';
import { computeApprovalDigest } from './approval-digest.ts';
import type { ExpiryOptions } from './expiry.ts';
import type { SessionApproval } from './session-approvals.ts';
import { getExpiresAt } from './expiry.ts';
import type { ListedSession, SessionHeader, StoredWorker } from '../store/session-store.ts';

/** Something that a session waits for. Pass it back with the answer: it identifies exactly what was shown. */
export type SessionWait = Wait & {
  readonly sessionId: string;
  /** Binds an approval to the session, the call and its arguments. */
  readonly digest: string;
  /** Time at which it expires. */
  readonly expiresAt?: number;
};

/** Facts about a session besides its state. */
export interface SessionFacts {
  readonly id: string;
  readonly agent: AgentIdentity;
  readonly tenant?: string;
  readonly owner?: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly forkedFrom?: ForkPoint;
}

/** A session in a list. */
export interface SessionSummary extends SessionFacts {
  readonly status: ExecutionStatus;
  readonly stopReason?: StopReason;
  readonly updatedAt: number;
  readonly executions: number;
  /** Steps of all executions. */
  readonly stepCount: number;
  readonly lastSeq: number;
  /** Its waits, without the arguments. */
  readonly waitingFor: readonly {
    readonly type: Wait['type'];
    readonly id: string;
    readonly toolName?: string;
    readonly reason?: string;
  }[];
}

/** A session whose stored data cannot be trusted. */
export interface DamagedSession {
  readonly id: string;
  readonly damage: string;
}

/** A whole session. */
export interface Session<State extends RunState = RunState> extends Omit<SessionSummary, 'waitingFor'> {
  readonly waitingFor: readonly SessionWait[];
  /** Actions that no worker has taken yet, in their order. */
  readonly mailbox: readonly RecordedAction[];
  /** Approvals that were given for the rest of the session. */
  readonly approvals: readonly SessionApproval[];
  /** Last text of the agent. */
  readonly text: string;
  readonly usage: Usage;
  /** The worker that runs it; undefined if none does at this moment. Left out if a session is written as JSON. */
  readonly worker?: (Pick<StoredWorker, 'id'> & Partial<StoredWorker>) | undefined;
  /** Everything, to read: changes go through the runtime. Left out if a session is written as JSON. */
  readonly state: State;
  /** Explains in a few lines why it is in this state. */
  explain(options?: ExplainStateOptions): string;
}

/** Fields that every result of a session has beside those of a run. */
interface SessionResultFields {
  readonly sessionId: string;
  /** Number of the execution in its session, from 1. */
  readonly execution: number;
  /** Empty unless the session waits. */
  readonly waitingFor: readonly SessionWait[];
  /** True if the same request was made before. */
  readonly isRepeated?: boolean;
  /**
   * True if the action is stored, and no execution has applied it yet. It may still be refused: the same request again then throws the
   * refusal.
   */
  readonly isPending?: boolean;
}

/**
 * An execution that has not ended. `waiting`: for somebody who approves, rejects, answers or grants through the runtime. `pending`,
 * `in_progress`: the action is stored, and nobody waited for the end (`until: 'accepted'`), or the runtime is closing.
 */
interface OpenSessionResult<State, Status> extends RunResultBase<State> {
  readonly status: Status;
  readonly stopReason?: undefined;
}

/**
 * The result of an action: the execution that it belongs to, by its `status`. A completed one has the agent's typed output. `state` is
 * left out if the result is written as JSON.
 */
export type SessionResult<State = RunState, Output = unknown> = SessionResultFields &
  (
    | CompletedResult<State, Output>
    | StoppedResult<State>
    | FailedResult<State>
    | OpenSessionResult<State, 'waiting'>
    | OpenSessionResult<State, 'pending'>
    | OpenSessionResult<State, 'in_progress'>
  );

/** True if the session has something to do by itself. A conversation in which nobody has spoken has not. */
export const hasWork = (state: RunState): boolean => canBegin(state) && (state.execution.id !== undefined || state.messages.length > 0);

/**
 * Returns the status to show: a session that received a message is in progress, even if its first step is not recorded yet, or the
 * message waits for a worker.
 */
export function getShownStatus(state: RunState, mailbox: readonly RecordedAction[] = []): ExecutionStatus {
  const { status } = state;
  if (status !== Statuses.Waiting && mailbox.some(({ type }) => type === 'send')) return Statuses.InProgress;
  return status === Statuses.Pending && hasWork(state) ? Statuses.InProgress : status;
}

function toWaits(sessionId: string, state: RunState, approvals: ExpiryOptions | undefined): Promise<readonly SessionWait[]> {
  return Promise.all(
    state.waitingFor.map(async (wait) => ({
      ...wait,
      sessionId,
      digest: await computeApprovalDigest(sessionId, toAskedCall(state, wait)),
      ...omitUndefined({ expiresAt: getExpiresAt(approvals, state, wait) }),
    })),
  );
}

interface SessionResultOptions {
  readonly execution: number;
  readonly isRepeated: boolean;
  /** @default false */
  readonly isPending?: boolean;
  readonly approvals: ExpiryOptions | undefined;
  /** Actions that no worker has taken yet. */
  readonly mailbox?: readonly RecordedAction[];
  readonly toResult: (state: RunState) => Promise<RunResult>;
}

/** Returns the result of an execution of this session. */
export async function toSessionResult(sessionId: string, current: RunState, options: SessionResultOptions): Promise<SessionResult> {
  const { past, execution } = current.data;
  const { execution: number, isRepeated, isPending = false, approvals, mailbox, toResult } = options;
  const wanted = number === execution.number ? execution : past.toArray().find((each) => each.number === number);
  const state = wanted === undefined || wanted === execution ? current : current.evolve({ execution: wanted });
  const status = getShownStatus(state, mailbox);
  const { text, usage, cost, finishReason } = state;
  const isOpen = status === 'pending' || status === 'in_progress';
  const result = isOpen ? omitUndefined({ status, text, usage, cost, finishReason }) : await toResult(state);
  return withHiddenState<SessionResult>(state, {
    ...result,
    sessionId,
    execution: state.execution.number,
    waitingFor: await toWaits(sessionId, state, approvals),
    ...(isRepeated && { isRepeated }),
    ...(isPending && { isPending }),
    explain: (options) => ('explain' in result ? result.explain(options) : explain(state, status, options)),
  });
}

// A session that has a message to work on is in progress, even if nothing of it is recorded yet.
const explain = (state: RunState, shown: ExecutionStatus, options: ExplainStateOptions | undefined): string =>
  shown === state.status ? state.explain(options) : 'In progress: no step has ended yet.';

/** Adds the state as a field that is not listed: whoever sends the view to a page sends no secrets with it. */
function withHiddenState<View extends { readonly state: RunState }>(state: RunState, view: Omit<View, 'state'>): View {
  return Object.defineProperty({ ...view }, 'state', { value: state, enumerable: false }) as View;
}

interface SessionViewOptions {
  readonly approvals: ExpiryOptions | undefined;
  readonly mailbox?: readonly RecordedAction[];
  /** Approvals that were given for the rest of the session. */
  readonly given?: readonly SessionApproval[];
}

/** Returns a whole session. */
export async function toSession(
  facts: SessionFacts,
  state: RunState,
  { approvals, mailbox = [], given = [] }: SessionViewOptions,
): Promise<Session> {
  const status = getShownStatus(state, mailbox);
  const { stopReason, text } = state;
  const { stepCount, usage } = state.session;
  return withHiddenState<Session>(state, {
    ...facts,
    status,
    mailbox,
    approvals: given,
    text,
    usage,
    updatedAt: state.info.updatedAt,
    executions: state.execution.number,
    stepCount,
    lastSeq: state.data.lastSeq,
    waitingFor: await toWaits(facts.id, state, approvals),
    ...omitUndefined({ stopReason }),
    explain: (options) => explain(state, status, options),
  });
}

const knownDetails = ['agent', 'kind', 'entryFence', 'executions', 'stepCount', 'lastSeq', 'forkedFrom', 'waitingFor'];

/** Parts of the details that follow neither from the facts nor from the state. */
export interface DetailsOptions {
  /** Kind of the state. */
  readonly kind: string;
  /** The fence that the last entry was written with. */
  readonly entryFence: number;
  /** Fields that this version does not know; kept for versions that do. */
  readonly unknownFields: JsonObject;
}

/** Writes what a list shows of a session beside the fields that it is found by. */
export function writeDetails(
  { agent, forkedFrom }: SessionFacts,
  state: RunState,
  { kind, entryFence, unknownFields }: DetailsOptions,
): string {
  const { past, execution, lastSeq } = state.data;
  const stepCount = past.toArray().reduce((sum, { results }) => sum + results.length, execution.results.length);
  const waits = state.waitingFor.map((wait) => ({
    type: wait.type,
    id: wait.id,
    toolName: 'toolName' in wait ? wait.toolName : undefined,
    reason: 'reason' in wait ? wait.reason : undefined,
  }));
  const waitingFor = waits.length > 0 ? waits : undefined;
  const counts = { entryFence, executions: execution.number, stepCount, lastSeq };
  return JSON.stringify({ ...unknownFields, agent, kind, ...counts, forkedFrom, waitingFor });
}

/** Reads a header: what a list shows of a session, and the kind of its state. */
export function readHeader(header: SessionHeader): SessionSummary & { readonly kind: string; readonly entryFence: number } {
  const { id, tags, tenant, owner, createdAt, status, stopReason, updatedAt } = header;
  readTime(createdAt, 'createdAt');
  readTime(updatedAt, 'updatedAt');
  const data = readObject(JSON.parse(header.details), 'details');
  const agent = data.object('agent');
  const from = data.optionalObject('forkedFrom');
  return omitUndefined({
    id,
    agent: omitUndefined({ id: agent.string('id'), version: agent.optionalString('version'), fingerprint: agent.string('fingerprint') }),
    tags,
    createdAt,
    tenant,
    owner,
    forkedFrom: from && { sessionId: from.string('sessionId'), execution: from.number('execution'), step: from.number('step') },
    status,
    stopReason,
    updatedAt,
    kind: data.string('kind'),
    entryFence: data.number('entryFence'),
    executions: data.number('executions'),
    stepCount: data.number('stepCount'),
    lastSeq: data.number('lastSeq'),
    // Holds: the runtime wrote them, and the store has checked that nothing was changed.
    waitingFor: data.optionalArray('waitingFor', (item) => item as SessionSummary['waitingFor'][number]) ?? [],
  });
}

/** Reads the fields of the details that this version does not know. */
export const readUnknownDetails = ({ details }: SessionHeader): JsonObject => readObject(JSON.parse(details), 'details').rest(knownDetails);

/** Reads the facts of a session from its header. */
export function toFacts(header: SessionHeader): SessionFacts {
  const { id, agent, tags, createdAt, tenant, owner, forkedFrom } = readHeader(header);
  return omitUndefined({ id, agent, tags, createdAt, tenant, owner, forkedFrom });
}

/** Shows a stored session in a list. */
export function toSummary({ id, header, damage }: ListedSession): SessionSummary | DamagedSession {
  if (damage !== undefined || header === undefined) return { id, damage: damage ?? 'its header is missing' };
  try {
    const { kind: _, entryFence: __, ...summary } = readHeader(header);
    return summary;
  } catch (error) {
    return { id, damage: error instanceof Error ? error.message : String(error) };
  }
}
