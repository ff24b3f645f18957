import type { Json, JsonObject } from '../lib/index.ts';
import { assertNever } from '../lib/index.ts';
import type { ContentPart, ToolOutput } from '../messages/index.ts';

/** Number of characters of a result that the model reads, unless the tool says otherwise. */
export const defaultMaxResultChars = 50_000;

/** Cuts text at a whole character. */
function sliceText(text: string, length: number): string {
  const lastUnit = text.charCodeAt(length - 1);
  const splitsPair = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return text.slice(0, splitsPair ? length - 1 : length);
}

const describeCut = (shown: number, total: number): string =>
  `[This result was cut: these are the first ${shown} of ${total} characters. Call the tool for a smaller part to read the rest.]`;

function withNote(text: string, maxChars: number): ToolOutput {
  const shown = sliceText(text, maxChars);
  return { type: 'text', value: `${shown}\n\n${describeCut(shown.length, text.length)}` };
}

const countText = (parts: readonly ContentPart[]): number =>
  parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);

function truncateParts(parts: readonly ContentPart[], maxChars: number): readonly ContentPart[] {
  let left = maxChars;
  const kept = parts.flatMap((part): readonly ContentPart[] => {
    if (part.type !== 'text') return [part];
    const text = part.text.length <= left ? part.text : sliceText(part.text, left);
    // Nothing follows a cut, not even a shorter text.
    left = text === part.text ? left - text.length : 0;
    return text === '' ? [] : [{ ...part, text }];
  });
  return [...kept, { type: 'text', text: describeCut(countText(kept), countText(parts)) }];
}

/** Counts the characters that a value takes as JSON, as if all of its text were escaped; stops at `enough`. */
function countAtMost(value: Json, enough: number): number {
  if (typeof value === 'string') return 6 * value.length + 2;
  if (typeof value !== 'object' || value === null) return 26;
  let count = 2;
  for (const key of Object.keys(value)) {
    if (count > enough) return count;
    // Holds: the keys of a list are its indexes, which take up no more than the names of fields would.
    count += 6 * key.length + 4 + countAtMost((value as JsonObject)[key] ?? null, enough - count);
  }
  return count;
}

/** Cuts an output to what the model may read of it, and says so. The same output is always cut in the same way. */
export function truncateOutput(output: ToolOutput, maxChars: number): ToolOutput {
  switch (output.type) {
    case 'text':
      return output.value.length <= maxChars ? output : withNote(output.value, maxChars);
    case 'json': {
      // Most results are short, and need not be written out to be known as such.
      if (countAtMost(output.value, maxChars) <= maxChars) return output;
      const text = JSON.stringify(output.value);
      return text.length <= maxChars ? output : withNote(text, maxChars);
    }
    case 'content':
      return countText(output.parts) <= maxChars ? output : { type: 'content', parts: truncateParts(output.parts, maxChars) };
    case 'error':
    case 'rejected':
      return output;
    default:
      return assertNever(output);
  }
}
