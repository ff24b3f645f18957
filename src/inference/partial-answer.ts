import { Usage } from '../messages/index.ts';
import type { ModelDelta, ModelResponse } from './model.ts';
import type { Draft } from './spoken-parts.ts';
import { createSpokenParts, toFinishedPart } from './spoken-parts.ts';

/** What was told of an answer that nobody waits for any more. */
export interface PartialAnswer {
  take(delta: ModelDelta): void;
  response(): ModelResponse;
}

/** Keeps what is told, for display: text and reasoning. What it cost is unknown. */
export function createPartialAnswer(): PartialAnswer {
  const drafts: Draft[] = [];
  const spoken = { text: createSpokenParts('text', drafts), reasoning: createSpokenParts('reasoning', drafts) };
  return {
    take: (delta) => {
      if (delta.type === 'restart') drafts.length = 0;
      else if (delta.type !== 'tool-input') spoken[delta.type].at(undefined).text += delta.text;
    },
    response: () => ({ parts: drafts.flatMap((draft) => toFinishedPart(draft) ?? []), usage: Usage.unknown() }),
  };
}
