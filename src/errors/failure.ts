import type { ErrorType } from './error-type.ts';

/** One thing that went wrong in a step, as plain data: it is stored, shown, and judged by the policy. */
export interface Failure {
  readonly type: ErrorType;
  /** Stable kebab-case code, or the foreign error's own. */
  readonly code: string;
  readonly message: string;
  /** False where trying again cannot help: a bad request, a wrong key. */
  readonly retryable: boolean;
  /** What the provider asked us to wait. */
  readonly retryAfterMs?: number;
  readonly toolName?: string;
  readonly toolCallId?: string;
  /** True where the model gets a result that tells it of this failure. Only such a failure can be ignored. */
  readonly readable?: boolean;
}
