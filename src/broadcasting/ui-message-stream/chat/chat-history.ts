// The messages of a session, for a page that opens it.
import type { Session, StoredEvent, StoredEventOf } from '../../../sessions/index.ts';
import { AnswerMapper } from '../answer-mapper.ts';
import type { AgentUIMessage } from '../answer-types.ts';
import { toUserParts } from '../convert/user-parts.ts';
import { isRoot } from '../event-fields.ts';
import { foldChunks } from '../fold-chunks.ts';
import { toAnswerPlace } from './answer-places.ts';
import type { ChatServices } from './chat-options.ts';
import { explainAnswer } from './explain-answer.ts';
import { createMessageFinder } from './follow-answer.ts';

/** A message, and the events up to the next one. */
interface Exchange {
  readonly message: StoredEventOf<'UserMessageReceived'>;
  readonly rest: StoredEvent[];
}

function toAnswer({ redactor }: ChatServices, session: Session, { message, rest }: Exchange): readonly AgentUIMessage[] {
  const mapper = new AnswerMapper({ redactor, findMessage: createMessageFinder(session) });
  const end = rest.findLast((event) => isRoot(event) && (event.type === 'AgentFinished' || event.type === 'AgentExecutionStarted'));
  const outcome = end?.type === 'AgentFinished' ? explainAnswer(session, end, redactor) : undefined;
  const { id } = toAnswerPlace(message);
  const started = mapper.start(id, { sessionId: session.id });
  const chunks = [...started, ...mapper.takeStored(rest), ...mapper.finish(outcome, { sessionId: session.id })];
  const folded = foldChunks(chunks);
  // A message that nothing was answered to yet.
  return folded.parts.length === 0 ? [] : [folded];
}

/** Lists the messages of a session as a page shows them: stored ones only. */
export async function listMessages(services: ChatServices, session: Session): Promise<readonly AgentUIMessage[]> {
  const exchanges: Exchange[] = [];
  for await (const event of services.runtime.events(session.id)) {
    if (event.type === 'UserMessageReceived') exchanges.push({ message: event, rest: [] });
    else exchanges.at(-1)?.rest.push(event);
  }
  return exchanges.flatMap((exchange): readonly AgentUIMessage[] => {
    const { message } = exchange;
    const user: AgentUIMessage = { id: message.messageId, role: 'user', parts: toUserParts(message, services.redactor) };
    return [user, ...toAnswer(services, session, exchange)];
  });
}
