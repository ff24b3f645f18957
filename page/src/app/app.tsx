import type { ReactElement } from 'react';
import { useCallback, useRef, useState } from 'react';
import { moveDraft } from '../conversation/drafts.ts';
import { keepSent } from '../conversation/sent-messages.ts';
import { SessionPage } from '../conversation/session-page.tsx';
import { config } from '../config.ts';
import { Inbox } from '../sessions/inbox.tsx';
import { SessionNav } from '../sessions/session-nav.tsx';
import { useInbox, useSessionList } from '../sessions/use-lists.ts';
import { TourCard } from '../tour/tour-card.tsx';
import { useTour } from '../tour/use-tour.ts';
import { createRequestId } from './create-request-id.ts';
import { Home, homeDraft } from './home.tsx';
import { Icon } from './icons.tsx';
import { Link, navigate, useRoute } from './routing.tsx';
import { postJson } from './server.ts';

/** Creates a session; returns its id. */
async function createSession(): Promise<string> {
  const body = (await postJson(`${config.api}/sessions`, { request_id: createRequestId() })) as { readonly session_id?: string };
  if (typeof body.session_id !== 'string') throw new Error('The server did not say which session it created.');
  return body.session_id;
}

/** The whole page. */
export function App(): ReactElement {
  const route = useRoute();
  const list = useSessionList();
  const inbox = useInbox();
  const [created, setCreated] = useState<string>();
  const [homeCount, setHomeCount] = useState(0);
  const unused = useRef<string>(undefined);
  const [isWhyOpen, setWhyOpen] = useState(false);
  const openWhy = useCallback(() => setWhyOpen(true), []);
  const tour = useTour(openWhy);
  const { refresh: refreshSessions } = list;
  const { refresh: refreshInbox } = inbox;
  const refresh = useCallback(() => {
    refreshSessions();
    refreshInbox();
  }, [refreshSessions, refreshInbox]);
  const onTour = config.tour === undefined ? undefined : tour.start;
  // The first message creates the session: one that nobody writes in is not stored.
  const onCreate = (): void => {
    navigate({ type: 'home' });
    setHomeCount((count) => count + 1);
  };
  const startWith = async (text: string): Promise<void> => {
    // One whose first message was refused is used for the next try.
    const sessionId = (unused.current ??= await createSession());
    const requestId = createRequestId();
    await postJson(`${config.api}/sessions/${encodeURIComponent(sessionId)}/messages`, { text, request_id: requestId });
    unused.current = undefined;
    keepSent(sessionId, [{ text, requestId, before: 0 }]);
    setCreated(sessionId);
    moveDraft(text, { from: homeDraft, to: sessionId });
    navigate({ type: 'session', sessionId });
    list.refresh();
  };
  return (
    <div className={`app on-${route.type}`}>
      <a className="skip-link" href="#main">
        Skip to the conversation
      </a>
      <SessionNav route={route} list={list} waitCount={inbox.value?.length ?? 0} onCreate={onCreate} onTour={onTour} />
      {route.type === 'session' && (
        <SessionPage
          key={route.sessionId}
          sessionId={route.sessionId}
          agentName={list.value?.find(({ session_id }) => session_id === route.sessionId)?.agent.id}
          onChange={refresh}
          isWhyOpen={isWhyOpen}
          setWhyOpen={setWhyOpen}
          isNew={created === route.sessionId}
        />
      )}
      {route.type === 'inbox' && (
        <main className="session" id="main" tabIndex={-1}>
          <div className="session-header only-narrow">
            <Link to={{ type: 'home' }} className="icon-button back" label="All sessions">
              <Icon name="back" />
            </Link>
          </div>
          <Inbox inbox={inbox} />
        </main>
      )}
      {route.type === 'home' && (
        <Home key={homeCount} takesFocus={homeCount > 0} hasSessions={(list.value?.length ?? 0) > 0} send={startWith} onTour={onTour} />
      )}
      <TourCard tour={tour} />
    </div>
  );
}
