// Texts that were not sent yet, by session, until the tab is closed.
import { keep, readKept } from '../app/tab-storage.ts';
import { removeSent } from './remove-sent.ts';

const toName = (name: string): string => `draft ${name}`;

export const readDraft = (name: string): string => readKept(toName(name));

/** Keeps a text. An empty one is forgotten. */
export const keepDraft = (name: string, text: string): void => keep(toName(name), text);

/** Moves what was typed behind a message that was sent: the first message of a session is written elsewhere than the next. */
export function moveDraft(sent: string, { from, to }: { readonly from: string; readonly to: string }): void {
  keepDraft(to, removeSent(readDraft(from).trimStart(), sent));
  keepDraft(from, '');
}
