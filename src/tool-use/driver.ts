import type { Failure } from '../errors/index.ts';
import type { ModelResponse, ModelSettings, OfferedTool, OutputFormat } from '../inference/index.ts';
import type { Message, Usage } from '../messages/index.ts';
import type { Cost, StepScope } from '../step-by-step/index.ts';
import type { AnswerSchema, ToolSet } from '../tools/index.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { ToolUseStep } from './tool-use-step.ts';

/** One question to the model. */
export interface Question {
  readonly messages: readonly Message[];
  /** @default none */
  readonly tools?: readonly OfferedTool[];
  readonly output?: OutputFormat;
  /** @default those of the orchestrator */
  readonly settings?: ModelSettings;
  /** Tells a second question of the same step from the first. */
  readonly purpose?: string;
  /** False where what comes is not meant for readers. @default true */
  readonly isForReaders?: boolean;
}

/** What a question cost, and who answered it: ready to stand on a step. */
export interface AnswerFacts {
  readonly usage: Usage;
  readonly cost?: Cost;
  readonly model?: string;
  readonly finishReason?: string;
}

/** The model's answer, or why there is none, with the words that had come until then. */
export type Answered =
  | { readonly ok: true; readonly response: ModelResponse; readonly facts: AnswerFacts }
  | { readonly ok: false; readonly failure: Failure; readonly text: string; readonly facts: AnswerFacts };

/** What a driver works with in one step. */
export interface Turn {
  /** The kind of orchestrator, as events name it. */
  readonly orchestrator: string;
  readonly state: ToolUseState;
  readonly scope: StepScope;
  readonly tools: ToolSet;
  /** The tools as the model is told of them. */
  readonly offered: readonly OfferedTool[];
  readonly settings: ModelSettings;
  /** The form in which the final answer is wanted. */
  readonly output?: AnswerSchema | undefined;
  /** What the model reads: instructions, with `more` behind them, then the conversation. */
  messages(more?: string): readonly Message[];
  /** Asks the model, tells of what comes, and keeps account. Never rejects. */
  ask(question: Question): Promise<Answered>;
}

/**
 * How a step is got out of a model. It holds nothing: what it needs is in the turn.
 * The calls that it finds are carried out for it, parked, and taken up again; their results follow the form in which
 * the calls stand in the step's message.
 */
export interface Driver {
  readonly name: string;
  /** Asks the model and reads the answer: a step with the calls to carry out, and no results yet. */
  ask(turn: Turn): Promise<ToolUseStep>;
}
