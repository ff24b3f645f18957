// The session of a chat.
// I1. A chat is found by its tag. Of several sessions the newest counts: an edit or a regenerated answer has made another one.
// I2. Sessions that the caller has begun or forked, and forks of them, come before all others, and those that the caller may not see are
//     passed over: nobody can take a chat away by using its id, however often.
import { sha256 } from '../../../lib/index.ts';
import type { Actor, Session } from '../../../sessions/index.ts';
import type { Caller } from '../../http/index.ts';
import type { ChatServices } from './chat-options.ts';

/** Returns the tag of the sessions of a chat, whoever began it. */
const toSharedTag = (chatId: string): string => `chat/${chatId}`;

/** Returns the tag of the sessions of a chat that somebody began or forked. It is the id of the first of them. */
export const toOwnTag = (chatId: string, { kind, id }: Actor): string => `chat-${sha256(JSON.stringify([kind, id, chatId])).slice(0, 32)}`;

/** Returns the tags of a session that somebody begins or forks. */
export const toChatTags = (chatId: string, by: Actor): readonly string[] => [toSharedTag(chatId), toOwnTag(chatId, by)];

/** Finds the newest session with a tag that the caller may see. */
async function findNewest({ runtime, gate }: ChatServices, caller: Caller, tag: string): Promise<Session | undefined> {
  // The first is nearly always the one.
  for (let [cursor, limit]: [string | undefined, number] = [undefined, 1]; ; limit = 100) {
    const page = await runtime.list({ tag, limit, ...(cursor !== undefined && { cursor }) });
    for (const session of page.sessions)
      if (!('damage' in session) && (await gate.isVisible(caller, session))) return runtime.get(session.id);
    ({ cursor } = page);
    if (cursor === undefined) return undefined;
  }
}

/** Finds the session of a chat: the caller's own, or else one of somebody else that the caller may see. */
export async function findChat(services: ChatServices, caller: Caller, chatId: string): Promise<Session | undefined> {
  const own = await findNewest(services, caller, toOwnTag(chatId, caller.by));
  return own ?? findNewest(services, caller, toSharedTag(chatId));
}
