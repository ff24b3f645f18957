export { AttemptReplacedError } from './attempt-replaced-error.ts';
export type { DurableEngine } from './durable-engine.ts';
export type {
  BoundedResult,
  BoundOptions,
  DurableOptions,
  RecordedCommit,
  RunDurablyOptions,
  UnfinishedResult,
} from './durable-options.ts';
export type { JournalRow } from './journal-row.ts';
export type { EffectRow } from './journal.ts';
export { createUnknownEnd, Journal } from './journal.ts';
export { memoryEngine } from './memory-engine.ts';
export { runDurably } from './run-durably.ts';
export { UnrecordableRowError } from './unrecordable-row-error.ts';
