import type { ViewMessage } from 'stepline/ui';

/** A person or program that did something. */
export interface Author {
  readonly id: string;
  readonly kind: string;
}

/** Names an author: the id, with the kind if it is not a user. */
export const nameAuthor = ({ id, kind }: Author): string => (kind === 'user' || kind === '' ? id : `${id} (${kind})`);

/** Names who a message is from. */
export function nameSender(message: ViewMessage): string {
  if (message.role === 'user') return message.by.id === '' ? 'User' : nameAuthor(message.by);
  return message.participant ?? message.agent_id;
}
