import type { ReactElement } from 'react';
import { Icon } from '../app/icons.tsx';
import { Link } from '../app/routing.tsx';
import { useNow } from '../app/use-now.ts';
import type { Polled } from '../app/use-polling.ts';
import { formatAge, formatTime } from '../format/format.ts';
import { describeWait, nameLimit } from '../format/status.ts';
import { toPlainSummary } from '../format/summary.ts';
import type { ListedWait } from './session-types.ts';
import { useTitle } from './use-title.ts';

function InboxItem({ wait, now }: { readonly wait: ListedWait; readonly now: number }): ReactElement {
  const { session_id, agent, tool, limit, summary, since, expires_at } = wait;
  const title = useTitle(session_id);
  return (
    <li>
      <Link to={{ type: 'session', sessionId: session_id }} className="inbox-item">
        <span className="inbox-head">
          <Icon name="pause" />
          <strong>{tool ?? (limit === undefined ? describeWait(wait) : `More ${nameLimit(wait)}`)}</strong>
          <span className="inbox-age">{formatAge(since, now)}</span>
        </span>
        {summary !== undefined && summary !== '' && <span className="inbox-summary">{toPlainSummary(summary)}</span>}
        <span className="note">
          {describeWait(wait)} · {agent}
          {title !== undefined && ` · ${title}`}
          {expires_at !== undefined && ` · expires ${formatTime(expires_at, now)}`}
        </span>
      </Link>
    </li>
  );
}

/** Everything that waits for somebody, oldest first. */
export function Inbox({ inbox }: { readonly inbox: Polled<readonly ListedWait[]> }): ReactElement {
  const now = useNow(20_000);
  const { value: waits, error } = inbox;
  return (
    <div className="page-scroller">
      <div className="column inbox">
        <h1>Inbox</h1>
        <p className="lead">What agents wait for: approvals, answers, and more room under a limit.</p>
        {error !== '' && (
          <p className="form-error" role="alert">
            {error} Trying again…
          </p>
        )}
        {waits === undefined && error === '' && <p className="note">Loading…</p>}
        {waits?.length === 0 && (
          <div className="empty">
            <Icon name="check" />
            <h2>Nothing waits for you</h2>
            <p>When an agent needs an approval or an answer, it is listed here, whichever session it belongs to.</p>
          </div>
        )}
        <ul className="inbox-list">
          {waits?.map((wait) => (
            <InboxItem key={`${wait.session_id} ${wait.wait_id}`} wait={wait} now={now} />
          ))}
        </ul>
      </div>
    </div>
  );
}
