import type { ReactElement } from 'react';
import { Icon } from '../app/icons.tsx';
import type { Route } from '../app/route.ts';
import { Link } from '../app/routing.tsx';
import { ThemeButton } from '../app/theme.tsx';
import { useNow } from '../app/use-now.ts';
import { config } from '../config.ts';
import { formatShortAge } from '../format/format.ts';
import { describeStatus } from '../format/status.ts';
import type { ListedSession } from './session-types.ts';
import type { SessionList } from './use-lists.ts';
import { useTitle } from './use-title.ts';

function SessionLink({
  session,
  isCurrent,
  now,
}: {
  readonly session: ListedSession;
  readonly isCurrent: boolean;
  readonly now: number;
}): ReactElement {
  const { session_id, agent, status, stop_reason, waiting_for, updated_at } = session;
  const title = useTitle(session_id, session);
  const { text, tone } = describeStatus(status, waiting_for, stop_reason);
  return (
    <li>
      <Link to={{ type: 'session', sessionId: session_id }} isCurrent={isCurrent} className="session-link">
        <span className={`dot ${tone}`} aria-hidden="true" />
        <span className="session-title">{title ?? (status === 'pending' ? 'New session' : `Session of ${agent.id}`)}</span>
        <span className="session-facts">
          <span className={`session-status ${tone}`}>{text}</span>
          <span>{formatShortAge(updated_at, now)}</span>
        </span>
      </Link>
    </li>
  );
}

interface SessionNavProps {
  readonly route: Route;
  readonly list: SessionList;
  readonly waitCount: number;
  readonly onCreate: () => void;
  readonly onTour: (() => void) | undefined;
}

/** The sessions, the inbox, and ways to start. */
export function SessionNav({ route, list, waitCount, onCreate, onTour }: SessionNavProps): ReactElement {
  const now = useNow(20_000);
  const sessions = list.value;
  return (
    <nav className="sessions" aria-label="Sessions">
      <div className="brand">
        <Link to={{ type: 'home' }} className="brand-link">
          <svg className="logo" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M7 22.5h6v-6h6v-6h6" />
          </svg>
          {config.title}
        </Link>
        <ThemeButton />
      </div>
      <div className="nav-actions">
        <button type="button" className="button primary wide" onClick={onCreate}>
          <Icon name="plus" />
          New session
        </button>
        <Link to={{ type: 'inbox' }} isCurrent={route.type === 'inbox'} className="nav-link">
          <Icon name="inbox" />
          Inbox
          {waitCount > 0 && (
            <span className="count" aria-hidden="true">
              {waitCount}
            </span>
          )}
        </Link>
        {onTour !== undefined && (
          <button type="button" className="nav-link" onClick={onTour}>
            <Icon name="flag" />
            Take the tour
          </button>
        )}
      </div>
      {list.error !== '' && (
        <p className="nav-note" role="status">
          {list.error} Trying again…
        </p>
      )}
      {sessions === undefined && list.error === '' && <p className="nav-note">Loading sessions…</p>}
      {sessions?.length === 0 && <p className="nav-note">No sessions yet. Start one, and it will be listed here.</p>}
      <ul className="session-list">
        {sessions?.map((session) => (
          <SessionLink
            key={session.session_id}
            session={session}
            now={now}
            isCurrent={route.type === 'session' && route.sessionId === session.session_id}
          />
        ))}
        {list.showMore !== undefined && (
          <li>
            <button type="button" className="nav-link" onClick={list.showMore}>
              Show more
            </button>
          </li>
        )}
      </ul>
    </nav>
  );
}
