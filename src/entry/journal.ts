export type {
  BoundedResult,
  BoundOptions,
  DurableEngine,
  DurableOptions,
  JournalRow,
  RecordedCommit,
  RunDurablyOptions,
  UnfinishedResult,
} from '../journal/index.ts';
export { AttemptReplacedError, memoryEngine, runDurably, UnrecordableRowError } from '../journal/index.ts';
