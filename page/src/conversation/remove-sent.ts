/** Removes what was sent from what is in the field now: words that were typed since stay. */
export const removeSent = (current: string, sent: string): string =>
  current.startsWith(sent) ? current.slice(sent.length).trimStart() : current;

/** Puts a message that was refused back before what is in the field now. */
export const putBack = (refused: string, current: string): string => (current.trim() === '' ? refused : `${refused}\n${current}`);
