import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { Json } from '../lib/index.ts';
import type { Message, Usage } from '../messages/index.ts';
import type { ExecutionStatus, Step } from '../step-by-step/index.ts';
import type { ToolExecutionStatus } from '../tools/index.ts';
import type { ParticipantKind } from './participant-kind.ts';

/** How it came that somebody had the turn. */
export interface Selection {
  /** The selector; `retry` where a turn is tried again. */
  readonly by: string;
  readonly reason?: string;
  /** What was wrong with the first choice, where another rule had to decide. */
  readonly problem?: string;
  /** What it used to find out; it counts on the turn as well. */
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
  /** What was decided about it last, and why. */
  readonly outcome?: ContinuationOutcome;
  readonly stepCount: number;
  /** The calls it made, in their order. */
  readonly calls?: readonly { readonly tool: string; readonly status: ToolExecutionStatus }[];
}

/** What a participant still reads of the conversation word by word, where its window is bounded. */
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

/** What was called and answered in a turn that did not come to its end. Its participant reads it when it has the turn again. */
export interface UnfinishedTurn {
  /** So many messages stood in the conversation when the turn was taken. */
  readonly at: number;
  readonly messages: readonly Message[];
}

/** What a turn needs to go on after it had to wait. */
export interface TurnMemo {
  /** How often the turn was worked on. */
  readonly round: number;
  /** The kind of participant that took it: one of another kind cannot go on with it. */
  readonly kind: ParticipantKind;
  /** The state of the run inside it; for a person, what was shown when the words were asked for. */
  readonly state?: Json;
}

/** One turn of one participant. Plain data. */
export interface ChatStep extends Step {
  /** The last input that was there when the turn was begun, by its id. */
  readonly input?: string;
  readonly selection?: Selection;
  /** Absent where the turn had no run inside it. */
  readonly inner?: InnerRun;
  /** Present where it has changed in this turn. */
  readonly window?: ParticipantWindow;
  /** Present where calls were made in a turn that failed, was cut off or was given up. */
  readonly unfinished?: UnfinishedTurn;
  /** Present only while the turn waits. */
  readonly memo?: TurnMemo;
}
