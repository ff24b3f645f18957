export type { EffectRow } from '../journal/index.ts';
export { ActionRefusedError } from './action-refused-error.ts';
export type { Action, ActionOptions, By, RecordedAction } from './action.ts';
export { AgentChangedError } from './agent-changed-error.ts';
export { OnVersionChange } from './agents.ts';
export { approvalDigest } from './approval-digest.ts';
export type { KnownSession, RowChecks } from './check-rows.ts';
export { createRowChecks } from './check-rows.ts';
export { checkWrite, parsePage, parseRange, refusedWrite } from './check-write.ts';
export { CrashLoopDetected } from './crash-loop.ts';
export { CrashLoopError } from './crash-loop-error.ts';
export { ContextFailedError } from './context-failed-error.ts';
export { ForeignApprovalError } from './foreign-approval-error.ts';
export { ForgedApprovalError } from './forged-approval-error.ts';
export { LateAnswerError } from './late-answer-error.ts';
export type { MemoryPlace } from './memory-store.ts';
export { createMemoryPlace, createMemoryStore } from './memory-store.ts';
export type { HolderRow } from './holder-row.ts';
export { readHolderRow, toStoreClaim } from './holder-row.ts';
export type { BatchPlan, SessionDraft, StoredFacts, StoreTask, StoreTaskResult } from './plan-batch.ts';
export { planHolder, planWrite } from './plan-batch.ts';
export { RequestReusedError } from './request-reused-error.ts';
export { RuntimeClosedError } from './runtime-closed-error.ts';
export type { NewSession, Recovery, SessionRuntime, SessionRuntimeOptions } from './runtime-options.ts';
export { SessionConflictError } from './session-conflict-error.ts';
export { SessionDamagedError } from './session-damaged-error.ts';
export { createSessionRuntime } from './session-runtime.ts';
export type {
  ClaimRequest,
  EntryQuery,
  ListedSession,
  LogEntry,
  SessionHeader,
  SessionPage,
  SessionQuery,
  SessionStore,
  SessionWrite,
  StoreClaim,
  StoredSession,
  StoreHolder,
} from './session-store.ts';
export type { DamagedSession, Session, SessionFacts, SessionResult, SessionSummary, SessionWait } from './session.ts';
export { StaleApprovalError } from './stale-approval-error.ts';
export { StoreFencedError } from './store-fenced-error.ts';
export { StoreInUseError } from './store-in-use-error.ts';
export type { StoreProblem } from './store-unavailable-error.ts';
export { StoreUnavailableError } from './store-unavailable-error.ts';
export type { StoredEvent } from './stored-events.ts';
export type { RowSums, StoredRow, StoredTable } from './stored-rows.ts';
export { createRowSums, readHeader, storedColumns, toEffectValues, toEntryValues, toHeaderValues } from './stored-rows.ts';
export { UnknownAgentError } from './unknown-agent-error.ts';
export { UnknownSessionError } from './unknown-session-error.ts';
export { UnknownStepError } from './unknown-step-error.ts';
