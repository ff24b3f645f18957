// Totals of a session that a head has: they stand for the events that are not here yet.
// H1. Totals count up to their number. What comes after it is added from envelopes; if all envelopes are here, totals do not count.
import type { HeadEnvelope } from '../broadcasting/index.ts';
import type { BlockList } from './block-list.ts';
import type { ViewUsage } from './execution-facts.ts';
import { addUsage } from './execution-facts.ts';
import { getNumber, getObject, getText } from './fields.ts';
import type { SeqRange } from './known-ranges.ts';

/** Totals of a session up to an event. */
export interface HeadTotals {
  readonly seq: number;
  readonly status: string;
  /** Tokens of all steps. */
  readonly usage: ViewUsage;
  /** The last execution; absent if there is none. */
  readonly execution?: { readonly id: string; readonly startedAt: string; readonly stepCount: number; readonly durationMs: number };
  /** The head itself. */
  readonly source: HeadEnvelope;
}

/** Reads the totals of a head; undefined if it has none. */
export function readTotals(source: HeadEnvelope): HeadTotals | undefined {
  const data = getObject(source.data, 'totals');
  const [seq, status] = [data && getNumber(data, 'seq'), data && getText(data, 'status')];
  if (data === undefined || seq === undefined || status === undefined) return undefined;
  const [id, startedAt] = [getText(data, 'execution_id'), getText(data, 'started_at')];
  const counts = { stepCount: getNumber(data, 'step_count') ?? 0, durationMs: getNumber(data, 'duration_ms') ?? 0 };
  const execution = id === undefined || startedAt === undefined ? {} : { execution: { id, startedAt, ...counts } };
  return { seq, status, usage: addUsage({}, getObject(data, 'usage') ?? {}), ...execution, source };
}

/** Returns the totals if they are needed: something that they count is missing. */
export function getNeededTotals({
  totals,
  known: [first],
}: {
  readonly totals?: HeadTotals | undefined;
  readonly known: readonly SeqRange[];
}): HeadTotals | undefined {
  const isWhole = totals === undefined || (first?.first === 1 && first.last >= totals.seq);
  return isWhole ? undefined : totals;
}

/** Steps of the session's own agent after a number. */
interface LaterSteps {
  readonly usage: ViewUsage;
  readonly counts: ReadonlyMap<string, { readonly stepCount: number; readonly durationMs: number }>;
}

function addLaterSteps(list: BlockList, after: number): LaterSteps {
  let usage: ViewUsage = {};
  const counts = new Map<string, { readonly stepCount: number; readonly durationMs: number }>();
  const later = list.pages.flatMap(({ blocks }) => blocks.filter(({ envelopes }) => (envelopes.at(-1)?.seq ?? 0) > after));
  for (const { seq, event, data, execution_id, parent_agent_id } of later.flatMap(({ envelopes }) => envelopes)) {
    if (seq <= after || event !== 'agent.step.completed' || parent_agent_id !== undefined) continue;
    const { stepCount, durationMs } = counts.get(execution_id) ?? { stepCount: 0, durationMs: 0 };
    usage = addUsage(usage, getObject(data, 'usage') ?? {});
    counts.set(execution_id, { stepCount: stepCount + 1, durationMs: durationMs + (getNumber(data, 'duration_ms') ?? 0) });
  }
  return { usage, counts };
}

const counted = new WeakMap<BlockList, { readonly after: number; readonly steps: LaterSteps }>();

/** Counts the steps after a number, once for all views that have the blocks in common. */
export function countLaterSteps(list: BlockList, after: number): LaterSteps {
  const found = counted.get(list);
  if (found?.after === after) return found.steps;
  const steps = addLaterSteps(list, after);
  counted.set(list, { after, steps });
  return steps;
}
