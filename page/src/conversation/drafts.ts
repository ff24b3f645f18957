// Texts that were not sent yet, by session, until the page is closed.
import { removeSent } from './remove-sent.ts';

const drafts = new Map<string, string>();

export const readDraft = (name: string): string => drafts.get(name) ?? '';

/** Keeps a text. An empty one is forgotten. */
export function keepDraft(name: string, text: string): void {
  if (text === '') drafts.delete(name);
  else drafts.set(name, text);
}

/** Moves what was typed behind a message that was sent: the first message of a session is written elsewhere than the next. */
export function moveDraft(sent: string, { from, to }: { readonly from: string; readonly to: string }): void {
  keepDraft(to, removeSent(readDraft(from).trimStart(), sent));
  keepDraft(from, '');
}
