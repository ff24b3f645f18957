// Sums and times of a session. While its first events are not here yet, the totals of a head stand for them.
import type { ViewUsage } from './execution-facts.ts';
import { addUsage, isRest } from './execution-facts.ts';
import { countLaterSteps, getNeededTotals } from './head-totals.ts';
import type { ViewState } from './view-state.ts';

/** Times and counts of the last execution. */
export interface ViewClocks {
  readonly step_count: number;
  readonly started_at?: string;
  /** Time at which it ended or began to wait; absent while it runs. */
  readonly rested_at?: string;
  /** Sum of the durations of its steps. */
  readonly duration_ms: number;
}

/** Returns the tokens of all steps. */
export function deriveUsage(state: ViewState): ViewUsage {
  const totals = getNeededTotals(state);
  return totals === undefined ? state.usage : addUsage(totals.usage, countLaterSteps(state.list, totals.seq).usage);
}

/** Returns times and counts of the last execution. */
export function deriveClocks(state: ViewState): ViewClocks {
  const { lastStatus, executions, list } = state;
  const totals = getNeededTotals(state);
  const { execution } = totals ?? {};
  const rested = lastStatus !== undefined && isRest(lastStatus) ? { rested_at: lastStatus.timestamp } : {};
  if (totals !== undefined && execution !== undefined && (lastStatus === undefined || lastStatus.execution_id === execution.id)) {
    const later = countLaterSteps(list, totals.seq).counts.get(execution.id) ?? { stepCount: 0, durationMs: 0 };
    const duration_ms = Math.round(execution.durationMs + later.durationMs);
    return { step_count: execution.stepCount + later.stepCount, started_at: execution.startedAt, ...rested, duration_ms };
  }
  const facts = lastStatus && executions.get(lastStatus.execution_id);
  if (facts === undefined) return { step_count: 0, duration_ms: 0 };
  const { stepCount, startedAt, durationMs } = facts;
  return { step_count: stepCount, started_at: startedAt, ...rested, duration_ms: Math.round(durationMs) };
}
