import type { Session } from '../../sessions/index.ts';
import { Usage } from '../../messages/index.ts';
import type { SessionTotals } from '../index.ts';

/** Adds up the steps of a session. Only recorded ones count: the envelopes of the others are still to come. */
export function toTotals({ status, lastSeq: seq, state }: Pick<Session, 'status' | 'lastSeq' | 'state'>): SessionTotals {
  const { executions } = state.session;
  const last = executions.at(-1);
  const hasSteps = executions.some(({ results }) => results.length > 0);
  const usage = hasSteps ? executions.reduce((sum, execution) => Usage.add(sum, execution.usage), Usage.none()) : undefined;
  if (last?.id === undefined || last.startedAt === undefined) return { seq, status, usage };
  const steps = last.results.toArray();
  const durationMs = steps.reduce((sum, { timing }) => sum + timing.activeMs + timing.waitedMs, 0);
  return { seq, status, usage, execution: { id: last.id, startedAt: last.startedAt, stepCount: steps.length, durationMs } };
}
