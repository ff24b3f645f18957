// This process among the workers of a store.
// Owns:     joining, signs of life, judging whether another worker is gone, and claiming sessions.
// Does not: load or run a session, or keep a worker from writing that was wrongly taken for gone: the fence of each session does.
// Worker-1. Silence is judged late, a death at once: a process that has certainly ended, or whose connection the store has seen end.
// Worker-2. Only a worker whose own signs of life never stopped for as long may judge the silence of others: after an outage of the store,
//           everybody has been silent.
// Worker-3. A worker that was taken for gone joins again under another id, and takes back what was counted against it.
// Worker-4. A session that cannot be worked on here is given back, and left alone for a while: nothing is claimed in a loop.
import type { Clock } from '../../lib/index.ts';
import { isProcessGone, omitUndefined, readProcessIdentity, systemIds } from '../../lib/index.ts';
import type { Agents } from '../core/agents.ts';
import { storedFormat } from '../core/entries.ts';
import { isStoreClosed } from '../core/errors.ts';
import type { ClaimedSession, SessionStore, StoredWorker, WorkerInfo } from '../store/session-store.ts';
import type { StoreWatcher } from './store-watcher.ts';

/** Time between two signs of life. */
const beatMs = 500;

/** Time without a sign of life after which a worker counts as gone whose connection has ended. */
const lostMs = 3 * beatMs;

/** Time after which a worker counts as gone by its silence alone, unless a runtime has its own. */
export const defaultSilenceMs = 15_000;

/** Longest time without a claim. */
const lookMs = 1000;

/** Time between two searches for sessions of workers that nobody knows any more. */
const orphansEveryMs = 10_000;

/** Time for which a worker that has left counts beside the others: the limits of models are per minute. */
const rememberedMs = 60_000;

/** Time that a refusal is kept for whoever asked, and time between two looks for older ones. */
const keepRepliesMs = 24 * 3_600_000;
const pruneEveryMs = 3_600_000;

/** Most sessions to claim in one go. */
const mostClaimed = 100;

/** Services the host provides to its worker. */
export interface WorkerServices {
  readonly store: SessionStore;
  readonly agents: Agents;
  readonly watcher: StoreWatcher;
  /** Clock of the signs of life. */
  readonly heartbeatClock: Clock;
  /** Clock of the sessions. */
  readonly clock: Clock;
  readonly name: string | undefined;
  readonly silenceMs: number;
  readonly closing: AbortSignal;
  /** Returns the number of sessions that could start now. */
  readonly getRoom: () => number;
  /** Works on a session that was claimed. Never rejects. */
  readonly run: (claimed: ClaimedSession) => Promise<void>;
  /** Mail waits for these sessions, or, without ids, for any. */
  readonly onMail: (sessionIds: readonly string[] | undefined) => void;
  /** Others have taken this worker for gone: nothing that it owned belongs to it any more. */
  readonly onLost: () => void;
  readonly report: (error: unknown, where: string) => void;
}

export class Worker {
  readonly #services: WorkerServices;
  readonly #joinedAt: number;
  #id: string = systemIds();
  #joined: Promise<void> | undefined;
  /** Ends when this process has joined again after others took it for gone. */
  #rejoining: Promise<void> | undefined;
  /** Id that it had then, until it has joined again. */
  #before: string | undefined;
  /** Monotonic time of the last sign of life, and of the first one of a series without a gap. */
  #lastBeat = 0;
  #unbrokenSince = 0;
  #lastLook = 0;
  #lastSearch = 0;
  #lastPrune = -Infinity;
  /** The workers of the store as they were within the last minute. */
  #seen: readonly { readonly at: number; readonly ids: string; readonly workers: readonly StoredWorker[] }[] = [];
  #claiming: Promise<void> | undefined;
  #isWanted = false;
  /** Sessions that are being loaded. */
  readonly #starting = new Set<Promise<void>>();
  #isStopped = false;
  /** True if the last claim took all that there was room for. */
  #wasFull = false;
  /** Sessions that are left alone for a while. */
  readonly #left = new Set<string>();
  /** Sessions that are to be given back. */
  readonly #returning = new Set<string>();
  #cancelBeat = (): void => undefined;
  #cancelWake = (): void => undefined;
  #wakeAt = Infinity;

  constructor(services: WorkerServices) {
    this.#services = services;
    this.#joinedAt = services.heartbeatClock.now();
    services.closing.addEventListener('abort', () => this.#cancelWake());
  }

  get id(): string {
    return this.#id;
  }
  /** True if the last claim left nothing to take, or nothing could be taken. */
  get hasRoom(): boolean {
    return !this.#wasFull;
  }

  /** Returns the number of workers that have this agent: the most there were at once within the last minute. */
  countWorkers(agentName: string): number {
    return Math.max(1, ...this.#seen.map(({ workers }) => workers.filter(({ agents }) => agents.includes(agentName)).length));
  }

  /** Adds this process to the workers of the store, once. If that fails, the next call tries again. */
  join(): Promise<void> {
    this.#joined ??= this.#join().catch((error: unknown) => {
      this.#joined = undefined;
      throw error;
    });
    return this.#joined;
  }

  async #join(): Promise<void> {
    const { store, heartbeatClock, watcher, closing, getRoom, onMail, report } = this.#services;
    if (closing.aborted) return;
    await store.leases.join(this.#toInfo(), { room: getRoom() });
    this.#lastBeat = heartbeatClock.monotonic();
    this.#unbrokenSince = this.#lastBeat;
    const unlisten = watcher.listen(({ sessionIds, hasMail, workers }) => {
      if (!hasMail || workers?.includes(this.#id) === false) return;
      onMail(sessionIds);
      this.look();
    });
    closing.addEventListener('abort', unlisten);
    this.#arm();
    // It has joined, whatever becomes of others; with the next sign of life they are looked at again.
    await this.#judge().catch((error: unknown) => {
      if (!isStoreClosed(error)) report(error, 'the workers of the store');
    });
  }

  /** Claims what there is room for, again and again until nothing is left. Settles when all of it is being worked on. */
  async claimAll(): Promise<void> {
    this.look();
    while (this.#claiming !== undefined || this.#starting.size > 0) await Promise.all([this.#claiming, ...this.#starting]);
  }

  #note(started: Promise<void>): void {
    this.#starting.add(started);
    void started.finally(() => this.#starting.delete(started));
  }

  /** Claims soon. */
  look(): void {
    this.#isWanted = true;
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
      if (this.#isWanted && !this.#services.closing.aborted) this.look();
    });
  }

  /** Settles when no claim is in progress. What was claimed is known then. */
  async whenClaimed(): Promise<void> {
    await this.#claiming;
  }

  /** Shows that this process is alive, and joins again if others have taken it for gone. */
  async confirm(): Promise<void> {
    await this.join();
    await this.#showLife();
  }

  /** Claims one session, also if another worker would be preferred. Returns undefined if it cannot be claimed. */
  async claimOne(sessionId: string): Promise<ClaimedSession | undefined> {
    const { store, agents, clock, run } = this.#services;
    // A process that stood still may have been taken for gone.
    await this.#showLife();
    const { claimable } = agents;
    const query = { worker: this.#id, limit: 1, agents: claimable, maxFormat: storedFormat, now: clock.now(), sessionIds: [sessionId] };
    for (;;) {
      const { sessions } = await store.leases.claim(query);
      const found = sessions.find((claimed) => claimed.sessionId === sessionId);
      // After a claim whose answer was lost, the first answer is that one.
      for (const other of sessions) if (other !== found) this.#note(run(other));
      if (found !== undefined || sessions.length === 0) return found;
    }
  }

  /** Claims when this time has come. */
  wakeAt(time: number): void {
    const { clock, closing } = this.#services;
    if (time >= this.#wakeAt || closing.aborted) return;
    this.#cancelWake();
    this.#wakeAt = time;
    this.#cancelWake = clock.schedule(Math.max(0, time - clock.now()), () => {
      this.#wakeAt = Infinity;
      this.look();
    });
  }

  /** Gives a session back that cannot be worked on here, and leaves it alone for this time. */
  giveBack(sessionId: string, delayMs: number): void {
    const { clock, closing } = this.#services;
    this.#returning.add(sessionId);
    if (delayMs === 0) {
      void this.#returnAll().then(() => closing.aborted || this.look());
      return;
    }
    this.#left.add(sessionId);
    clock.schedule(
      delayMs,
      () => {
        this.#left.delete(sessionId);
        if (!closing.aborted) void this.#returnAll().then(() => this.look());
      },
      true,
    );
    void this.#returnAll();
  }

  /** Settles when a session that this worker owns, but does not work on, is given back. */
  async release(sessionId: string): Promise<void> {
    await this.#services.store.leases.leave(this.#id, [sessionId]);
  }

  /** Gives everything back. */
  async leave(): Promise<void> {
    this.stop();
    await this.#joined?.catch(() => undefined);
    await this.#claiming;
    // If that fails, others find out that this process is gone.
    if (this.#joined !== undefined) await this.#services.store.leases.leave(this.#id).catch(() => undefined);
  }

  /** Gives no more signs of life. */
  stop(): void {
    this.#cancelBeat();
    this.#cancelBeat = () => undefined;
    this.#isStopped = true;
  }

  #toInfo(): WorkerInfo {
    const { name, agents } = this.#services;
    const names = [...new Set(agents.claimable.map((agent) => agent.name))];
    return { ...readProcessIdentity(), id: this.#id, joinedAt: this.#joinedAt, agents: names, ...omitUndefined({ name }) };
  }

  #arm(): void {
    // In the background: a process that has nothing else to do may end.
    if (!this.#isStopped) this.#cancelBeat = this.#services.heartbeatClock.schedule(beatMs, () => void this.#beat(), true);
  }

  async #beat(): Promise<void> {
    const { closing } = this.#services;
    try {
      const now = await this.#showLife();
      if (!closing.aborted) {
        await this.#judge();
        if (this.#returning.size > 0) await this.#returnAll();
        if (now - this.#lastLook >= lookMs) this.look();
        if (now - this.#lastPrune >= pruneEveryMs) await this.#prune(now);
      }
    } catch (error) {
      // A store that cannot be used for a while is tried again; one that was closed stays so.
      if (isStoreClosed(error)) this.stop();
    }
    this.#arm();
  }

  /** Shows that this process is alive, and joins again if others have taken it for gone. Returns the time. */
  async #showLife(): Promise<number> {
    const { store, heartbeatClock, closing, getRoom } = this.#services;
    const id = this.#id;
    const isKnown = await store.leases.beat(id, closing.aborted ? 0 : getRoom());
    const now = heartbeatClock.monotonic();
    if (now - this.#lastBeat > lostMs) this.#unbrokenSince = now;
    this.#lastBeat = now;
    // Several may find that out at once.
    if (!isKnown && id === this.#id) this.#rejoining ??= this.#rejoin().finally(() => (this.#rejoining = undefined));
    await this.#rejoining;
    return now;
  }

  /** Removes refusals that nobody has asked for in a day. */
  async #prune(now: number): Promise<void> {
    const { store, clock } = this.#services;
    this.#lastPrune = now;
    await store.inbox.prune(clock.now() - keepRepliesMs);
  }

  async #rejoin(): Promise<void> {
    const { store, getRoom, onLost } = this.#services;
    this.#before ??= this.#id;
    this.#id = systemIds();
    onLost();
    await store.leases.join(this.#toInfo(), { room: getRoom(), before: this.#before });
    this.#before = undefined;
  }

  /** Frees the sessions of workers that are gone. */
  async #judge(): Promise<void> {
    const { store, heartbeatClock } = this.#services;
    let freed = 0;
    const workers = await store.leases.workers();
    const at = heartbeatClock.monotonic();
    const ids = workers.map(({ id }) => id).join(' ');
    this.#seen = [...this.#seen.filter((seen) => seen.ids !== ids && at - seen.at < rememberedMs), { at, ids, workers }];
    for (const worker of workers)
      if (worker.id !== this.#id && this.#isGone(worker)) freed += await store.leases.free({ worker: worker.id, beats: worker.beats });
    const now = heartbeatClock.monotonic();
    if (now - this.#lastSearch >= orphansEveryMs) {
      this.#lastSearch = now;
      freed += await store.leases.free();
    }
    if (freed > 0) this.look();
  }

  #isGone(worker: StoredWorker): boolean {
    const { heartbeatClock, silenceMs } = this.#services;
    const ownMs = heartbeatClock.monotonic() - this.#unbrokenSince;
    const isSilentFor = (ms: number): boolean => worker.silentMs >= ms && ownMs >= ms;
    return isProcessGone(worker) || isSilentFor(silenceMs) || (worker.isConnected === false && isSilentFor(Math.min(lostMs, silenceMs)));
  }

  async #claim(): Promise<void> {
    const { store, agents, heartbeatClock, clock, closing, getRoom, run, report } = this.#services;
    while (this.#isWanted && !closing.aborted) {
      this.#isWanted = false;
      this.#lastLook = heartbeatClock.monotonic();
      try {
        await this.join();
        const limit = Math.max(0, Math.min(getRoom(), mostClaimed));
        const query = { worker: this.#id, limit, agents: agents.claimable, maxFormat: storedFormat, now: clock.now() };
        const { sessions, nextWakeAt } = await store.leases.claim({ ...query, except: [...this.#left] });
        this.#wasFull = limit === 0 || sessions.length >= limit;
        if (nextWakeAt !== undefined) this.wakeAt(nextWakeAt);
        for (const claimed of sessions) this.#note(run(claimed));
        // If there was room for more, nothing is left.
        if (this.#wasFull && sessions.length > 0 && getRoom() > 0) this.#isWanted = true;
      } catch (error) {
        if (!isStoreClosed(error)) report(error, 'the sessions to claim');
      }
    }
  }

  async #returnAll(): Promise<void> {
    const { store } = this.#services;
    const ids = [...this.#returning];
    if (ids.length === 0) return;
    for (const id of ids) this.#returning.delete(id);
    try {
      await store.leases.leave(this.#id, ids);
    } catch {
      // Tried again with the next sign of life.
      for (const id of ids) this.#returning.add(id);
    }
  }
}
