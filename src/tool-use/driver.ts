import type { Failure } from '../errors/index.ts';
import type { Conversation, ModelResponse, ModelSettings, OfferedTool, OutputFormat } from '../inference/index.ts';
import type { Message, Usage } from '../messages/index.ts';
import type { Cost, StepScope } from '../step-by-step/index.ts';
import type { AnswerSchema, ToolSet } from '../tools/index.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { FailedModel, ToolUseStep } from './tool-use-step.ts';

/** One question to the model. */
export interface Question {
  readonly messages: Conversation | readonly Message[];
  /** @default none */
  readonly tools?: readonly OfferedTool[];
  readonly output?: OutputFormat;
  /** @default those of the orchestrator */
  readonly settings?: ModelSettings;
  /** Name of a second question of the same step. */
  readonly purpose?: string;
  /** False if the answer is not meant for readers. @default true */
  readonly isForReaders?: boolean;
}

/** Usage, cost and model of an answer, as they are recorded on a step. */
export interface AnswerFacts {
  readonly usage: Usage;
  readonly cost?: Cost;
  readonly model?: string;
  readonly finishReason?: string;
  /** Models that failed before the one that answered. */
  readonly fallbacks?: readonly FailedModel[];
}

/** The model's answer, or the failure, with the text that had come until then. */
export type ModelAnswer =
  | { readonly ok: true; readonly response: ModelResponse; readonly facts: AnswerFacts }
  | { readonly ok: false; readonly failure: Failure; readonly text: string; readonly facts: AnswerFacts };

/** Facts and services for a driver in one step. */
export interface DriverContext {
  /** Kind of orchestrator in events. */
  readonly orchestrator: string;
  readonly state: ToolUseState;
  readonly scope: StepScope;
  readonly tools: ToolSet;
  /** The tools as the model is told of them. */
  readonly offered: readonly OfferedTool[];
  readonly settings: ModelSettings;
  /** Schema of the final answer. */
  readonly output?: AnswerSchema | undefined;
  /** Returns what the model is to read: instructions, followed by `more`, then the conversation. */
  conversation(more?: string): Conversation;
  /** Returns the same as a list of its own. */
  messages(more?: string): readonly Message[];
  /** Asks the model, emits what comes, and counts usage and cost. Never rejects. */
  ask(question: Question): Promise<ModelAnswer>;
}

/** Parts of a driver's requests that are the same in every step. */
export interface RequestTemplate extends Pick<Question, 'tools' | 'output' | 'settings'> {
  /** Instructions of the driver's own. */
  readonly more?: string;
}

/**
 * A way of getting a step out of a model. Stateless: everything it needs is in its context.
 * The calls that it finds are run, parked and resumed for it; their results have the form of the calls in the step's message.
 */
export interface Driver {
  readonly name: string;
  /** Describes the usual request, so that only others have to be stored with their steps. @default one that offers all tools */
  readonly toTemplate?: (context: Pick<DriverContext, 'offered' | 'settings' | 'output'>) => RequestTemplate;
  /** Asks the model and reads the answer: a step with the calls to run, and no results yet. */
  ask(turn: DriverContext): Promise<ToolUseStep>;
}
