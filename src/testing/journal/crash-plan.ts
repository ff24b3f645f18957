import type { DurableEngine } from '../../journal/index.ts';
import type { Json } from '../../lib/index.ts';
import { isList, isRecord } from '../../lib/index.ts';
import type { JournalAttempt } from './journal-world.ts';

/** The operation of the engine at which an attempt ends. */
export interface CrashPlan {
  /** Number of the operation, counted from 0 in each attempt; or its kind: the first row of this kind, or a sleep. */
  readonly at: number | 'commit' | 'sleepMs' | 'end' | 'sleep';
  /** True if the operation is recorded before the attempt ends, so that only its result is lost. */
  readonly isRecorded: boolean;
}

// A new promise each time: one that never settles keeps everything that ever waited for it.
const waitForever = (): Promise<never> => new Promise(() => undefined);

const hasRow = (rows: Json, kind: CrashPlan['at']): boolean => isList(rows) && rows.some((row) => isRecord(row) && kind in row);

/** Runs the body with an engine that ends the attempt as planned. An attempt that has ended cannot reach the engine any more. */
export async function runWithCrash<Value extends Json>(
  { engine, crash }: JournalAttempt,
  plan: CrashPlan | undefined,
  body: (engine: DurableEngine) => Promise<Value>,
): Promise<Value> {
  const own = { count: 0, isOver: false };
  let end = (): void => undefined;
  const crashed = new Promise<void>((resolve) => {
    end = resolve;
  });
  /** Counts an operation. Returns true if the attempt ends at it. */
  const isLast = (isMeant: boolean): boolean => {
    const isHere = plan?.at === own.count || isMeant;
    own.count += 1;
    own.isOver ||= isHere;
    return isHere;
  };
  const record: DurableEngine['record'] = async (make) => {
    if (own.isOver) return waitForever();
    if (!isLast(plan !== undefined && hasRow(make(), plan.at))) return engine.record(make);
    if (plan?.isRecorded === true) await engine.record(make);
    end();
    return waitForever();
  };
  const sleep = async (ms: number): Promise<void> => {
    if (own.isOver) return waitForever();
    if (!isLast(plan?.at === 'sleep')) return engine.sleep(ms);
    // The attempt ends during the sleep.
    if (plan?.isRecorded === true) engine.sleep(ms).catch(() => undefined);
    end();
    return waitForever();
  };
  return Promise.race([body({ ...engine, record, sleep }), crashed.then(crash)]);
}
