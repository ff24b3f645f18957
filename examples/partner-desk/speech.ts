// What the assistant says, as it comes: words are kept whole at the end of a line.
import type { Screen } from './screen.ts';
import { harmless, label, margin } from './screen.ts';

export interface Speech {
  take(text: string): void;
  /** Writes what is held back and ends the line. */
  end(): void;
}

export function createSpeech(screen: Screen): Speech {
  let column = 0;
  let held = '';
  let gap = '';
  let hasBegun = false;

  const word = (text: string): void => {
    if (column > 0 && column + gap.length + text.length > screen.width - 1) {
      screen.write('\n');
      column = 0;
    }
    const begin = hasBegun ? margin : label(screen, 'desk');
    // A line that was broken here begins at the margin; one that was broken by the speaker keeps its own.
    const before = column === 0 ? begin + (gap.includes('\n') ? gap.slice(gap.lastIndexOf('\n') + 1) : '') : gap;
    screen.write(before + text);
    column += (hasBegun ? before.length : margin.length) + text.length;
    hasBegun = true;
  };
  const space = (text: string): void => {
    if (!hasBegun) return;
    for (let line = text.indexOf('\n'); line !== -1; line = text.indexOf('\n', line + 1)) {
      screen.write('\n');
      column = 0;
    }
    gap = text;
  };

  return {
    take: (text) => {
      held += harmless(text);
      // The last word may go on with the next piece.
      for (let found = /^(\s*)(\S+)(?=\s)/.exec(held); found !== null; found = /^(\s*)(\S+)(?=\s)/.exec(held)) {
        const [all, before = '', said = ''] = found;
        space(before);
        word(said);
        held = held.slice(all.length);
      }
    },
    end: () => {
      const [, before = '', said = ''] = /^(\s*)(\S*)/.exec(held) ?? [];
      held = '';
      if (said !== '') {
        space(before);
        word(said);
      }
      gap = '';
      column = 0;
      hasBegun = false;
      screen.freshLine();
    },
  };
}
