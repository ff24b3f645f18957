// The Model port, and its ten promises. The conformance suite in testing/ checks them on every adapter.
// M1.  Exactly one outcome per call, as a value: a model never throws. An aborted signal wins over any other classification.
// M2.  Any error during the answer makes it a failure, even if the provider says that it finished.
// M3.  An answer that breaks off is a retryable failure; what had come is kept in `partial`.
// M4.  What is left to do is told by the calls (`pendingToolCalls`), never by the finish reason.
// M5.  Arguments are parsed strictly; what is no JSON is handed on as text (`rawArgs`), never a crash. Call ids are unique and not empty.
// M6.  An answer without content is a failure of its own (`empty-response`), not silent success.
// M7.  Usage that was not reported is unknown, not zero.
// M8.  The delay that a provider asks for is read wherever it puts it.
// M9.  What we do not know is kept as it came, and harms nothing.
// M10. Provider metadata goes back untouched with the next request.
import type { Failure } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { Message, OfferedTool, Part, Usage } from '../messages/index.ts';
import type { FinishReason } from './finish-reason.ts';
import type { ModelSettings } from './model-settings.ts';

/** The form in which the answer is wanted. */
export interface OutputFormat {
  readonly schema: JsonObject;
  readonly name?: string;
  readonly description?: string;
}

/** How long a call may keep us waiting. Each that is left out is not watched. */
export interface ModelTimeouts {
  /** Until anything comes; until the answer, where it is asked for in one piece. */
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
  /** A model failed and another one is asked. `usage` is what the failed attempt is known to have used. */
  | { readonly type: 'fallback'; readonly from: string; readonly to: string; readonly failure: Failure; readonly usage: Usage }
  /** The provider, or what came from it, was odd; nothing was harmed. */
  | { readonly type: 'warning'; readonly model: string; readonly message: string };

/** One call. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly OfferedTool[];
  readonly settings?: ModelSettings;
  readonly output?: OutputFormat;
  readonly timeouts?: ModelTimeouts;
  readonly signal?: AbortSignal;
  readonly onNotice?: (notice: ModelNotice) => void;
  /** Called whenever anything comes from the provider, also what is not told as a delta. Time-outs listen here. */
  readonly onActivity?: () => void;
}

/** A whole answer. Plain JSON: it is journaled. */
export interface ModelResponse {
  /** What was said, in the order in which it came. */
  readonly parts: readonly Part[];
  /** Absent where the provider gave none. */
  readonly finishReason?: FinishReason;
  /** The provider's own word for it. */
  readonly rawFinishReason?: string;
  readonly usage: Usage;
  readonly id?: string;
  /** The model that really answered. */
  readonly modelId?: string;
  /** Who really answered, where it was not the model that was asked but one of its fallbacks. */
  readonly provider?: string;
  readonly providerMetadata?: JsonObject;
}

/** What became of a call. A failure keeps what had come until then, for display. */
export type ModelOutcome =
  | { readonly ok: true; readonly response: ModelResponse }
  | { readonly ok: false; readonly failure: Failure; readonly partial: ModelResponse };

/** A piece of an answer as it comes. */
export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A piece of a call's arguments; never part of the text. */
  | { readonly type: 'tool-input'; readonly toolCallId: string; readonly toolName: string; readonly text: string }
  /** Another model begins anew: what was told until now belongs to an answer that failed, and is to be dropped. */
  | { readonly type: 'restart' };

/** A language model. */
export interface Model {
  readonly provider: string;
  readonly modelId: string;
  /** Asks for the answer in one piece. */
  generate(request: ModelRequest): Promise<ModelOutcome>;
  /** Tells each piece as it comes, then gives the whole. */
  stream(request: ModelRequest, onDelta: (delta: ModelDelta) => void): Promise<ModelOutcome>;
}
