import type { ReactElement, ReactNode } from 'react';
import type { ConnectionStatus, ViewClocks, ViewMessage, ViewWait } from 'stepline/ui';
import { useNow } from '../app/use-now.ts';
import { useOnline } from '../app/use-online.ts';
import { formatClock, formatDuration, formatShort } from '../format/format.ts';
import { describeStatus } from '../format/status.ts';

/** Facts that the line shows. */
export interface StatusFacts {
  readonly status: string;
  readonly waits: readonly ViewWait[];
  readonly clocks: ViewClocks;
  readonly tokens: number;
  readonly messages: readonly ViewMessage[];
  readonly connection: ConnectionStatus;
  /** False until the server has said what the session holds. */
  readonly isLoaded: boolean;
}

/** Time at which the run began that goes on now. */
function findStart({ clocks, messages }: StatusFacts): number {
  const started = clocks.rested_at === undefined ? clocks.started_at : undefined;
  const asked = messages.findLast(({ role }) => role === 'user')?.timestamp;
  return Date.parse(started ?? asked ?? '');
}

/** Returns the clock of a session in words; empty if there is nothing to measure. */
export function describeClock(facts: StatusFacts, now: number): string {
  const { status, clocks } = facts;
  if (status === 'in_progress') {
    const start = findStart(facts);
    return Number.isNaN(start) ? '' : formatClock(now - start);
  }
  const [start, rest] = [Date.parse(clocks.started_at ?? ''), Date.parse(clocks.rested_at ?? '')];
  if (status === 'waiting' && !Number.isNaN(rest)) return `for ${formatClock(now - rest)}`;
  return Number.isNaN(start) || Number.isNaN(rest) ? '' : `after ${formatDuration(rest - start)}`;
}

const connections: Readonly<Partial<Record<ConnectionStatus, string>>> = {
  connecting: 'Connecting…',
  waiting: 'Reconnecting…',
  refused: 'Not connected',
  closed: 'Not connected',
};

/** Says how the page is connected; undefined if everything is current. */
export const describeConnection = (connection: ConnectionStatus, isOnline: boolean): string | undefined =>
  isOnline ? connections[connection] : 'Offline';

/** Facts about a session that say who runs it. */
export interface RunFacts {
  readonly worker?: { readonly name: string; readonly silent_ms?: number };
}

/** A worker gives a sign of life twice a second. */
const longSilenceMs = 5_000;
/** Says which worker runs a session; undefined if that is not known yet. */
export function describeRunBy({ worker }: RunFacts, isLate: boolean): string | undefined {
  if (worker === undefined) return isLate ? 'no worker runs it' : undefined;
  return (worker.silent_ms ?? 0) < longSilenceMs ? `run by ${worker.name}` : `${worker.name} gives no sign of life`;
}

/** One line: what the session does, for how long, and what it has used. */
export function StatusLine({ facts, children }: { readonly facts: StatusFacts; readonly children?: ReactNode }): ReactElement {
  const { status, waits, clocks, tokens, connection, isLoaded } = facts;
  const isTicking = status === 'in_progress' || status === 'waiting';
  const now = useNow(1_000, isTicking);
  const { text, tone } = isLoaded ? describeStatus(status, waits) : ({ text: 'Not loaded', tone: 'calm' } as const);
  const clock = describeClock(facts, now);
  const connected = describeConnection(connection, useOnline());
  return (
    <div className="status-line" role="status" aria-label="Status">
      <span className={`dot ${tone}`} aria-hidden="true" />
      <span className="status-words">{text}</span>
      <span className="status-facts" aria-live="off">
        {clock !== '' && <span role="timer">{clock}</span>}
        {clocks.step_count > 0 && <span>{clocks.step_count === 1 ? '1 step' : `${formatShort(clocks.step_count)} steps`}</span>}
        {tokens > 0 && <span>{formatShort(tokens)} tokens</span>}
        {children}
      </span>
      {connected !== undefined && <span className="connection">{connected}</span>}
    </div>
  );
}
