import type { RunState, StateType } from '../step-by-step/index.ts';
import type { ForkPoint } from './action.ts';
import { readStored, replay } from './session-log.ts';
import { toFacts } from './session.ts';
import type { LogEntry, SessionStore } from './session-store.ts';
import { UnknownStepError } from './unknown-step-error.ts';

/** The state as it stood when a step had just been recorded. */
export async function readStateAfterStep(
  store: SessionStore,
  states: StateType,
  { sessionId, execution, step }: ForkPoint,
): Promise<RunState> {
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await store.entries(sessionId, { from: entries.length + 1 });
    const found = page.findIndex((entry) => entry.execution === execution && entry.step === step);
    entries.push(...(found === -1 ? page : page.slice(0, found + 1)));
    if (found !== -1) return readStored(sessionId, () => replay(entries, states).state);
    if (page.length === 0) break;
  }
  const source = await readForkSource(store, sessionId);
  const isBefore = source !== undefined && (execution < source.execution || (execution === source.execution && step <= source.step));
  if (isBefore) return readStateAfterStep(store, states, { sessionId: source.sessionId, execution, step });
  throw new UnknownStepError(sessionId, { execution, step });
}

/** Where a session was forked from: what came before that stands in the log of its source. */
async function readForkSource(store: SessionStore, sessionId: string): Promise<ForkPoint | undefined> {
  const stored = await store.load(sessionId);
  return stored === undefined ? undefined : readStored(sessionId, () => toFacts(stored.header).forkedFrom);
}
