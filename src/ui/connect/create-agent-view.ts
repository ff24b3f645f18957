// A view that stays up to date: its options, and what a page does with it.
import type { EnvelopeChannel } from '../../broadcasting/index.ts';
import type { Clock, IdSource, Random } from '../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, systemClock, systemIds, systemRandom } from '../../lib/index.ts';
import type { AgentActions } from './actions.ts';
import { createActions } from './actions.ts';
import type { PageEnvironment } from './environment.ts';
import { findEnvironment } from './environment.ts';
import { LiveView } from './live-view.ts';
import type { GetToken } from './session-api.ts';
import { SessionApi } from './session-api.ts';
import type { AgentSnapshot } from './view-holder.ts';

/** Options of createAgentView(). */
export interface AgentViewOptions {
  /** Address of the handler of sessions, without a slash at its end. @default '', the origin of the page */
  readonly url?: string;
  readonly sessionId: string;
  /** Returns the token for the `Authorization` header; asked at each request. @default none is sent */
  readonly getToken?: GetToken;
  /** Shares the connection with other tabs of this origin. Not for pages on which several people are signed in at once. @default true */
  readonly shareTabs?: boolean;
  /**
   * Listens over the channel of another server, such as `pusherChannel(echo)`. While that is out of reach, and for what it has lost, the view
   * uses the server of the session. @default everything comes from the server of the session
   */
  readonly channel?: EnvelopeChannel;
  /** @default the fetch of the page */
  readonly fetch?: typeof globalThis.fetch;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly ids?: IdSource;
  /** Services of the browser. @default those of the page */
  readonly environment?: PageEnvironment;
}

/** A view that stays up to date. */
export interface LiveAgentView extends AgentActions {
  /** The view as it is now: the same object until something changes. */
  readonly current: AgentSnapshot;
  /** Calls back at each change; returns its unsubscribe. */
  subscribe(listener: () => void): () => void;
  /** Ends the connection. The last view stays. */
  close(): void;
}

const known = ['url', 'sessionId', 'getToken', 'shareTabs', 'channel', 'fetch', 'clock', 'random', 'ids', 'environment'];

/** Opens the view of a session, and keeps it up to date until it is closed. */
export function createAgentView(options: AgentViewOptions): LiveAgentView {
  checkKeys('createAgentView()', options, known);
  const { url = '', sessionId, getToken, channel, shareTabs = true, clock = systemClock, random = systemRandom, ids = systemIds } = options;
  if (typeof sessionId !== 'string' || sessionId === '')
    throw new InvalidArgumentError(`createAgentView() needs the id of a session, not ${describeValue(sessionId)}.`);
  const fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  const environment = options.environment ?? findEnvironment();
  const api = new SessionApi({ url: url.replace(/\/$/, ''), sessionId, getToken, fetch });
  const live = new LiveView({ api, channel, clock, random, environment, shareTabs, sessionId, name: `stepline ${url} ${sessionId}` });
  return {
    ...createActions(api, { ids, clock }),
    get current() {
      return live.current;
    },
    subscribe: (listener) => live.subscribe(listener),
    close: () => live.close(),
  };
}
