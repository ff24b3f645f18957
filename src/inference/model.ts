// The Model port, and its ten promises. The conformance suite in testing/ checks them on every adapter.
// M1.  Exactly one outcome per call, as a value: a model never throws. An aborted signal wins over any other classification.
//      Whatever a model returns is parsed (parse-outcome.ts) before it enters a step.
// M2.  Any error during the answer makes it a failure, even if the provider says that it finished.
// M3.  An answer that breaks off is a retryable failure; what had come is kept in `partial`.
// M4.  The calls (`findPendingToolCalls`) say what is left to do, never the finish reason.
// M5.  Arguments are parsed strictly; invalid JSON is passed on as text (`rawArgs`) and never throws. Call ids are unique and not empty.
// M6.  An answer without content is a failure of its own (`empty-response`), not silent success.
// M7.  Usage that was not reported is unknown, not zero.
// M8.  The delay that a provider asks for is read wherever it puts it.
// M9.  Unknown data is kept as it came and does no harm.
// M10. Provider metadata goes back untouched with the next request.
import type { Failure } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { Message, OfferedTool, Part, Usage } from '../messages/index.ts';
import type { FinishReason } from './finish-reason.ts';
import type { ModelSettings } from './model-settings.ts';

/** Requested form of the answer. */
export interface OutputFormat {
  readonly schema: JsonObject;
  readonly name?: string;
  readonly description?: string;
}

/** Time limits of a model call. An omitted one does not apply. */
export interface ModelTimeouts {
  /** Until the first piece; until the answer, if it is requested in one piece. */
  readonly firstByteMs?: number;
  /** Between one piece and the next. */
  readonly silenceMs?: number;
  /** For the whole answer. */
  readonly totalMs?: number;
}

/** Something that happened on the way to an answer. */
export type ModelNotice =
  /** The call waits for permission: a rate of our own, or a cool-down after the provider said 429. */
  | {
      readonly type: 'waiting';
      readonly model: string;
      readonly reason: 'concurrency' | 'requests' | 'tokens' | 'cool-down';
      readonly ms?: number;
    }
  /** The wait is over. */
  | { readonly type: 'waited'; readonly model: string; readonly ms: number }
  /** A model failed and another one is called. `usage` is the known usage of the failed attempt. */
  | { readonly type: 'fallback'; readonly from: string; readonly to: string; readonly failure: Failure; readonly usage: Usage }
  /** A model is cooling down after a failure, and others are asked before it. */
  | { readonly type: 'skipped'; readonly model: string }
  /** The provider or its answer was unusual; no harm was done. */
  | { readonly type: 'warning'; readonly model: string; readonly message: string };

/** One call. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly OfferedTool[];
  readonly settings?: ModelSettings;
  readonly output?: OutputFormat;
  readonly timeouts?: ModelTimeouts;
  readonly signal?: AbortSignal;
  /** Names of models that are cooling down after a failure: a row of models asks them last. Given, the answer says its route. */
  readonly coolingDown?: readonly string[];
  /** Returns the number of processes that share the limits of the model, this one included. @default 1 */
  readonly sharedBy?: () => number;
  readonly onNotice?: (notice: ModelNotice) => void;
  /** Called whenever anything arrives from the provider, even if it is not emitted as a delta. Used by time-outs. */
  readonly onActivity?: () => void;
}

/** Way through a row of models to an answer. */
export interface ModelRoute {
  /** Names of the models that failed before, in their order. */
  readonly failed: readonly string[];
  /** Their problems, in the same order. */
  readonly problems?: readonly string[];
  /** Name of the model that answered. */
  readonly answered: string;
}

/** A whole answer. Plain JSON: it is journaled. */
export interface ModelResponse {
  /** Parts of the answer, in the order in which they came. */
  readonly parts: readonly Part[];
  /** Absent if the provider gave none. */
  readonly finishReason?: FinishReason;
  /** The provider's own word for it. */
  readonly rawFinishReason?: string;
  readonly usage: Usage;
  readonly id?: string;
  /** Model that answered. */
  readonly modelId?: string;
  /** Provider that answered, if it was a fallback of the model that was called. */
  readonly provider?: string;
  /** Way to this answer, if it came from a row of models and not simply from the first. */
  readonly route?: ModelRoute;
  readonly providerMetadata?: JsonObject;
}

/** Outcome of a call. A failure keeps the partial answer, for display. */
export type ModelOutcome =
  | { readonly ok: true; readonly response: ModelResponse }
  | { readonly ok: false; readonly failure: Failure; readonly partial: ModelResponse };

/** A piece of an answer as it comes. */
export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A piece of a call's arguments; never part of the text. */
  | { readonly type: 'tool-input'; readonly toolCallId: string; readonly toolName: string; readonly text: string }
  /** Another model starts over: drop the deltas so far, which belong to a failed answer. */
  | { readonly type: 'restart' };

/** A language model. */
export interface Model {
  readonly provider: string;
  readonly modelId: string;
  /** Tokens that a request and its answer may have together, if the model tells. */
  readonly contextWindow?: number;
  /** Asks for the answer in one piece. */
  generate(request: ModelRequest): Promise<ModelOutcome>;
  /** Emits each piece as it comes, then returns the whole answer. */
  stream(request: ModelRequest, onDelta: (delta: ModelDelta) => void): Promise<ModelOutcome>;
}
