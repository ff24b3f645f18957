// What is shown of a session.
import type { StopReason } from '../continuation/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { omitUndefined, readObject } from '../lib/index.ts';
import type { Usage } from '../messages/index.ts';
import { canBegin, ExecutionStatus as Statuses } from '../step-by-step/index.ts';
import type {
  CompletedResult,
  ExecutionStatus,
  ExplainStateOptions,
  FailedResult,
  RunResultBase,
  RunState,
  StoppedResult,
  Wait,
} from '../step-by-step/index.ts';
import type { ForkPoint } from './action.ts';
import type { AgentIdentity } from './agents.ts';
import type { ListedSession, SessionHeader } from './session-store.ts';

/** Something that a session waits for. Hand it back with the answer: it says what exactly was shown. */
export type SessionWait = Wait & {
  readonly sessionId: string;
  /** Binds an approval to the session, the call and its arguments. */
  readonly digest: string;
  /** When it is settled without anybody. */
  readonly expiresAt?: number;
};

/** What a session keeps about itself beside its state. */
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
  /** What it waits for, without the arguments. */
  readonly waitingFor: readonly { readonly type: Wait['type']; readonly id: string; readonly toolName?: string }[];
}

/** A session whose stored data cannot be trusted. */
export interface DamagedSession {
  readonly id: string;
  readonly damage: string;
}

/** A whole session. */
export interface Session<State extends RunState = RunState> extends Omit<SessionSummary, 'waitingFor'> {
  readonly waitingFor: readonly SessionWait[];
  /** The last words of the agent. */
  readonly text: string;
  readonly usage: Usage;
  /** Everything, to read: changes go through the runtime. Left out where a session is written as JSON. */
  readonly state: State;
  /** Why it stands where it stands, in a few lines. */
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

/** True where the session has something to do by itself. A conversation in which nobody has spoken has not. */
export const hasWork = (state: RunState): boolean => canBegin(state) && (state.execution.id !== undefined || state.messages.length > 0);

/** A session that was spoken to is under way, also where its first step is not recorded yet. */
export const getShownStatus = (state: RunState): ExecutionStatus =>
  state.status === Statuses.Pending && hasWork(state) ? Statuses.InProgress : state.status;

const stepsIn = ({ data: { past, execution } }: RunState): number =>
  past.toArray().reduce((sum, { results }) => sum + results.length, execution.results.length);

/** What a list shows beside what sessions are found by. */
export function writeDetails({ agent, forkedFrom }: SessionFacts, kind: string, state: RunState): string {
  return JSON.stringify({
    agent,
    kind,
    executions: state.execution.number,
    stepCount: stepsIn(state),
    lastSeq: state.data.lastSeq,
    ...(forkedFrom !== undefined && { forkedFrom }),
    ...(state.waitingFor.length > 0 && {
      waitingFor: state.waitingFor.map((wait) => ({
        type: wait.type,
        id: wait.id,
        ...('toolName' in wait && { toolName: wait.toolName }),
      })),
    }),
  });
}

/** The details of a header, read. */
interface Details extends Pick<SessionSummary, 'agent' | 'executions' | 'stepCount' | 'lastSeq' | 'forkedFrom' | 'waitingFor'> {
  /** The kind of state. */
  readonly kind: string;
}

export function readDetails(text: string): Details {
  const data = readObject(JSON.parse(text), 'details');
  const agent = data.object('agent');
  const from = data.optionalObject('forkedFrom');
  return {
    agent: omitUndefined({ id: agent.string('id'), version: agent.optionalString('version'), fingerprint: agent.string('fingerprint') }),
    kind: data.string('kind'),
    executions: data.number('executions'),
    stepCount: data.number('stepCount'),
    lastSeq: data.number('lastSeq'),
    ...(from !== undefined && {
      forkedFrom: { sessionId: from.string('sessionId'), execution: from.number('execution'), step: from.number('step') },
    }),
    // Holds: the runtime wrote them, and the store has checked that nothing was changed.
    waitingFor: (data.optionalArray('waitingFor', (item) => item as JsonObject) ?? []) as unknown as Details['waitingFor'],
  };
}

/** What a header says of its session. */
export function toFacts(header: SessionHeader): SessionFacts {
  const { agent, forkedFrom } = readDetails(header.details);
  const { id, tenant, owner, tags, createdAt } = header;
  return omitUndefined({ id, agent, tags, createdAt, tenant, owner, forkedFrom });
}

/** A stored session as a list shows it. */
export function toSummary({ id, header, damage }: ListedSession): SessionSummary | DamagedSession {
  if (damage !== undefined || header === undefined) return { id, damage: damage ?? 'its header is missing' };
  try {
    const { executions, stepCount, lastSeq, waitingFor } = readDetails(header.details);
    const { status, stopReason, updatedAt } = header;
    return { ...toFacts(header), ...omitUndefined({ status, stopReason, updatedAt, executions, stepCount, lastSeq, waitingFor }) };
  } catch (error) {
    return { id, damage: error instanceof Error ? error.message : String(error) };
  }
}
