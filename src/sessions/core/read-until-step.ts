import type { StateType } from '../../step-by-step/index.ts';
import type { LogEntry, SessionReader } from '../store/session-store.ts';
import type { ForkPoint } from './action.ts';
import type { QueuedAction, ReplayedLog } from './entries.ts';
import { findSentMessages, readBody, readStored, replay, updateQueue } from './entries.ts';
import { UnknownStepError } from './errors.ts';

/** A log as it was when a step had just been recorded, or before the first message of an execution. */
export interface LogUntilStep extends ReplayedLog {
  readonly entries: readonly LogEntry[];
}

/** Recognizes the entry whose message begins an execution. It has to be asked about every entry, in order. */
function createStartFinder(execution: number): (entry: LogEntry) => boolean {
  const queued = new Map<number, QueuedAction>();
  return ({ n, body }) => {
    const read = readBody(body);
    const hasMessage = findSentMessages(n, read, queued).length > 0;
    updateQueue(queued, n, read);
    // Nothing but a message begins an execution: approvals, grants and resuming continue one.
    return hasMessage && read.execution === execution;
  };
}

/** Reads a log up to the entry that recorded a step. Step 0 ends before the message that began the execution. */
export async function readUntilStep(reader: SessionReader, states: StateType, at: ForkPoint): Promise<LogUntilStep> {
  const { sessionId, execution, step } = at;
  const isStart = step === 0 ? createStartFinder(execution) : () => false;
  const entries: LogEntry[] = [];
  const toLog = (): LogUntilStep => readStored(sessionId, () => ({ entries, ...replay(entries, states) }));
  for (;;) {
    const page = await reader.log.entries(sessionId, { from: entries.length + 1 });
    for (const entry of page) {
      if (readStored(sessionId, () => isStart(entry))) return toLog();
      entries.push(entry);
      if (entry.execution === execution && entry.step === step) return toLog();
    }
    if (page.length === 0) break;
  }
  throw new UnknownStepError(sessionId, at);
}
