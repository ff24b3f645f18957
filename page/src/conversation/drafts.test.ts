import { expect, test } from 'vitest';
import { keepDraft, moveDraft, readDraft } from './drafts.ts';

test('words that were typed behind the first message move to its session', () => {
  keepDraft('home', 'Find Acme and two');
  moveDraft('Find Acme', { from: 'home', to: 's1' });
  expect([readDraft('home'), readDraft('s1').trim()]).toEqual(['', 'and two']);
});
