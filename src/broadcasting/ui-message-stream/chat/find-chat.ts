// The session of a chat.
// I1. A chat is found by its tag. Of several sessions the newest counts: an edit or a regenerated answer has made another one.
// I2. Sessions that the caller may not see are passed over, so that nobody can take a chat away by using its id.
import type { Session } from '../../../sessions/index.ts';
import type { ChatServices } from './chat-options.ts';

/** Returns the tag of the sessions of a chat. */
export const toChatTag = (chatId: string): string => `chat/${chatId}`;

/** Sessions of one chat that are looked through. */
const mostSessions = 100;

/** Finds the newest session of a chat that the caller may see. */
export async function findChat({ runtime, gate }: ChatServices, request: Request, chatId: string): Promise<Session | undefined> {
  // The first is nearly always the one.
  for (let [cursor, seen, limit]: [string | undefined, number, number] = [undefined, 0, 1]; seen < mostSessions; limit = 20) {
    const page = await runtime.list({ tag: toChatTag(chatId), limit, ...(cursor !== undefined && { cursor }) });
    for (const session of page.sessions)
      if (!('damage' in session) && (await gate.isVisible(request, session))) return runtime.get(session.id);
    ({ cursor } = page);
    seen += page.sessions.length;
    if (cursor === undefined) return undefined;
  }
  return undefined;
}
