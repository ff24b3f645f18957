// Everything that is done to the workers and the server while they work.
// D1. The disturbances are spread over the whole work: number i of n comes when i/(n+1) of all steps are recorded.
// D2. Every second kill comes at a random moment, the others at a chosen spot inside the work.
import { setTimeout as pause } from 'node:timers/promises';
import type { Server } from '../../tests/postgres/server.ts';
import type { Child } from './child.ts';
import type { Spot } from './orders.ts';
import { spots } from './orders.ts';
import type { Proxy } from './proxy.ts';
import type { Holder, WorkerPair } from './worker-pair.ts';

/** The server of a run on Postgres. */
export interface DatabaseServer {
  readonly server: Server;
  readonly proxy: Proxy;
}

export type Disturbance =
  | { readonly type: 'kill'; readonly spot?: Spot; readonly delayMs: number }
  | { readonly type: 'freeze' }
  | { readonly type: 'restart'; readonly isCrash: boolean }
  | { readonly type: 'cut' };

export interface DisturbanceCounts {
  readonly kills: number;
  readonly freezes: number;
  /** On Postgres. */
  readonly restarts: number;
  readonly cuts: number;
}

/** A worker that was stopped and continued, and the one that took its place. */
export interface Freeze {
  readonly frozen: Child;
  readonly next: Holder;
}

export interface DisturbanceResults {
  readonly kills: Child[];
  /** Milliseconds from a kill to the first write of the next worker, if there was something left to do. */
  readonly takeovers: number[];
  /** Milliseconds from a kill to the next claim. */
  readonly claims: number[];
  /** The same for a worker that was stopped. */
  readonly frozenTakeovers: number[];
  readonly frozenClaims: number[];
  readonly freezes: Freeze[];
  /** Stopped workers that found out that their time was over. */
  readonly fenced: Child[];
  readonly killsAtSpots: number[];
}

export function planDisturbances({ kills, freezes, restarts, cuts }: DisturbanceCounts, random: () => number): readonly Disturbance[] {
  const upTo = (most: number): number => Math.floor(random() * most);
  const firstSpot = upTo(spots.length);
  const killings = Array.from({ length: kills }, (_, index): Disturbance => {
    const spot = index % 2 === 0 ? undefined : spots[(firstSpot + (index - 1) / 2) % spots.length];
    return { type: 'kill', ...(spot !== undefined && { spot }), delayMs: upTo(200) };
  });
  const others: readonly (readonly Disturbance[])[] = [
    killings,
    Array.from({ length: freezes }, (): Disturbance => ({ type: 'freeze' })),
    Array.from({ length: restarts }, (_, index): Disturbance => ({ type: 'restart', isCrash: index % 2 === 1 })),
    Array.from({ length: cuts }, (): Disturbance => ({ type: 'cut' })),
  ];
  // Each kind is spread evenly over the others.
  return others
    .flatMap((list) => list.map((disturbance, index) => ({ disturbance, at: (index + 1) / (list.length + 1) })))
    .sort((left, right) => left.at - right.at)
    .map(({ disturbance }) => disturbance);
}

/** Longest wait for a chosen spot: not all of them are passed in every part of the work. */
const spotMs = 2000;

async function kill(
  pair: WorkerPair,
  { spot, delayMs }: Extract<Disturbance, { readonly type: 'kill' }>,
  results: DisturbanceResults,
): Promise<void> {
  const { child } = await pair.whenReady();
  if (spot === undefined) await pause(delayMs);
  else {
    child.command({ type: 'hold', spot });
    const isHeld = await Promise.race([
      child.expect('held').then(
        () => true,
        () => false,
      ),
      pause(spotMs, false),
    ]);
    if (isHeld) results.killsAtSpots.push(1);
  }
  // A worker that was fenced meanwhile is not the one to kill.
  const { holder = { child, epoch: 0 } } = pair;
  const at = Date.now();
  holder.child.signal('SIGKILL');
  const next = await awaitNext(pair, holder.epoch);
  results.kills.push(holder.child);
  results.claims.push(next.claimedAt - at);
  const firstWriteAt = await awaitFirstWrite(pair, next);
  if (firstWriteAt !== undefined) results.takeovers.push(firstWriteAt - at);
}

/** Longest wait for the first write of the next worker. */
const firstWriteMs = 20_000;

/** Returns the time of a worker's first write; Infinity if there is none, undefined if there was nothing left to do. */
async function awaitFirstWrite(pair: WorkerPair, { firstWriteAt }: Holder): Promise<number | undefined> {
  const at = await Promise.race([firstWriteAt.catch(() => Infinity), pause(firstWriteMs, Infinity)]);
  return at === Infinity && pair.steps >= pair.allSteps ? undefined : at;
}

/** Settles with the worker that holds the store after a claim. */
async function awaitNext(pair: WorkerPair, epoch: number): Promise<Holder> {
  await pair.until(() => (pair.holder?.epoch ?? 0) > epoch);
  // Holds: the condition above.
  return pair.holder as Holder;
}

async function freeze(pair: WorkerPair, results: DisturbanceResults, more: number): Promise<void> {
  const { child, epoch } = await pair.whenReady();
  pair.standby?.command({ type: 'read-heads' });
  child.command({ type: 'freeze' });
  await child.expect('held');
  const at = Date.now();
  child.signal('SIGSTOP');
  const next = await awaitNext(pair, epoch);
  results.frozenClaims.push(next.claimedAt - at);
  const firstWriteAt = await awaitFirstWrite(pair, next);
  if (firstWriteAt !== undefined) results.frozenTakeovers.push(firstWriteAt - at);
  results.freezes.push({ frozen: child, next });
  const { steps } = pair;
  await pair.until(() => pair.steps >= steps + more, 5000);
  child.signal('SIGCONT');
  // It finds out that its time is over, and ends.
  if (await pair.until(() => child.isGone, fencedMs)) results.fenced.push(child);
  else child.signal('SIGKILL');
  await child.gone;
}

/** Longest time until a worker finds out that another has claimed the store. */
const fencedMs = 15_000;

async function restart({ server }: DatabaseServer, isCrash: boolean): Promise<void> {
  await (isCrash ? server.crash() : server.stop());
  await server.start();
}

export interface DisturbOptions {
  readonly pair: WorkerPair;
  readonly database: DatabaseServer | undefined;
  readonly onProgress: (line: string) => void;
}

/** Does everything that is planned, one after the other. */
export async function disturb(plan: readonly Disturbance[], { pair, database, onProgress }: DisturbOptions): Promise<DisturbanceResults> {
  const steps = pair.allSteps;
  const results: DisturbanceResults = {
    kills: [],
    fenced: [],
    takeovers: [],
    claims: [],
    frozenTakeovers: [],
    frozenClaims: [],
    freezes: [],
    killsAtSpots: [],
  };
  for (const [index, disturbance] of plan.entries()) {
    const from = Math.floor((steps * (index + 1)) / (plan.length + 1));
    await pair.until(() => pair.steps >= from);
    const { type } = disturbance;
    if (type === 'kill') await kill(pair, disturbance, results);
    if (type === 'freeze') await freeze(pair, results, Math.ceil(steps / 50));
    if (type === 'restart' && database !== undefined) await restart(database, disturbance.isCrash);
    if (type === 'cut') for (const cut of ['answer', 'commit'] as const) database?.proxy.armCut(cut);
    onProgress(`${String(pair.steps)} of ${String(steps)} steps: ${describe(disturbance, results)}`);
  }
  return results;
}

function describe(disturbance: Disturbance, { takeovers, claims, frozenTakeovers, frozenClaims }: DisturbanceResults): string {
  switch (disturbance.type) {
    case 'kill':
      return `killed the worker (${disturbance.spot ?? 'a random moment'}), claimed after ${String(claims.at(-1))} ms, first write after ${String(takeovers.at(-1))} ms`;
    case 'freeze':
      return `stopped the worker, claimed after ${String(frozenClaims.at(-1))} ms, first write after ${String(frozenTakeovers.at(-1))} ms; continued it`;
    case 'restart':
      return `${disturbance.isCrash ? 'crashed' : 'stopped'} and started the server`;
    case 'cut':
      return 'cut the connections of the next two commits';
  }
}
