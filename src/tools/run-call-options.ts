import type { Effects } from '../effects/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import type { Clock, Json } from '../lib/index.ts';

/** Services and facts that one call runs with. */
export interface RunCallOptions<Context = unknown> {
  readonly effects: Pick<Effects, 'run'>;
  /** Stable within an execution: `tool/<step>/<index>`. */
  readonly key: string;
  /** The same for every attempt at this call. */
  readonly idempotencyKey: string;
  readonly context: Context;
  readonly state?: unknown;
  /** Must not throw. */
  readonly onProgress?: ((progress: Json) => void) | undefined;
  /** Called if `toModelOutput` throws; the model then reads the result itself. @default console.error */
  readonly onProblem?: ProblemReporter | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}
