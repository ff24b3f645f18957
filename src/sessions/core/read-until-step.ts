import type { StateType } from '../../step-by-step/index.ts';
import type { LogEntry, SessionReader } from '../store/session-store.ts';
import type { ForkPoint } from './action.ts';
import type { ReplayedLog } from './entries.ts';
import { readStored, replay } from './entries.ts';
import { toFacts } from './session.ts';
import { UnknownStepError } from './unknown-step-error.ts';

/** A log as it was when a step had just been recorded. */
export interface LogUntilStep extends ReplayedLog {
  readonly entries: readonly LogEntry[];
}

/** Reads a log up to the entry that recorded a step. */
export async function readUntilStep(reader: SessionReader, states: StateType, at: ForkPoint): Promise<LogUntilStep> {
  const { sessionId, execution, step } = at;
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await reader.entries(sessionId, { from: entries.length + 1 });
    const found = page.findIndex((entry) => entry.execution === execution && entry.step === step);
    entries.push(...(found === -1 ? page : page.slice(0, found + 1)));
    if (found !== -1) return readStored(sessionId, () => ({ entries, ...replay(entries, states) }));
    if (page.length === 0) break;
  }
  // Forks of earlier releases did not copy the log of their source.
  const stored = await reader.load(sessionId);
  const source = stored && readStored(sessionId, () => toFacts(stored.header).forkedFrom);
  const isBefore = source !== undefined && (execution < source.execution || (execution === source.execution && step <= source.step));
  if (isBefore) return readUntilStep(reader, states, { ...at, sessionId: source.sessionId });
  throw new UnknownStepError(sessionId, at);
}
