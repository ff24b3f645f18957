// A view that stays up to date.
// Owns:     the view of one session in one page, and everything that keeps it current.
// Does not: know a framework: listeners are called, and read what they need.
import type { Envelope, EnvelopeChannel } from '../../broadcasting/index.ts';
import type { Clock, IdSource, Random } from '../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, omitUndefined, systemClock, systemIds, systemRandom } from '../../lib/index.ts';
import type { AgentView } from '../agent-view.ts';
import { createView, getState } from '../agent-view.ts';
import { reduceAll } from '../reduce.ts';
import type { AgentActions } from './actions.ts';
import { createActions } from './actions.ts';
import type { ConnectionSource } from './channel-connection.ts';
import { ChannelConnection } from './channel-connection.ts';
import type { PageEnvironment } from './environment.ts';
import { findEnvironment, onWake } from './environment.ts';
import type { ConnectionStatus, LiveConnectionOptions } from './live-connection.ts';
import { LiveConnection } from './live-connection.ts';
import { GapRepair } from './repair-gaps.ts';
import type { GetToken } from './session-api.ts';
import { SessionApi } from './session-api.ts';
import { SharedTabs } from './shared-tabs.ts';

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

/** A view, and how it is connected. */
export interface AgentSnapshot {
  readonly view: AgentView;
  /** `live` if everything is current; `shared` if another tab connects. */
  readonly connection: ConnectionStatus;
  /** Way on which envelopes come: `channel` while the one that was given delivers. Absent if none was given. */
  readonly source?: ConnectionSource;
  /** Reason why the last connection ended. */
  readonly error?: unknown;
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

/** Keeps the last view and who listens. */
class ViewHolder {
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

/** Envelopes that are not stored yet, as they came, for tabs that join. */
class OpenBuffer {
  #envelopes: Envelope[] = [];

  add(envelopes: readonly Envelope[], view: AgentView): void {
    this.#envelopes.push(...envelopes.filter((envelope) => !('seq' in envelope) && envelope.event !== 'agent.head'));
    const { items, texts } = getState(view).open;
    if (items.size + texts.size === 0) this.#envelopes = [];
  }

  read(): readonly Envelope[] {
    return [...this.#envelopes];
  }
}

/** Services of a view that were checked. */
interface LiveServices extends Required<Pick<AgentViewOptions, 'clock' | 'random' | 'environment' | 'shareTabs'>> {
  readonly api: SessionApi;
  readonly channel: EnvelopeChannel | undefined;
  /** Name of what tabs share. */
  readonly name: string;
  readonly sessionId: string;
}

class LiveView {
  readonly #services: LiveServices;
  readonly #holder: ViewHolder;
  readonly #buffer = new OpenBuffer();
  readonly #repair: GapRepair;
  readonly #tabs: SharedTabs;
  readonly #unwake: () => void;
  readonly #leaving = new AbortController();
  #connection: LiveConnection | ChannelConnection | undefined;

  constructor(services: LiveServices) {
    this.#services = services;
    const { api, clock, environment, shareTabs, name } = services;
    const holder = new ViewHolder(services.sessionId);
    this.#holder = holder;
    this.#repair = new GapRepair({
      api,
      clock,
      getView: () => holder.view,
      setView: (view) => holder.change({ view }),
      onTextGap: () => this.#fillText(),
      onProblem: (error) => holder.report(error),
    });
    this.#tabs = new SharedTabs({
      environment: shareTabs ? environment : {},
      name,
      clock,
      onEnvelopes: (envelopes) => this.#take(envelopes),
      onLead: () => this.#connect(),
      onFollow: () => this.#follow(),
      getOpen: () => this.#buffer.read(),
    });
    this.#unwake = onWake(environment, () => this.#wake());
  }

  get current(): AgentSnapshot {
    return this.#holder.current;
  }

  subscribe(listener: () => void): () => void {
    return this.#holder.subscribe(listener);
  }

  close(): void {
    this.#leaving.abort();
    this.#unwake();
    this.#repair.close();
    this.#tabs.close();
    this.#holder.change({ connection: 'closed' });
  }

  #take(envelopes: readonly Envelope[]): void {
    const view = reduceAll(this.#holder.view, envelopes);
    this.#buffer.add(envelopes, view);
    this.#holder.change({ view });
    this.#repair.check();
  }

  #wake(): void {
    this.#connection?.wake();
    this.#tabs.hello();
    this.#repair.check();
  }

  #fillText(): void {
    this.#tabs.hello();
    if (this.#connection instanceof ChannelConnection) this.#connection.fillText();
  }

  /** Connects, because no other tab does. */
  #connect(): () => void {
    const { api, clock, random, channel, sessionId } = this.#services;
    const options: LiveConnectionOptions = {
      api,
      clock,
      random,
      getAfter: () => this.#holder.view.known_seq,
      onEnvelopes: (envelopes) => {
        this.#tabs.pass(envelopes);
        this.#take(envelopes);
      },
      onStatus: (status, error) => this.#holder.change({ connection: status, error }),
    };
    const isWhole = (): boolean => this.#holder.view.gaps.length === 0;
    const onSource = (source: ConnectionSource): void => this.#holder.change({ source });
    const connection =
      channel === undefined ? new LiveConnection(options) : new ChannelConnection({ ...options, channel, sessionId, isWhole, onSource });
    this.#connection = connection;
    return () => {
      connection.close();
      this.#connection = undefined;
    };
  }

  /** Fetches what was stored before this tab joined; the rest comes from the tab that connects. */
  #follow(): void {
    this.#holder.change({ connection: 'shared' });
    this.#catchUp().catch((error: unknown) => this.#holder.report(error));
  }

  async #catchUp(): Promise<void> {
    for (let after = this.#holder.view.known_seq; ;) {
      const page = await this.#services.api.readPage(after, this.#leaving.signal);
      this.#take(page.envelopes);
      if (page.after <= after) return;
      after = page.after;
    }
  }
}

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
    ...createActions(api, ids),
    get current() {
      return live.current;
    },
    subscribe: (listener) => live.subscribe(listener),
    close: () => live.close(),
  };
}
