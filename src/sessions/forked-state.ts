import type { RunState } from '../step-by-step/index.ts';
import type { ForkPoint } from './act.ts';
import type { SessionStates } from './session-agent.ts';
import { readStored, replay } from './session-log.ts';
import type { LogEntry, SessionStore } from './session-store.ts';
import { UnknownStepError } from './unknown-step-error.ts';

/** The state as it stood when a step had just been recorded. */
export async function stateAfterStep(
  store: SessionStore,
  states: SessionStates,
  { sessionId, execution, step }: ForkPoint,
): Promise<RunState> {
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await store.entries(sessionId, { from: entries.length + 1 });
    const found = page.findIndex((entry) => entry.execution === execution && entry.step === step);
    entries.push(...(found === -1 ? page : page.slice(0, found + 1)));
    if (found !== -1) return readStored(sessionId, () => replay(entries, states).state);
    if (page.length === 0) throw new UnknownStepError(sessionId, { execution, step });
  }
}
