// Facts about the executions of a session, added up as envelopes come.
// X1. Each stored envelope is counted once. The sums do not depend on their order.
import type { JsonObject } from '../lib/index.ts';
import type { StoredEnvelope } from './block.ts';
import { getNumber, getObject, getStep, getText } from './fields.ts';

/** Tokens, as envelopes count them: `input`, `output`, `total`, … */
export type ViewUsage = Readonly<Record<string, number>>;

export interface ExecutionFacts {
  /** Time of its first envelope. */
  readonly startedAt: string;
  /** Time at which it ended or began to wait for the last time; empty before. */
  readonly restAt: string;
  readonly hasEnded: boolean;
  /** Number of its last recorded step. */
  readonly doneStep: number;
  /** Number of the last step whose words are stored: that of a step that waits is, though the step is not recorded. */
  readonly spokenStep: number;
  readonly stepCount: number;
  readonly durationMs: number;
  readonly usage: ViewUsage;
}

const none: ExecutionFacts = {
  startedAt: '',
  restAt: '',
  hasEnded: false,
  doneStep: 0,
  spokenStep: 0,
  stepCount: 0,
  durationMs: 0,
  usage: {},
};

/** Adds two counts. */
export function addUsage(one: ViewUsage, other: JsonObject): ViewUsage {
  const sum: Record<string, number> = { ...one };
  for (const [key, count] of Object.entries(other)) if (typeof count === 'number') sum[key] = (sum[key] ?? 0) + count;
  return sum;
}

/** True if a status says that nothing runs. */
export const isRest = ({ event, data }: Pick<StoredEnvelope, 'event' | 'data'>): boolean =>
  event === 'agent.status' && getText(data, 'status') !== 'in_progress' && getText(data, 'status') !== 'pending';

const getLater = (one: string, other: string): string => (one > other ? one : other);

/** Counts an envelope of an execution. */
export function countEnvelope(before: ExecutionFacts | undefined, envelope: StoredEnvelope): ExecutionFacts {
  const facts = before ?? none;
  const { event, timestamp, data } = envelope;
  const startedAt = facts.startedAt === '' || timestamp < facts.startedAt ? timestamp : facts.startedAt;
  const next = startedAt === facts.startedAt ? facts : { ...facts, startedAt };
  if (isRest(envelope)) {
    const hasEnded = facts.hasEnded || getText(data, 'status') !== 'waiting';
    return { ...next, hasEnded, restAt: getLater(facts.restAt, timestamp) };
  }
  if (event === 'agent.message') return { ...next, spokenStep: Math.max(facts.spokenStep, getStep(envelope) ?? 0) };
  if (event !== 'agent.step.completed') return next;
  return {
    ...next,
    doneStep: Math.max(facts.doneStep, getStep(envelope) ?? 0),
    stepCount: facts.stepCount + 1,
    durationMs: facts.durationMs + (getNumber(data, 'duration_ms') ?? 0),
    usage: addUsage(facts.usage, getObject(data, 'usage') ?? {}),
  };
}
