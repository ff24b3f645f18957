const opening = '<think>';
const closing = '</think>';

/** Text, split into thinking and words. */
export interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

/** Splits thinking that a model wrote into its text off the text. */
export interface ThinkSplitter {
  take(text: string): SplitText;
  /** Returns what waited for the rest of a tag. From now on everything is text. */
  end(): SplitText;
  /** True once nothing but text can come. */
  isDone(): boolean;
}

const nothing: SplitText = { reasoning: '', text: '' };

// Length of the end of the text that may be the beginning of the tag.
function countTagStart(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

/**
 * Splits `<think>…</think>` off if it stands at the very start, after any space; anywhere else it is text.
 * Thinking that is never closed stays thinking: the answer never began.
 */
export function createThinkSplitter(): ThinkSplitter {
  let place: 'before' | 'inside' | 'behind' | 'done' = 'before';
  let space = '';
  let waiting = '';

  const before = (text: string): SplitText => {
    const begun = waiting === '' ? text.trimStart() : text;
    space += text.slice(0, text.length - begun.length);
    waiting += begun;
    if (!waiting.startsWith(opening)) return opening.startsWith(waiting) ? nothing : end();
    const thought = waiting.slice(opening.length);
    place = 'inside';
    waiting = '';
    return inside(thought);
  };
  const inside = (text: string): SplitText => {
    const all = waiting + text;
    const closedAt = all.indexOf(closing);
    if (closedAt === -1) {
      const cut = all.length - countTagStart(all, closing);
      waiting = all.slice(cut);
      return { reasoning: all.slice(0, cut), text: '' };
    }
    place = 'behind';
    waiting = '';
    return { reasoning: all.slice(0, closedAt), text: behind(all.slice(closedAt + closing.length)) };
  };
  // The space between thinking and saying belongs to neither.
  const behind = (text: string): string => {
    const said = text.trimStart();
    if (said !== '') place = 'done';
    return said;
  };
  const end = (): SplitText => {
    const rest = waiting;
    const wasBefore = place === 'before';
    waiting = '';
    place = 'done';
    return wasBefore ? { reasoning: '', text: space + rest } : { reasoning: rest, text: '' };
  };

  return {
    take: (text) => {
      if (place === 'before') return before(text);
      if (place === 'inside') return inside(text);
      return { reasoning: '', text: place === 'behind' ? behind(text) : text };
    },
    end,
    isDone: () => place === 'done',
  };
}
