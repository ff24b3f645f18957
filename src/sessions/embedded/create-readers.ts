// Methods that read sessions, whoever runs them.
import { readActions, readEntriesFrom, readStored } from '../core/entries.ts';
import { toMailedActions } from '../core/mail.ts';
import { parseEventsOptions, parseFeedOptions, parseOpenStepOptions, parseQuery, parseText } from '../core/parse-input.ts';
import type { Session } from '../core/session.ts';
import { toSummary } from '../core/session.ts';
import type { SessionRuntime } from '../core/session-runtime.ts';
import { followFeed } from '../feed/follow-feed.ts';
import { followEvents } from './follow-events.ts';
import { followOpenStep } from './follow-open-step.ts';
import { listWaits } from './list-waits.ts';
import type { MailClient } from './mail-client.ts';
import type { SessionHost } from './session-host.ts';

/** Filters that waits() takes. */
const waitFilters = ['tenant', 'owner', 'agentName', 'tag', 'limit', 'cursor'];

type ReadMethod = 'get' | 'list' | 'waits' | 'actions' | 'events' | 'feed' | 'openStep';

export function createReaders(host: SessionHost, client: MailClient): Pick<SessionRuntime, ReadMethod> {
  const { store, watcher, closing } = host;
  const get = async (given: string): Promise<Session> => {
    const sessionId = parseText(given, 'A session id');
    try {
      const session = (await host.view(sessionId)) ?? (await client.view(sessionId));
      const worker = session.status === 'in_progress' ? await host.findWorker(sessionId) : undefined;
      // Like the state, it is not listed: whoever sends the session to a page does not tell which machine runs it.
      return Object.defineProperty(session, 'worker', { value: worker, enumerable: false });
    } catch (error) {
      if (!host.isClient) await host.noteDamage(sessionId, error);
      throw error;
    }
  };
  return {
    get,
    list: async (query = {}) => {
      const { sessions, cursor } = await store.heads.list(parseQuery(query));
      return { sessions: sessions.map(toSummary), ...(cursor !== undefined && { cursor }) };
    },
    waits: async (query = {}) => {
      return listWaits({ store, get }, parseQuery(query, { method: 'waits', known: waitFilters }));
    },
    actions: async (sessionId) => {
      // Read before the log: an action that is taken meanwhile is then in both, not in neither.
      const mails = await store.inbox.read({ sessionId: parseText(sessionId, 'A session id') });
      const { id } = await get(sessionId);
      const entries = await readEntriesFrom(store, id, 1);
      const logged = readStored(id, () => readActions(entries));
      const known = new Set(logged.map(({ requestId }) => requestId));
      return [...logged, ...toMailedActions(mails).filter(({ requestId }) => !known.has(requestId))];
    },
    events: (sessionId, options = {}) =>
      followEvents(host, { ...parseEventsOptions(options), sessionId: parseText(sessionId, 'A session id') }),
    feed: (options = {}) => {
      const follow = (call: () => void): (() => void) => watcher.follow(undefined, call);
      return followFeed({ reader: host.feedReader, follow, closing }, parseFeedOptions(options));
    },
    openStep: (sessionId, options = {}) =>
      followOpenStep(host, { ...parseOpenStepOptions(options), sessionId: parseText(sessionId, 'A session id') }),
  };
}
