// The text that the open steps of one session have streamed so far.
// Owns:     attempts and offsets of chunks.
// Does not: keep the text.
import type { BaseEvent } from '../events/index.ts';

/** Place of a piece of text. */
interface TextPlace {
  readonly attempt: number;
  readonly offset: number;
}

/** The step that an agent writes in. */
interface StepText {
  readonly executionId: string;
  readonly stepNumber: number;
  attempt: number;
  TextDelta: number;
  ReasoningDelta: number;
}

export class StepTexts {
  readonly #steps = new Map<string, StepText>();

  /** Returns the place of a piece of text, and counts it. */
  take(event: BaseEvent & { readonly type: 'TextDelta' | 'ReasoningDelta' }, text: string): TextPlace {
    const step = this.#find(event);
    const offset = step[event.type];
    step[event.type] += text.length;
    return { attempt: step.attempt, offset };
  }

  /** Returns the attempt whose text a model has failed in; the next text belongs to the next attempt. */
  fail(event: BaseEvent): number {
    const step = this.#find(event);
    step.attempt += 1;
    step.TextDelta = 0;
    step.ReasoningDelta = 0;
    return step.attempt - 1;
  }

  /** A step starts: with this attempt, if a process has ended in it before. */
  start({ agentId, executionId, stepNumber }: BaseEvent, attempt: number): void {
    if (attempt === 1) this.#steps.delete(agentId);
    else this.#steps.set(agentId, { executionId, stepNumber, attempt, TextDelta: 0, ReasoningDelta: 0 });
  }

  /** Returns the attempt that an agent is in. */
  getAttempt(event: BaseEvent): number | undefined {
    const step = this.#steps.get(event.agentId);
    return step?.executionId === event.executionId && step.stepNumber === event.stepNumber ? step.attempt : undefined;
  }

  /** The step of an agent has ended. */
  end({ agentId }: BaseEvent): void {
    this.#steps.delete(agentId);
  }

  #find({ agentId, executionId, stepNumber }: BaseEvent): StepText {
    const known = this.#steps.get(agentId);
    if (known?.executionId === executionId && known.stepNumber === stepNumber) return known;
    const step = { executionId, stepNumber, attempt: 1, TextDelta: 0, ReasoningDelta: 0 };
    this.#steps.set(agentId, step);
    return step;
  }
}
