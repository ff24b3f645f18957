// The state of a conversation with tools.
// U1. A call that was made always has a result in the conversation, even if it was given up.
import { summarizeStep } from './summarize-step.ts';
import type { IdSource, Json } from '../lib/index.ts';
import type { NewStateOptions, PendingStep, StateCodec, StepResult, StepSummary } from '../step-by-step/index.ts';
import { createStateCodec, RunState } from '../step-by-step/index.ts';
import { ToolExecutions } from '../tools/index.ts';
import { closeStep } from './finish-step.ts';
import { stepCodec } from './step-codec.ts';
import type { ToolUseStep } from './tool-use-step.ts';

export class ToolUseState extends RunState<ToolUseStep> {
  /** Stored form. */
  static get codec(): StateCodec<ToolUseState> {
    return codec;
  }

  /** An empty conversation. */
  static empty(options: NewStateOptions = {}): ToolUseState {
    return new ToolUseState(RunState.emptyData(options));
  }

  /** Reads a stored state. */
  static fromJSON(stored: unknown): ToolUseState {
    return ToolUseState.codec.decode(stored);
  }

  toJSON(): unknown {
    return ToolUseState.codec.encode(this);
  }

  /** The final answer as JSON, if a schema asked for it and this execution has one. */
  get output(): Json | undefined {
    return this.currentStep?.output;
  }

  /** Executions of the current step's calls. */
  get toolExecutions(): ToolExecutions {
    return new ToolExecutions(this.currentStep?.executions);
  }

  override summarizeResult({ step }: StepResult<ToolUseStep>): StepSummary {
    return summarizeStep(step);
  }

  override closePendingStep(pending: PendingStep<ToolUseStep>, why: 'superseded' | 'interrupted', ids?: IdSource): ToolUseStep {
    return closeStep(pending, why, ids);
  }
}

// Outside the class: a static field runs code, so bundlers would keep the class even if nothing uses it.
const codec: StateCodec<ToolUseState> = createStateCodec<ToolUseState, ToolUseStep>({
  kind: 'tool-use-state',
  step: stepCodec,
  build: (data) => new ToolUseState(data),
});
