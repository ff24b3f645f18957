// The text that the open steps of one session have streamed so far.
// Owns:     attempts, answers and offsets of chunks.
// Does not: keep the text.
import type { BaseEvent } from '../events/index.ts';

/** A piece of text. */
export type TextEvent = BaseEvent & { readonly type: 'TextDelta' | 'ReasoningDelta' };

/** Place of a piece of text. */
interface TextPlace {
  readonly attempt: number;
  readonly answer: number;
  readonly offset: number;
}

/** The step that an agent writes in. */
interface StepText {
  readonly executionId: string;
  readonly stepNumber: number;
  readonly attempt: number;
  /** Step of the run that writes: a run inside a turn may take several. */
  source: string;
  answer: number;
  TextDelta: number;
  ReasoningDelta: number;
}

export class StepTexts {
  readonly #steps = new Map<string, StepText>();

  /** Returns the place of a piece of text, and counts it. Text of another source begins another answer. */
  take(event: TextEvent, text: string, source: string): TextPlace {
    const step = this.#find(event);
    if (step.source !== '' && step.source !== source) this.#startAnswer(step);
    step.source = source;
    const offset = step[event.type];
    step[event.type] += text.length;
    return { attempt: step.attempt, answer: step.answer, offset };
  }

  /** Returns the answer that a model has failed in; the next text belongs to the next answer. */
  fail(event: BaseEvent): Omit<TextPlace, 'offset'> {
    const step = this.#find(event);
    const { attempt, answer } = step;
    this.#startAnswer(step);
    return { attempt, answer };
  }

  /** A step starts: with this attempt, if a process has ended in it before. */
  start({ agentId, executionId, stepNumber }: BaseEvent, attempt: number): void {
    if (attempt === 1) this.#steps.delete(agentId);
    else this.#steps.set(agentId, { executionId, stepNumber, attempt, source: '', answer: 1, TextDelta: 0, ReasoningDelta: 0 });
  }

  /** The step of an agent has ended. Returns the answer that it ended with. */
  end({ agentId, executionId, stepNumber }: BaseEvent): Partial<Omit<TextPlace, 'offset'>> {
    const step = this.#steps.get(agentId);
    this.#steps.delete(agentId);
    if (step?.executionId !== executionId || step.stepNumber !== stepNumber) return {};
    return { attempt: step.attempt, answer: step.answer };
  }

  #startAnswer(step: StepText): void {
    step.answer += 1;
    step.TextDelta = 0;
    step.ReasoningDelta = 0;
  }

  #find({ agentId, executionId, stepNumber }: BaseEvent): StepText {
    const known = this.#steps.get(agentId);
    if (known?.executionId === executionId && known.stepNumber === stepNumber) return known;
    const step = { executionId, stepNumber, attempt: 1, source: '', answer: 1, TextDelta: 0, ReasoningDelta: 0 };
    this.#steps.set(agentId, step);
    return step;
  }
}
