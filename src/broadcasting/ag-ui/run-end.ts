// The end of a run.
import type { Json, JsonObject, Redactor } from '../../lib/index.ts';
import { present } from '../../lib/index.ts';
import type { AgUiEvent, AgUiInterrupt, AgUiOutcome, AgUiUsage } from './ag-ui-event.ts';

/** End of a run, and what it waits for. */
export interface RunEnd {
  /** `completed`, `stopped`, `failed`, or `waiting`. */
  readonly status: string;
  readonly stopReason?: string | undefined;
  readonly resolvedBy?: string | undefined;
  /** Reason of the criterion that decided. */
  readonly reason?: string | undefined;
  /** Why it is so, in a few lines for people. */
  readonly explanation?: string | undefined;
  readonly stepCount: number;
  /** Failure that ended it. */
  readonly failure?: { readonly code?: string | undefined; readonly message?: string | undefined } | undefined;
  readonly result?: Json | undefined;
  readonly interrupts: readonly AgUiInterrupt[];
  /** Calls that the page runs. */
  readonly pendingToolCallIds: readonly string[];
}

/** The run that ends. */
export interface EndedRun {
  readonly threadId: string;
  readonly runId: string;
  readonly usage: readonly AgUiUsage[];
  readonly redactor: Redactor;
}

function toOutcome({ status, stopReason, interrupts, pendingToolCallIds }: RunEnd): AgUiOutcome {
  if (interrupts.length > 0) return { type: 'interrupt', interrupts };
  if (status === 'stopped' && stopReason === 'user_requested') return { type: 'cancelled' };
  return pendingToolCallIds.length > 0 ? { type: 'success', pendingToolCallIds } : { type: 'success' };
}

function toWhy(end: RunEnd, redactor: Redactor): JsonObject {
  const { status, stopReason, resolvedBy, stepCount } = end;
  const [reason, explanation] = [end.reason, end.explanation].map((text) => (text === undefined ? undefined : redactor.text(text)));
  return present({ status, stopReason, resolvedBy, reason, stepCount, explanation });
}

/** Returns the events that end a run: why it ended, then how. */
export function toEndEvents(end: RunEnd, { threadId, runId, usage: tokens, redactor }: EndedRun): readonly AgUiEvent[] {
  const why: AgUiEvent = { type: 'CUSTOM', name: 'stepline.why', value: toWhy(end, redactor) };
  const usage = tokens.length === 0 ? {} : { usage: tokens };
  if (end.status === 'failed') {
    const message = redactor.text(end.failure?.message ?? end.reason ?? 'The run failed.');
    return [why, { type: 'RUN_ERROR', message, code: end.failure?.code ?? end.stopReason ?? 'error', ...usage }];
  }
  const result = end.status === 'completed' && end.result !== undefined ? { result: redactor.value(end.result) } : {};
  return [why, { type: 'RUN_FINISHED', threadId, runId, outcome: toOutcome(end), ...result, ...usage }];
}
