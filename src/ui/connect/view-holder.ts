import { omitUndefined } from '../../lib/index.ts';
import type { AgentView } from '../agent-view.ts';
import { createView } from '../agent-view.ts';
import type { ConnectionSource } from './channel-connection.ts';
import type { ConnectionStatus } from './live-connection.ts';

/** A view, and how it is connected. */
export interface AgentSnapshot {
  readonly view: AgentView;
  /** `live` if everything is current; `shared` if another tab connects. */
  readonly connection: ConnectionStatus;
  /** Way on which envelopes come: `channel` while the one that was given delivers. Absent if none was given. */
  readonly source?: ConnectionSource;
  /** Reason why the last connection ended, or why something could not be fetched. */
  readonly error?: unknown;
}

/** Keeps the last view and who listens. */
export class ViewHolder {
  readonly #listeners = new Set<() => void>();
  current: AgentSnapshot;

  constructor(sessionId: string) {
    this.current = { view: createView(sessionId), connection: 'connecting' };
  }

  get view(): AgentView {
    return this.current.view;
  }

  /** Notes another view, or another state of the connection with the error that led to it. */
  change({ view = this.view, connection, error, source = this.current.source }: Partial<AgentSnapshot>): void {
    const before = this.current;
    const next = { view, connection: connection ?? before.connection, error: connection === undefined ? before.error : error, source };
    const isSame = next.view === before.view && next.connection === before.connection && next.error === before.error;
    if (isSame && source === before.source) return;
    this.current = omitUndefined(next);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Notes an error that leaves the connection as it is. */
  report(error: unknown): void {
    this.change({ connection: this.current.connection, error });
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
