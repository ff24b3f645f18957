export type { EffectRow } from '../journal/index.ts';
export {
  ActionRefusedError,
  AgentChangedError,
  ContextFailedError,
  CrashLoopError,
  createSchemaError,
  ForeignApprovalError,
  ForgedApprovalError,
  LateAnswerError,
  LeaseLostError,
  MailWaitingError,
  RemoteError,
  RequestReusedError,
  RuntimeClosedError,
  SessionConflictError,
  SessionDamagedError,
  SessionDeletedError,
  StaleApprovalError,
  StoreUnavailableError,
  UnknownAgentError,
  UnknownSessionError,
  UnknownStepError,
} from './core/errors.ts';
export type { Action, ActionOptions, Actor, RecordedAction } from './core/action.ts';
export { CrashLoopDetected } from './core/action-events.ts';
export type { ApprovalUse, SessionEvent } from './core/action-events.ts';
export type { SessionApproval } from './core/session-approvals.ts';
export { ApprovalRevoked, CancelRequested, LimitsGranted, UserMessageReceived, WaitDecision, WaitResolved } from './core/action-events.ts';
export { assertNewMessage } from './core/message-rules.ts';
export { isTraceparent } from './core/parse-input.ts';
export { OnVersionChange } from './core/agents.ts';
export { computeApprovalDigest } from './core/approval-digest.ts';
export type { KnownSession, RowChecks } from './store/check-rows.ts';
export { createRowChecks } from './store/check-rows.ts';
export {
  checkNote,
  parseEffectQuery,
  parseMailQuery,
  parseNoteQuery,
  parsePage,
  parseRange,
  createWriteError,
} from './store/check-write.ts';
export { feedSum, isFeedRowIntact, parseFeedQuery, toFeedCursor } from './store/feed-place.ts';
export { feedRowDamage, toFeedEntry } from './store/feed-rows.ts';
export type { FeedItem, FeedOptions } from './core/feed.ts';
export type { DeadLetter, DeadLetterQuery, Delivery, DeliverOptions, EventDelivery, SendEvents } from './delivery/delivery.ts';
export type { Encryption } from './store/cipher.ts';
export { encryptStore } from './store/encrypted-store.ts';
export type { MemoryPlace } from './store/memory-store.ts';
export { createMemoryPlace, createMemoryStore } from './store/memory-store.ts';
export { mostUrgent, stickyMs, toHeadLease } from './store/lease-row.ts';
export type { BatchPlan, SessionDraft, StoredFacts, StoreTask, StoreTaskResult } from './store/plan-batch.ts';
export { createPlan } from './store/plan-batch.ts';
export { checkTask, getSessionId, planTask, toStoreChange } from './store/plan-task.ts';
export { sharedRuntime } from './embedded/shared-runtime.ts';
export type { EmbeddedRuntime, SessionRuntimeOptions } from './embedded/runtime-options.ts';
export type {
  ExportedSession,
  Hold,
  HoldScope,
  NewSession,
  OpenEvent,
  OpenStepItem,
  OpenStepOptions,
  OpenStepPlace,
  SendOptions,
  ListedWait,
  ListedWaits,
  WaitsQuery,
  Recovery,
  RunOnceResult,
  RuntimeHealth,
  SessionFilter,
  SessionRuntime,
  SessionWorker,
} from './core/session-runtime.ts';
export { RuntimeRole } from './core/session-runtime.ts';
export { createSessionRuntime } from './embedded/create-session-runtime.ts';
export type {
  ClaimedSession,
  ClaimedSessions,
  ClaimQuery,
  EffectQuery,
  EntryQuery,
  FeedEntry,
  FeedPage,
  FeedQuery,
  ListedSession,
  LogEntry,
  Mail,
  MailQuery,
  NewMail,
  NoteQuery,
  NoteWrite,
  OpenEffects,
  SessionDeletion,
  SessionHeader,
  SessionPage,
  SessionQuery,
  SessionStore,
  SessionWrite,
  StoreChange,
  SessionHead,
  StoredNote,
  StoredSession,
  StoredWorker,
  WorkerInfo,
  WriteReceipt,
  Lease,
  Leases,
} from './store/session-store.ts';
export { listAll } from './store/session-store.ts';
export type { DamagedSession, Session, SessionFacts, SessionResult, SessionSummary, SessionWait } from './core/session.ts';
export type { StoreProblem } from './core/errors.ts';
export { formatStoredEvent } from './core/stored-events.ts';
export type { StoredEvent, StoredEventOf } from './core/stored-events.ts';
export type { ColumnKind, RowSums, StoredRow, StoredTable, StoredValue } from './store/stored-rows.ts';
export {
  columnKinds,
  createRowSums,
  leaseColumns,
  leaseKinds,
  readHeader,
  readNoteRow,
  storedColumns,
  toEffectValues,
  toEntryValues,
  toHeaderValues,
  toLeaseValues,
  toMailValues,
  toNoteValues,
  toTombstoneValues,
} from './store/stored-rows.ts';
export { fromWire, toWire } from './core/wire-errors.ts';
export { findExecution } from './core/requests.ts';
export { dropHold, putHold, readHolds } from './embedded/hold-gate.ts';
