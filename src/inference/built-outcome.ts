import { markCanonical, mostCanonicalBytes } from '../lib/index.ts';
import type { Part } from '../messages/index.ts';
import type { ModelOutcome, ModelResponse } from './model.ts';

// A character takes six bytes at most, if it is escaped; 200 are more than the names, flags and counts of a part or an answer take.
const bytesPerCharacter = 6;
const bytesPerPart = 200;

const measureText = (text = ''): number => bytesPerCharacter * text.length;

function measurePart(part: Part): number {
  if (part.type === 'text' || part.type === 'reasoning') return bytesPerPart + measureText(part.text);
  if (part.type !== 'tool-call') return Infinity;
  return bytesPerPart + measureText(part.toolCallId) + measureText(part.toolName) + measureText(part.rawArgs);
}

function measureParts({ parts, id, modelId, rawFinishReason }: ModelResponse): number {
  let bytes = bytesPerPart + measureText(id) + measureText(modelId) + measureText(rawFinishReason);
  for (const part of parts) bytes += measurePart(part);
  return bytes;
}

const isCount = (count = 0): boolean => count <= Number.MAX_SAFE_INTEGER && !Object.is(count, -0);

/**
 * Freezes an answer whose parts hold nothing of the provider's own objects, and marks it: nobody has to check it again. Too large an
 * answer is left as it is, for the check to refuse.
 */
export function markBuiltOutcome(outcome: ModelOutcome, givenBytes: number): ModelOutcome {
  if (!outcome.ok) return outcome;
  const { response } = outcome;
  if (measureParts(response) + givenBytes > mostCanonicalBytes || !Object.values(response.usage).every(isCount)) return outcome;
  for (const part of response.parts) Object.freeze(part);
  // Marked by themselves too: the message of the answer takes them as they are.
  markCanonical(response.parts);
  Object.freeze(response.usage);
  markCanonical(response);
  return markCanonical(outcome, 'model-outcome');
}
