import { Usage } from '../messages/index.ts';
import type { Draft } from './answer-text.ts';
import { toFinishedPart } from './answer-text.ts';
import type { ModelDelta, ModelResponse } from './model.ts';

/** Text and reasoning of an answer that nobody waits for any more, for display. Its cost is unknown. */
export class PartialAnswer {
  readonly #drafts: Draft[] = [];

  take(delta: ModelDelta): void {
    if (delta.type === 'tool-input') return;
    if (delta.type === 'restart') {
      this.#drafts.length = 0;
      return;
    }
    const last = this.#drafts.at(-1);
    if (last?.type === delta.type) last.text += delta.text;
    else this.#drafts.push({ ...delta });
  }

  toResponse(): ModelResponse {
    return { parts: this.#drafts.flatMap((draft) => toFinishedPart(draft) ?? []), usage: Usage.unknown() };
  }
}
