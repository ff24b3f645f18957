import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { Json } from '../lib/index.ts';
import type { Message, Usage } from '../messages/index.ts';
import type { ExecutionStatus, Step } from '../step-by-step/index.ts';
import type { ToolExecutionStatus } from '../tools/index.ts';
import type { ParticipantKind } from './participant-kind.ts';

/** Record of how a participant was selected. */
export interface Selection {
  /** Name of the selector; `retry` if a turn is retried. */
  readonly by: string;
  readonly reason?: string;
  /** Problem with the first choice, if another rule had to decide. */
  readonly problem?: string;
  /** Usage of the selector; it counts on the turn as well. */
  readonly usage?: Usage;
}

/** The run inside a turn: of a model with its tools, or of an agent. */
export interface InnerRun {
  /** The kind of orchestrator: `tool-use`, `agent`. */
  readonly orchestrator: string;
  /** Its events carry this id, and the conversation's as their `parentAgentId`. */
  readonly agentId: string;
  readonly status: ExecutionStatus;
  /** Absent while it waits. */
  readonly stopReason?: StopReason;
  /** Its last outcome. */
  readonly outcome?: ContinuationOutcome;
  readonly stepCount: number;
  /** The calls it made, in their order. */
  readonly calls?: readonly { readonly tool: string; readonly status: ToolExecutionStatus }[];
}

/** The part of the conversation that a participant still reads word by word, if its window is bounded. */
export interface ParticipantWindow {
  /** So many messages from the beginning are folded into the summary… */
  readonly folded: number;
  /** …except for these, by their ids. */
  readonly kept?: readonly string[];
  /** So many messages from the beginning have left the window for the buffer, or for the summary. */
  readonly buffered: number;
  /** Of the calls of turns that did not come to their end, the messages that are folded into the summary, by their ids. */
  readonly foldedCalls?: readonly string[];
  readonly summary?: Message;
}

/** Calls and results of a turn that did not complete. Its participant reads them when it has the turn again. */
export interface UnfinishedTurn {
  /** So many messages stood in the conversation when the turn was taken. */
  readonly at: number;
  readonly messages: readonly Message[];
}

/** State of a turn that waits, needed to resume it. */
export interface TurnMemo {
  /** Number of times the turn was worked on. */
  readonly round: number;
  /** The kind of participant that took it: one of another kind cannot continue with it. */
  readonly kind: ParticipantKind;
  /** The state of the run inside it; for a person, what was shown when the words were asked for. */
  readonly state?: Json;
}

/** One turn of one participant. Plain data. */
export interface ChatStep extends Step {
  /** The last input that was there when the turn was begun, by its id. */
  readonly input?: string;
  readonly selection?: Selection;
  /** Absent if the turn had no run inside it. */
  readonly inner?: InnerRun;
  /** Present if it has changed in this turn. */
  readonly window?: ParticipantWindow;
  /** Present if calls were made in a turn that failed, was interrupted or was given up. */
  readonly unfinished?: UnfinishedTurn;
  /** Present only while the turn waits. */
  readonly memo?: TurnMemo;
}
