import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { AgentActions, AgentSnapshot, AgentView, AgentViewOptions } from '../index.ts';
import { LazyAgentView } from './lazy-view.ts';

/** A session as a component sees it: its view, its connection, and what a person can do. */
export interface UseAgentResult
  extends Omit<AgentView, 'session_id'>, AgentActions, Pick<AgentSnapshot, 'connection' | 'source' | 'error'> {
  readonly view: AgentView;
}

/** Adds the parts of a view as fields that are computed when they are read. */
function toResult({ view, connection, source, error }: AgentSnapshot, actions: AgentActions): UseAgentResult {
  return {
    ...actions,
    view,
    connection,
    ...(source !== undefined && { source }),
    error,
    get messages() {
      return view.messages;
    },
    get status() {
      return view.status;
    },
    get waits() {
      return view.waits;
    },
    get usage() {
      return view.usage;
    },
    get clocks() {
      return view.clocks;
    },
    get why() {
      return view.why;
    },
    get gaps() {
      return view.gaps;
    },
    get known_seq() {
      return view.known_seq;
    },
  };
}

/**
 * Follows a session while the component is mounted. Another url or session id opens another view; other options count when a view is
 * opened, but `getToken` is always the last one. A server renders a view of which nothing is known, and asks for nothing.
 */
export function useAgent(options: AgentViewOptions): UseAgentResult {
  const { url, sessionId } = options;
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const lazy = useMemo(() => {
    const getToken = (): ReturnType<NonNullable<AgentViewOptions['getToken']>> => latest.current.getToken?.();
    // The options of this render: those of the one before may be about another session.
    return new LazyAgentView({ ...options, getToken });
  }, [url, sessionId]);
  const snapshot = useSyncExternalStore(lazy.subscribe, lazy.getCurrent, lazy.getInitial);
  return useMemo(() => toResult(snapshot, lazy.actions), [snapshot, lazy]);
}
