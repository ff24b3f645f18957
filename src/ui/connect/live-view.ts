// The view of one session in one page.
// Owns:     everything that keeps the view current: a connection, the repair of gaps, and what other tabs pass on.
// Does not: know a framework: listeners are called, and read what they need.
// F1. What another tab passes on is shown only after the server has shown this tab the session.
// F2. If the server refuses this tab for good, it asks again only when the page wakes up.
// F3. If the server says that this page has read another log, of a store that was put back for example, the view starts again from nothing.
import type { Envelope, EnvelopeChannel } from '../../broadcasting/index.ts';
import type { Clock, Random } from '../../lib/index.ts';
import type { AgentView } from '../agent-view.ts';
import { createView, getNewestSeq, getState } from '../agent-view.ts';
import { reduceAll } from '../reduce.ts';
import { ChannelConnection } from './channel-connection.ts';
import type { PageEnvironment } from './environment.ts';
import { onWake } from './environment.ts';
import type { ConnectionStatus, LiveConnectionOptions } from './live-connection.ts';
import { LiveConnection } from './live-connection.ts';
import { GapRepair } from './repair-gaps.ts';
import { RequestFailedError } from './request-failed-error.ts';
import type { SessionApi } from './session-api.ts';
import { isTemporary } from './session-api.ts';
import { SharedTabs } from './shared-tabs.ts';
import type { AgentSnapshot } from './view-holder.ts';
import { ViewHolder } from './view-holder.ts';

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

  clear(): void {
    this.#envelopes = [];
  }
}

const isRestart = (envelope: Envelope): boolean => envelope.event === 'agent.head' && envelope.data['restart'] === true;

/** Services of a view. */
export interface LiveServices {
  readonly api: SessionApi;
  readonly channel: EnvelopeChannel | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: PageEnvironment;
  readonly shareTabs: boolean;
  /** Name of what tabs share. */
  readonly name: string;
  readonly sessionId: string;
}

/** Time after which a tab that follows another asks the server again. */
const retryMs = 5_000;

const isSignedOut = (error: unknown): boolean => error instanceof RequestFailedError && error.status === 401;

export class LiveView {
  readonly #services: LiveServices;
  readonly #holder: ViewHolder;
  readonly #buffer = new OpenBuffer();
  readonly #repair: GapRepair;
  readonly #tabs: SharedTabs;
  readonly #unwake: () => void;
  readonly #leaving = new AbortController();
  #connection: LiveConnection | ChannelConnection | undefined;
  /** True if the server has shown this tab the session. */
  #isAllowed = false;
  /** True if the server did not know this tab's person the last time. */
  #isSignedOut = false;
  #hasYielded = false;
  #cancelTimer: () => void = () => undefined;

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
      onEnvelopes: (envelopes) => {
        if (this.#isAllowed) this.#take(envelopes);
      },
      onLead: () => this.#connect(),
      onFollow: () => this.#follow(),
      onSign: (isLive) => {
        if (this.#isAllowed) holder.change({ connection: isLive ? 'shared' : 'waiting' });
      },
      getOpen: () => this.#buffer.read(),
    });
    this.#unwake = onWake(environment, () => this.#wake());
    this.#tabs.start();
  }

  get current(): AgentSnapshot {
    return this.#holder.current;
  }

  subscribe(listener: () => void): () => void {
    return this.#holder.subscribe(listener);
  }

  close(): void {
    this.#leaving.abort();
    this.#cancelTimer();
    this.#unwake();
    this.#repair.close();
    this.#tabs.close();
    this.#holder.change({ connection: 'closed' });
  }

  #take(received: readonly Envelope[]): void {
    const restart = received.findLastIndex(isRestart);
    const envelopes = received.slice(Math.max(restart, 0));
    if (restart !== -1) this.#buffer.clear();
    const view = reduceAll(restart === -1 ? this.#holder.view : createView(this.#services.sessionId), envelopes);
    this.#buffer.add(envelopes, view);
    this.#holder.change({ view });
    this.#repair.check();
  }

  #wake(): void {
    this.#connection?.wake();
    this.#tabs.stepUp();
    this.#tabs.hello();
    this.#repair.wake();
    if (!this.#tabs.isLeading && !this.#isAllowed) void this.#join();
  }

  #fillText(): void {
    this.#tabs.hello();
    if (this.#connection instanceof ChannelConnection) this.#connection.fillText();
  }

  /** Connects, because no other tab does. */
  #connect(): () => void {
    this.#cancelTimer();
    const { api, clock, random } = this.#services;
    const connection = this.#openConnection({
      api,
      clock,
      random,
      getAfter: () => getNewestSeq(this.#holder.view),
      onEnvelopes: (envelopes) => {
        this.#tabs.pass(envelopes);
        this.#take(envelopes);
      },
      onStatus: (status, error) => this.#note(status, error),
    });
    this.#connection = connection;
    return () => {
      connection.close();
      this.#connection = undefined;
    };
  }

  #openConnection(options: LiveConnectionOptions): LiveConnection | ChannelConnection {
    const { channel, sessionId } = this.#services;
    if (channel === undefined) return new LiveConnection(options);
    const hasText = (): boolean => this.#holder.view.gaps.every(({ type }) => type !== 'text');
    return new ChannelConnection({ ...options, channel, sessionId, hasText, onSource: (source) => this.#holder.change({ source }) });
  }

  /** Notes how this tab is connected. If the server refuses it, another tab may be allowed. */
  #note(status: ConnectionStatus, error: unknown): void {
    this.#holder.change({ connection: status, error });
    this.#tabs.sign(status === 'live' || status === 'polling');
    if (status === 'live') [this.#isAllowed, this.#isSignedOut, this.#hasYielded] = [true, false, false];
    if (status === 'refused') {
      this.#isAllowed = false;
      this.#tabs.stepDown();
    } else if (isSignedOut(error)) this.#yield();
  }

  /** Lets another tab try after a new token was refused too; once, for it may be no better off. */
  #yield(): void {
    const isAgain = this.#isSignedOut && !this.#hasYielded;
    this.#isSignedOut = true;
    if (!isAgain) return;
    this.#hasYielded = true;
    this.#tabs.stepDown();
    this.#tabs.stepUp();
  }

  #follow(): void {
    this.#holder.change({ connection: 'connecting' });
    this.#isAllowed = false;
    void this.#join();
  }

  /** Fetches what was stored before this tab joined; the rest comes from the tab that connects. */
  async #join(): Promise<void> {
    this.#cancelTimer();
    const { api, clock } = this.#services;
    const { signal } = this.#leaving;
    try {
      const { envelopes } = await api.readNewest(getNewestSeq(this.#holder.view), signal);
      if (signal.aborted || this.#tabs.isLeading) return;
      this.#isAllowed = true;
      this.#holder.change({ connection: 'shared' });
      this.#take(envelopes);
      this.#tabs.hello();
    } catch (error) {
      if (signal.aborted || this.#tabs.isLeading) return;
      if (isTemporary(error)) this.#cancelTimer = clock.schedule(retryMs, () => void this.#join());
      this.#holder.change({ connection: isTemporary(error) ? 'waiting' : 'refused', error });
    }
  }
}
