// Everything that is done to the processes and the server while they work.
// D1. The blows are spread over the whole work: number i of n comes when i/(n+1) of all steps are recorded.
// D2. Every second kill of a worker comes at a random moment, the others at a chosen spot inside the work.
// D3. A worker is stopped while models and `once` tools are slow, until others have its sessions and are inside such a tool: what it does
//     when it is continued would not be refused by its place in the log alone.
import { setTimeout as pause } from 'node:timers/promises';
import type { Server } from '../../tests/postgres/server.ts';
import type { Crew, Member } from './crew.ts';
import type { OpenedDatabase } from './open-database.ts';
import { readOwned } from './open-database.ts';
import type { Command, Report, Spot } from './orders.ts';
import { spots } from './orders.ts';
import type { Progress } from './progress.ts';
import type { Proxy } from './proxy.ts';

/** The server of a run on Postgres. */
export interface DatabaseServer {
  readonly server: Server;
  readonly proxy: Proxy;
}

type Blow =
  | { readonly type: 'kill'; readonly spot?: Spot; readonly delayMs: number }
  | { readonly type: 'kill-client' | 'stop' | 'cut' | 'deploy' }
  | { readonly type: 'block'; readonly ms: number }
  | { readonly type: 'restart'; readonly isCrash: boolean };

/** Numbers of blows of each kind. */
export interface BlowCounts {
  /** Workers that are killed. */
  readonly kills: number;
  readonly clientKills: number;
  /** Workers that are stopped for longer than they may be silent, and continued. */
  readonly stops: number;
  /** Workers that are busy for so long that they do nothing else. */
  readonly blocks: number;
  /** On Postgres: crashes of the server and ordinary restarts, in turn. */
  readonly restarts: number;
  /** On Postgres: cuts of two connections each. */
  readonly cuts: number;
}

type Claim = Extract<Report, { readonly type: 'claimed' }>;

/** A worker that was killed or stopped. */
export interface Loss {
  readonly member: Member;
  /** Time at which it happened. */
  readonly at: number;
  /** Sessions that it owned. */
  readonly owned: readonly string[];
}

export interface BlowResults {
  readonly kills: Loss[];
  readonly killsAtSpots: Loss[];
  readonly clientKills: Member[];
  readonly stops: Loss[];
  readonly blocks: Member[];
  /** Milliseconds that each worker took to end in the rolling deploy. */
  readonly drains: number[];
}

export function planBlows({ kills, clientKills, stops, blocks, restarts, cuts }: BlowCounts, random: () => number): readonly Blow[] {
  const upTo = (most: number): number => Math.floor(random() * most);
  const firstSpot = upTo(spots.length);
  const killings = Array.from({ length: kills }, (_, index): Blow => {
    const spot = index % 2 === 0 ? undefined : spots[(firstSpot + (index - 1) / 2) % spots.length];
    return { type: 'kill', ...(spot !== undefined && { spot }), delayMs: upTo(200) };
  });
  const all: readonly (readonly Blow[])[] = [
    killings,
    Array.from({ length: clientKills }, (): Blow => ({ type: 'kill-client' })),
    Array.from({ length: stops }, (): Blow => ({ type: 'stop' })),
    Array.from({ length: blocks }, (): Blow => ({ type: 'block', ms: 1000 + upTo(1000) })),
    Array.from({ length: restarts }, (_, index): Blow => ({ type: 'restart', isCrash: index % 2 === 0 })),
    Array.from({ length: cuts }, (): Blow => ({ type: 'cut' })),
    [{ type: 'deploy' }],
  ];
  // Each kind is spread evenly over the others.
  return all
    .flatMap((list) => list.map((blow, index) => ({ blow, at: (index + 1) / (list.length + 1) })))
    .sort((left, right) => left.at - right.at)
    .map(({ blow }) => blow);
}

export interface DisturbOptions {
  readonly workers: Crew;
  readonly clients: Crew;
  readonly opened: OpenedDatabase;
  readonly server: DatabaseServer | undefined;
  readonly progress: Progress;
  readonly allSteps: number;
  readonly random: () => number;
  readonly onProgress: (line: string) => void;
}

/** Longest wait for a chosen spot: not all of them are passed in every part of the work. */
const spotMs = 2000;

/** Time for which models and tools are slow around a stop, and how long before it that begins. */
const slowMs = 7000;
const slowBeforeMs = 2000;

/** Longest wait for another worker to claim a session of one that was stopped, and how long that one goes on being stopped. */
const claimMs = 8000;
const stoppedMs = 1500;

/** Longest time until a worker that was continued finds out that others have taken it for gone. */
const rejoinMs = 15_000;

/** Returns the time from a loss to the next claim of a session that the worker owned; undefined if there was none. */
export function findTakeover({ all }: Crew, { at, owned }: Loss): number | undefined {
  const ids = new Set(owned);
  const isNext = (report: Report): report is Claim =>
    report.type === 'claimed' && report.at > at && report.sessionIds.some((id) => ids.has(id));
  const times = all.flatMap(({ reports }) => reports.filter(isNext)).map((claim) => claim.at - at);
  return times.length === 0 ? undefined : Math.min(...times);
}

class Disturber {
  readonly #options: DisturbOptions;
  #deploying: Promise<readonly number[]> = Promise.resolve([]);
  readonly results: BlowResults = { kills: [], killsAtSpots: [], clientKills: [], stops: [], blocks: [], drains: [] };

  constructor(options: DisturbOptions) {
    this.#options = options;
  }

  /** Does one blow, and describes it. */
  async strike(blow: Blow): Promise<string> {
    const { workers, clients, server } = this.#options;
    switch (blow.type) {
      case 'kill':
        return this.#kill(blow);
      case 'kill-client': {
        const client = this.#choose(clients);
        client.child.signal('SIGKILL');
        this.results.clientKills.push(client);
        return `killed ${client.child.name}`;
      }
      case 'stop':
        return this.#stop();
      case 'block': {
        const worker = this.#choose(workers);
        worker.child.command(blow);
        this.results.blocks.push(worker);
        return `kept ${worker.child.name} busy for ${blow.ms} ms`;
      }
      case 'restart':
        await (blow.isCrash ? server?.server.crash() : server?.server.stop());
        await server?.server.start();
        return `${blow.isCrash ? 'crashed' : 'stopped'} and started the server`;
      case 'cut':
        for (const cut of ['answer', 'commit'] as const) server?.proxy.armCut(cut);
        return 'cut the connections of the next two commits';
      case 'deploy':
        // Whatever else is planned happens beside it.
        this.#deploying = workers.deploy();
        return 'began to drain and replace one worker after the other';
    }
  }

  #choose({ members }: Crew): Member {
    const { random } = this.#options;
    const member = members[Math.floor(random() * members.length)];
    if (member === undefined) throw new Error('No process is left: each has ended before it was replaced.');
    return member;
  }

  async finish(): Promise<BlowResults> {
    this.results.drains.push(...(await this.#deploying));
    return this.results;
  }

  /** Makes a worker stand still. Returns false if it does not. */
  #hold({ child, reports }: Member, command: Command): Promise<boolean> {
    const before = reports.length;
    child.command(command);
    return this.#options.workers.until(() => reports.slice(before).some(({ type }) => type === 'held'), spotMs);
  }

  /** Chooses a worker that owns sessions, if there is one. */
  async #chooseOwner(): Promise<Member> {
    const { workers, opened, random } = this.#options;
    const owned = await readOwned(opened);
    const session = owned[Math.floor(random() * owned.length)];
    return workers.members.find(({ ids }) => session !== undefined && ids.has(session.worker)) ?? this.#choose(workers);
  }

  /** Notes what a worker owns that does nothing more. */
  async #noteLoss(member: Member, at: number): Promise<Loss> {
    const owned = await readOwned(this.#options.opened);
    return { member, at, owned: owned.flatMap(({ id, worker }) => (member.ids.has(worker) ? [id] : [])) };
  }

  async #kill({ spot, delayMs }: Extract<Blow, { readonly type: 'kill' }>): Promise<string> {
    const member = await this.#chooseOwner();
    if (spot === undefined) await pause(delayMs);
    const isHeld = spot !== undefined && (await this.#hold(member, { type: 'hold', spot }));
    const at = Date.now();
    member.child.signal('SIGKILL');
    const loss = await this.#noteLoss(member, at);
    this.results.kills.push(loss);
    if (isHeld) this.results.killsAtSpots.push(loss);
    return `killed ${member.child.name} (${isHeld ? spot : 'a random moment'}), which owned ${loss.owned.length} sessions`;
  }

  async #stop(): Promise<string> {
    const { workers } = this.#options;
    for (const { child } of workers.members) child.command({ type: 'slow', ms: slowMs });
    await pause(slowBeforeMs);
    const member = await this.#chooseOwner();
    const { child, ids } = member;
    await this.#hold(member, { type: 'freeze', ms: 500 });
    const at = Date.now();
    child.signal('SIGSTOP');
    const loss = await this.#noteLoss(member, at);
    await workers.until(() => findTakeover(workers, loss) !== undefined, claimMs);
    await pause(stoppedMs);
    const joined = ids.size;
    child.signal('SIGCONT');
    const hasJoined = await workers.until(() => ids.size > joined || child.isGone, rejoinMs);
    this.results.stops.push(loss);
    const takeover = findTakeover(workers, loss);
    return `stopped ${child.name}, which owned ${loss.owned.length} sessions, claimed after ${String(takeover)} ms; continued, ${hasJoined ? 'it joined again' : 'it did not join again'}`;
  }
}

/** Does everything that is planned, one after the other. */
export async function disturb(plan: readonly Blow[], options: DisturbOptions): Promise<BlowResults> {
  const { progress, allSteps, onProgress } = options;
  const disturber = new Disturber(options);
  for (const [index, blow] of plan.entries()) {
    await progress.until(Math.floor((allSteps * (index + 1)) / (plan.length + 1)));
    const what = await disturber.strike(blow);
    onProgress(`${progress.steps} of ${allSteps} steps, blow ${index + 1} of ${plan.length}: ${what}`);
  }
  return disturber.finish();
}
