import type { ProblemReporter } from '../events/index.ts';
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
  /** Hears of a view of the result that could not be made; the model then reads the result itself. @default console.error */
  readonly onProblem?: ProblemReporter;
  /** @default systemClock */
  readonly clock?: Clock;
}
