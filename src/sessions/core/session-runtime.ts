// The interface that applications use, and the side of it that runs sessions.
import type { Json, JsonObject } from '../../lib/index.ts';
import type { Message, MessageContent } from '../../messages/index.ts';
import type { Grant, RunState } from '../../step-by-step/index.ts';
import type { LimitKind } from '../../continuation/index.ts';
import type { SessionQuery, StoredWorker } from '../store/session-store.ts';
import type { ActionOptions, Actor, ForkPoint, RecordedAction } from './action.ts';
import type { DamagedSession, Session, SessionFacts, SessionResult, SessionSummary, SessionWait } from './session.ts';
import type { DeadLetter, DeadLetterQuery, Delivery, DeliverOptions, SendEvents } from '../delivery/delivery.ts';
import type { FeedItem, FeedOptions, FollowOptions } from './feed.ts';
import type { StoredEvent } from './stored-events.ts';

/** A session to create. */
export interface NewSession {
  /** @default the only agent there is */
  readonly agent?: string;
  /** @default a new one */
  readonly id?: string;
  readonly tenant?: string;
  readonly owner?: string;
  readonly tags?: readonly string[];
}

/** An answer to a wait: pass back the wait that was shown. */
export type AnsweredWait = Pick<SessionWait, 'id'> & Partial<Pick<SessionWait, 'digest' | 'sessionId'>>;

/** An approval has to say what was shown. */
export type ApprovedWait = AnsweredWait & Pick<SessionWait, 'digest'>;

/** A page of sessions, newest first. */
export interface ListedSessions {
  readonly sessions: readonly (SessionSummary | DamagedSession)[];
  /** Ask with it for more; absent at the end. */
  readonly cursor?: string;
}

/** Filter for what waits for somebody; all given fields must match. */
export type WaitsQuery = Pick<SessionQuery, 'tenant' | 'owner' | 'agentName' | 'tag' | 'limit' | 'cursor'>;

/** Something that waits for somebody, with its session. */
export interface ListedWait extends Pick<SessionFacts, 'tenant' | 'owner' | 'agent'> {
  readonly sessionId: string;
  /** Pass it to approve(), reject() or answer(). */
  readonly wait: Pick<SessionWait, 'id' | 'type' | 'sessionId' | 'digest'> & {
    readonly expiresAt?: number;
    readonly toolName?: string;
    /** The limit to raise, if a grant is waited for. */
    readonly limit?: LimitKind;
    /** Path of the nested run that asks, if it is not the session's agent itself. */
    readonly askedBy?: string;
    /** Problem with the last answer, if it could not be used. */
    readonly problem?: string;
  };
  /** The arguments of the call, or the question: short, and without obvious secrets. The session has all of it. */
  readonly summary?: string;
  /** Time at which the wait began. */
  readonly since: number;
}

/** A page of what waits for somebody. A page may be empty and still have a cursor. */
export interface ListedWaits {
  readonly waits: readonly ListedWait[];
  /** Sessions that wait, but cannot be read here: damaged, or of an agent that is not known. */
  readonly unreadable: readonly { readonly sessionId: string; readonly problem: string }[];
  /** Ask with it for more; absent at the end. */
  readonly cursor?: string;
}

/** Options for sending a message. */
export interface SendOptions extends ActionOptions {
  /**
   * If the session runs: `join` adds the message before the next step; `queue` opens an execution of its own once the one in progress has
   * ended; `interrupt` ends the one in progress at once and then opens one. @default 'join'
   */
  readonly whileRunning?: 'join' | 'queue' | 'interrupt';
  /**
   * If the session waits for somebody or something: `supersede` gives that up; `queue` opens an execution of its own once the waiting one
   * has ended; `refuse` rejects the message. A wait for a grant always rejects it: only a grant or a cancel ends that.
   * @default 'supersede'
   */
  readonly whileWaiting?: 'supersede' | 'queue' | 'refuse';
}

/** Filter for bulk actions on sessions. At least one field. */
export type SessionFilter = Pick<SessionQuery, 'tenant' | 'agentName' | 'owner' | 'status' | 'stopReason' | 'tag' | 'updatedBefore'>;

/** Options for reading events. */
export interface EventsOptions extends FollowOptions {
  /** Number of the last event that you have: reading begins after it. @default 0, which reads all */
  readonly fromSeq?: number;
}

/** Options for reading an open step, and later ones if it is followed. Text comes in pieces and is returned as the model wrote it. */
export type OpenStepOptions = FollowOptions;

/** The attempt at a step that something belongs to. `afterEntry` and `attempt` together are never used again in a session. */
export interface OpenStepPlace {
  readonly execution: number;
  readonly step: number;
  /** Number of the log entry that the open step follows. A step that has waited is open again after a later entry. */
  readonly afterEntry: number;
  /** Counts from 1; a step that is run again starts another attempt. */
  readonly attempt: number;
}

/** An event of an open step. It has no `id` and no `seq` yet: it gets those when its step is recorded. */
export interface OpenEvent extends JsonObject {
  readonly type: string;
  readonly at: number;
  readonly agentId: string;
  readonly executionId: string;
  readonly stepNumber: number;
}

/**
 * A piece of the text of an open step; or one of its events; or that an attempt is void; or that its step is recorded or waits, and all of
 * it is in the stored events.
 */
export type OpenStepItem = OpenStepPlace &
  (
    | {
        readonly type: 'text';
        readonly kind: 'text' | 'reasoning';
        /** Counts the answers of the attempt from 1: a later one, such as that of another model, makes the text of the earlier void. */
        readonly answer: number;
        /** Position of its first character in the text of this kind. */
        readonly offset: number;
        readonly text: string;
        readonly participant?: string;
      }
    | {
        readonly type: 'event';
        /** Grows within the attempt, from 1. Progress that was replaced by later progress of the same call may be missing. */
        readonly index: number;
        readonly event: OpenEvent;
        /** Fields that were too large: of texts the beginning is left, everything else is shortened or null. */
        readonly cut?: readonly string[];
      }
    | {
        readonly type: 'void';
        /** If present, only the text of this answer is void. */
        readonly answer?: number;
      }
    | { readonly type: 'recorded' }
  );

/** Sessions that a hold applies to; all given fields must match. None holds all sessions. */
export interface HoldScope {
  readonly tenant?: string;
  /** Id of the agent. */
  readonly agent?: string;
}

/** A reason for starting no model calls. */
export interface Hold extends HoldScope {
  readonly id: string;
  readonly reason: string;
  readonly by?: Actor;
  readonly at: number;
}

/** The role of a runtime: runs sessions, or only asks for it. */
export const RuntimeRole = { Worker: 'worker', Client: 'client' } as const;
export type RuntimeRole = (typeof RuntimeRole)[keyof typeof RuntimeRole];

/** The condition of a runtime and its store. */
export interface RuntimeHealth {
  readonly role: RuntimeRole;
  /** Processes that run sessions, this one included. */
  readonly workers: readonly StoredWorker[];
  /** True once this runtime takes no more work. */
  readonly isDraining: boolean;
  readonly isStoreReachable: boolean;
  /** Problem of the store, if it is not reachable. */
  readonly problem?: string;
  /** Session that has been in its open step longest. */
  readonly oldestOpenStep?: { readonly sessionId: string; readonly since: number };
  /** Number of actions that wait in the mailbox. */
  readonly waitingActions: number;
  readonly holds: readonly Hold[];
}

/** Everything that is stored of a session, as plain JSON. */
interface WholeExport {
  readonly session: SessionSummary;
  /** Actions in its log. */
  readonly actions: readonly RecordedAction[];
  readonly events: readonly StoredEvent[];
  /** The state, as its codec writes it. */
  readonly state: Json;
  /** Damage that was noted about it, although it can be read. */
  readonly damage?: string;
}

/** A session that cannot be read: its data is damaged, or its agent is not known here. */
interface UnreadableExport {
  readonly session: DamagedSession;
  readonly damage: string;
  readonly actions?: undefined;
  readonly events?: undefined;
  readonly state?: undefined;
}

/** A session that was exported; one that cannot be read has only its id and the reason. */
export type ExportedSession = WholeExport | UnreadableExport;

/** Sessions, as applications use them, whatever process runs them. `Output` is the output of its agents' completed results. */
export interface SessionRuntime<State extends RunState = RunState, Output = unknown> {
  /** Creates an empty session. */
  create(session: NewSession, options: ActionOptions): Promise<Session<State>>;
  /** Sends a message. Settles with the execution that read it. `whileRunning` and `whileWaiting` say what it does to one in progress. */
  send(sessionId: string, content: MessageContent | Message, options: SendOptions): Promise<SessionResult<State, Output>>;
  /** Resumes a session that was left with something to do, or that waits because its step ended the process each time. One that waits for a
   * provider is tried at once. */
  resume(sessionId: string, options: ActionOptions): Promise<SessionResult<State, Output>>;
  /** Ends the execution that runs or waits. */
  cancel(sessionId: string, reason: string, options: ActionOptions): Promise<SessionResult<State, Output>>;
  /** Approves a waiting call, with other arguments if given. */
  approve(
    sessionId: string,
    wait: ApprovedWait,
    options: ActionOptions & {
      readonly args?: unknown;
      /** `session`: also approves later calls, as far as the `approvalScope` of the tool goes. @default this call only */
      readonly scope?: 'session';
    },
  ): Promise<SessionResult<State, Output>>;
  /** Revokes an approval that was given for the rest of a session; see `session.approvals`. */
  revokeApproval(sessionId: string, approvalId: string, options: ActionOptions): Promise<SessionResult<State, Output>>;
  /** Rejects a call; the model reads the reason. */
  reject(
    sessionId: string,
    wait: AnsweredWait,
    options: ActionOptions & { readonly reason?: string },
  ): Promise<SessionResult<State, Output>>;
  /** Answers a wait: the output of a client tool, the true result of a call, or a person's input. */
  answer(
    sessionId: string,
    wait: AnsweredWait,
    options: ActionOptions & { readonly value: unknown },
  ): Promise<SessionResult<State, Output>>;
  /** Raises the limits of the execution that waits or runs. */
  grant(sessionId: string, amounts: Grant, options: ActionOptions): Promise<SessionResult<State, Output>>;
  /** Creates a separate session from the state of this one after a step; at step 0, before the message that began the execution. */
  fork(sessionId: string, at: Omit<ForkPoint, 'sessionId'>, options: ActionOptions & Omit<NewSession, 'agent'>): Promise<Session<State>>;
  get(sessionId: string): Promise<Session<State>>;
  list(query?: SessionQuery): Promise<ListedSessions>;
  /** Lists everything that waits for somebody, page by page; `limit` is the number of sessions on a page (50 by default). */
  waits(query?: WaitsQuery): Promise<ListedWaits>;
  /** Lists the actions on a session in their order, with author and time. */
  actions(sessionId: string): Promise<readonly RecordedAction[]>;
  /** Reads the stored events in order. They hold what was stored, secrets in arguments and results included, unless redacted. */
  events(sessionId: string, options?: EventsOptions): AsyncIterable<StoredEvent>;
  /**
   * Reads the stored events of all sessions, in the order in which they were committed; events of one session are in their order. A cursor
   * never skips an event that is committed later. A session that cannot be read is reported and left out; so is one that was deleted, and
   * what a fork has copied.
   */
  feed(options?: FeedOptions): AsyncIterable<FeedItem>;
  /**
   * Sends stored events of all sessions to another program, at least once, and those of each session in their order. The place is stored
   * under the name: another process, or this one after a restart, continues there. One process at a time delivers under a name.
   */
  deliver(name: string, send: SendEvents, options?: DeliverOptions): Delivery;
  /** Lists events that could not be delivered under a name, by their ids. */
  deadLetters(name: string, query?: DeadLetterQuery): Promise<readonly DeadLetter[]>;
  /** Asks the process that delivers under the name to send the events again. If that succeeds, the letter is gone. */
  retryDeadLetter(name: string, id: string): Promise<void>;
  /** Reads the text and the events of the open step so far; then, if it is followed, the rest as it comes. */
  openStep(sessionId: string, options?: OpenStepOptions): AsyncIterable<OpenStepItem>;
  /** Cancels every matching session that runs or waits. Returns their number. */
  cancelAll(filter: SessionFilter, reason: string, options: ActionOptions): Promise<number>;
  /** Deletes a session for good, also while it runs. Its id is not used again. */
  delete(sessionId: string, options: ActionOptions & { readonly forks?: boolean }): Promise<void>;
  /** Deletes every matching session: those of an owner, or those that are old enough. Returns their number. */
  deleteAll(filter: SessionFilter, options: ActionOptions): Promise<number>;
  /** Removes the content of one message from everything that is stored of a session. */
  eraseMessage(sessionId: string, messageId: string, options: ActionOptions): Promise<void>;
  /** Reads everything that is stored of matching sessions, as plain data. */
  export(filter: SessionFilter): AsyncIterable<ExportedSession>;
  /** Keeps matching sessions from starting model calls, in every process, until the hold is released. */
  hold(scope: HoldScope, reason: string, options?: { readonly by?: Actor }): Promise<Hold>;
  /** Releases a hold; the sessions continue. Returns false if there is no such hold. */
  release(holdId: string): Promise<boolean>;
  holds(): Promise<readonly Hold[]>;
  health(): Promise<RuntimeHealth>;
}

/** Sessions that a worker has claimed at its start. */
export interface Recovery {
  /** Sessions that were interrupted, and are resumed. */
  readonly resumed: readonly string[];
  /** Sessions that could not be resumed, with the reason. */
  readonly failed: readonly { readonly sessionId: string; readonly error: unknown }[];
}

/**
 * Result of running a session once. `rested`: nothing is left to do. `left`: the time was over, or a hold keeps it from going on; the
 * rest is for the next one who runs it. `owned`: another worker runs it.
 */
export type RunOnceResult =
  | {
      readonly type: 'rested';
      readonly session: Session;
      /** Time at which to run it again, if nobody acts before: an approval expires, or a provider is tried again. */
      readonly wakeAt?: number;
    }
  | { readonly type: 'left'; readonly session: Session }
  | { readonly type: 'owned'; readonly worker: NonNullable<Session['worker']> };

/** The side of a runtime that runs sessions. A runtime whose role is `client` has nothing to recover. */
export interface SessionWorker {
  /**
   * Settles when this process has joined the workers of the store, and has resumed the interrupted sessions that it has room for. If it
   * could not join, the next action tries again.
   */
  readonly ready: Promise<Recovery>;
  /**
   * Runs one session until nothing is left to do, or the time is over: it is left between two steps then. For functions without a worker,
   * queues and schedulers; a client can do this too, if it has the agent.
   */
  runOnce(sessionId: string, options: { readonly untilMs: number }): Promise<RunOnceResult>;
  /** Takes no more work, lets open steps end, and leaves the rest to other workers. Of a client: ends what it follows. */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
}
