// The names before words, so that nobody's words can pass for another's.
// N1. What a participant reads begins with the speaker's name in brackets.
// N2. A line within it that begins like such a name begins with the speaker's own name once more.
import type { Part } from '../messages/index.ts';
import { textPart } from '../messages/index.ts';

const breaks = '\\n\\v\\f\\r\\u0085\\u2028\\u2029';
// Blanks, invisible characters, and the marks of quotes and emphasis: a line may begin with them and still read like a name.
const leading = `(?:(?![${breaks}])[\\s\\p{Cf}\\p{Cc}*_~\`>#\\\\|"'])*`;
const brackets = '[\\[［【〔〖⟦❲⁅]';
// Data of several lines is left as it is: no name is empty, or begins with a brace.
const data = `(?:(?![${breaks}])\\s)*(?:[{\\]${breaks}]|$)`;
const nameLike = `(?=${leading}${brackets}(?!${data}))`;
const atLineStart = new RegExp(`(?<=[${breaks}])${nameLike}`, 'gu');
const atAnyStart = new RegExp(`(?:^|(?<=[${breaks}]))${nameLike}`, 'gu');

/** Puts the speaker's name before each line of words that begins like a name. */
export function markLines(speaker: string, parts: readonly Part[]): readonly Part[] {
  const marked = parts.map((part) =>
    part.type === 'text'
      ? withText(
          part,
          part.text.replace(atAnyStart, () => `[${speaker}] `),
        )
      : part,
  );
  return marked.some((part, index) => part !== parts[index]) ? marked : parts;
}

/** Puts the speaker's name before words, and before each line of them that begins like a name. */
export function withSpeaker(speaker: string, parts: readonly Part[]): readonly Part[] {
  const [first, ...rest] = parts;
  if (first?.type !== 'text') return [textPart(`[${speaker}]`), ...markLines(speaker, parts)];
  // The name stands in the words: no provider shows a message's name to its model reliably.
  return [textPart(`[${speaker}] ${first.text.replace(atLineStart, () => `[${speaker}] `)}`), ...markLines(speaker, rest)];
}

type TextPart = Extract<Part, { readonly type: 'text' }>;

const withText = (part: TextPart, text: string): Part => (text === part.text ? part : { ...part, text });

const notInNames = new RegExp(`[\\[\\]［］【】${breaks}\\p{Cc}\\p{Cf}]+`, 'gu');

/** Names somebody outside. Names from outside have any form, and must not end the bracket. */
export function nameOutsider(name: string | undefined): string {
  const plain = name?.replace(notInNames, ' ').replace(/\s+/g, ' ').trim() ?? '';
  return `input from ${plain === '' ? 'outside' : plain}`;
}
