import { describe, expect, it } from 'vitest';
import { removeSent } from './remove-sent.ts';

describe('a field whose text was sent', () => {
  it.each([
    ['is empty if nothing was typed since', 'Hello', 'Hello', ''],
    ['keeps what was added since', 'Hello\nand more', 'Hello', 'and more'],
    ['keeps another text that was typed since', 'The next one', 'Hello', 'The next one'],
    ['stays empty if it was emptied since', '', 'Hello', ''],
  ])('%s', (_name, current, sent, left) => {
    expect(removeSent(current, sent)).toBe(left);
  });
});
