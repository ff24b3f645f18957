import type { ViewMessage } from 'stepline/ui';

/** A person or program that did something. */
export interface Author {
  readonly id: string;
  readonly kind: string;
}

/** Names an author: the id, with the kind if it is not a user. */
export const nameAuthor = ({ id, kind }: Author): string => (kind === 'user' || kind === '' ? id : `${id} (${kind})`);

/** Names who a message is from. The ids of agents are for programs, so that one whose name is not known yet has that of the session's agent. */
export function nameSender(message: ViewMessage, agentName = 'Agent'): string {
  if (message.role === 'user') return message.by.id === '' ? 'User' : nameAuthor(message.by);
  const name = message.role === 'assistant' ? message.by?.id : undefined;
  return message.participant ?? name ?? (message.parent_agent_id === undefined ? agentName : 'Sub-agent');
}

/** True if a message continues what came before it, so that its author need not be named again. */
export function isContinuation(message: ViewMessage, before: ViewMessage | undefined): boolean {
  if (before === undefined || before.role === 'user' || message.role === 'user') return false;
  return before.agent_id === message.agent_id || before.parent_agent_id === message.agent_id;
}
