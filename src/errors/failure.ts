import type { ErrorType } from './error-type.ts';

/** One thing that went wrong in a step, as plain data: it is stored, shown, and judged by the policy. */
export interface Failure {
  readonly type: ErrorType;
  /** Stable kebab-case code, or the foreign error's own. */
  readonly code: string;
  readonly message: string;
  /** False if trying again cannot help: a bad request, a wrong key. */
  readonly retryable: boolean;
  /** Wait that the provider asked for. */
  readonly retryAfterMs?: number;
  readonly toolName?: string;
  readonly toolCallId?: string;
  /** True if the model gets a result that describes this failure. Only such a failure can be ignored. */
  readonly readable?: boolean;
  /** Hook that blocked the call. */
  readonly blockedBy?: string;
  /** Attachments that the model refused: later requests leave them out. `path` is that of the part in its message. */
  readonly refusedParts?: readonly { readonly messageId: string; readonly path: string; readonly reason: string }[];
  /** Messages of the errors that caused it, nearest first. Secrets are taken out. */
  readonly causes?: readonly string[];
}
