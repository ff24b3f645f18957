import type { SteplineError } from '../../lib/index.ts';
import type { ClaimedSessions, ClaimQuery, NoteWrite, StoreChange, StoreTask, StoreTaskResult } from '../index.ts';
import type { Dialect } from './dialect.ts';
import type { TableWork } from './statement.ts';

/** A session that somebody is to look at. */
export interface WakingSession {
  readonly agentName: string;
  /** Absent if nobody owns it. */
  readonly owner?: string | undefined;
  readonly last?: string | undefined;
}

/** A change that was made. */
export interface Changed<Value> {
  readonly value: Value;
  /** Sessions whose leases have changed: what is known about them is no longer true. */
  readonly sessionIds?: readonly string[];
  /** Passed to those who watch the store. */
  readonly change?: StoreChange;
  /** Sessions that make the change worth looking at. */
  readonly waking?: readonly WakingSession[];
}

/** Needs of a change. */
export interface ChangeOptions {
  /** True if it is made of several readings, of which none is kept without the others. @default false */
  readonly isWhole?: boolean;
  /** True if a power failure that takes it away ends everybody who knows of it. @default false */
  readonly mayBeLost?: boolean;
  /** A session that must not be deleted meanwhile. */
  readonly sessionId?: string | undefined;
}

/** Errors of a database, and what they mean. */
export interface ErrorKinds {
  readonly toStoreError: (error: unknown) => SteplineError;
  /** Classifies an error if only one session was touched: a contradiction is that session's damage. */
  readonly toSessionError: (sessionId: string, error: unknown) => SteplineError;
  /** True if one write among several may have caused the failure: the others are worth trying alone. */
  readonly mayBeOneWrite: (error: unknown) => boolean;
  /** True if another process may have added the row that was to be added: then there is another answer now. */
  readonly isConflict: (error: unknown) => boolean;
}

/** A database that holds the tables. Whatever fails because others are in the way, it tries again for a while. */
export interface TableDriver {
  readonly dialect: Dialect;
  readonly errors: ErrorKinds;
  /** Throws for a task that the database cannot store. */
  checkTask?(task: StoreTask): void;
  checkNote?(note: NoteWrite): void;
  readonly open: () => Promise<unknown>;
  /** Reads. Each reading is of one moment. */
  read<Value>(work: () => TableWork<Value>): Promise<Value>;
  /** Changes something beside the batches, and calls those who watch. */
  change<Value>(work: () => TableWork<Changed<Value>>, options: ChangeOptions): Promise<Value>;
  /** Stores tasks in one transaction. */
  readonly commit: (tasks: readonly StoreTask[]) => Promise<readonly StoreTaskResult[]>;
  claim(query: ClaimQuery): Promise<ClaimedSessions>;
  watch(listener: (change: StoreChange) => void): () => void;
  /** Calls nobody any more, and releases everything once what was asked for is finished. */
  close(finished: Promise<void>): Promise<void>;
}
