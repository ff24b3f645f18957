import type { Clock, Json } from '../lib/index.ts';
import type { EffectRunner } from './effect-runner.ts';

/** What a call runs with. */
export interface RunCallOptions<Context = unknown> {
  readonly run: EffectRunner;
  /** Stable within an execution: `tool/<step>/<index>`. */
  readonly key: string;
  readonly idempotencyKey: string;
  readonly context: Context;
  readonly state?: unknown;
  /** Must not throw. */
  readonly onProgress?: (progress: Json) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}
