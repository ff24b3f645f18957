// Many sessions over one file, and a worker that is killed again and again.
// K1. The kills are spread over the whole work: kill i of n comes when i/(n+1) of all steps are recorded.
// K2. Every second one comes at a random moment, the others at a chosen point inside the work: each point in turn, in a shuffled order.
import type { Child } from './child.ts';
import { startWorker } from './child.ts';
import { check } from './check.ts';
import type { Figure } from './figures.ts';
import { atMost, exactly, none, info } from './figures.ts';
import type { Orders, Place } from './orders.ts';
import { places } from './orders.ts';
import { createRandom } from './random.ts';
import { withFolder } from './with-folder.ts';

export interface KillOptions {
  readonly sessions: number;
  readonly steps: number;
  readonly kills: number;
  readonly seed: number;
  /** Hears how far it has come. */
  readonly onProgress?: (line: string) => void;
}

/** Time and place of a kill. */
interface Kill {
  /** Steps that are recorded before. */
  readonly from: number;
  /** A random moment if it is left out. */
  readonly place?: Place;
  readonly passes: number;
  readonly delayMs: number;
}

const clientsAtOnce = 250;

function shuffle(random: () => number): readonly Place[] {
  return places
    .map((place) => [random(), place] as const)
    .sort(([left], [right]) => left - right)
    .map(([, place]) => place);
}

function planKills({ sessions, steps, kills, seed }: KillOptions): readonly Kill[] {
  const random = createRandom(seed);
  const upTo = (most: number): number => Math.floor(random() * most);
  const deck = shuffle(random);
  const between = (sessions * steps) / (kills + 1);
  return Array.from({ length: kills }, (_, index) => {
    const from = Math.floor(between * (index + 1));
    const place = index % 2 === 0 ? undefined : deck[((index - 1) / 2) % deck.length];
    return {
      from,
      ...(place !== undefined && { place }),
      passes: upTo(Math.min(sessions / 2, between / 4)),
      delayMs: upTo(Math.min(40, between / 10)),
    };
  });
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

// What comes soon after a start, and seldom later, is held whatever the progress.
const early: readonly Place[] = ['loading', 'act-asked', 'act-safe'];

function ordersFor(orders: Orders, { place, from, passes }: Kill): Orders {
  if (place === undefined) return orders;
  return { ...orders, hold: early.includes(place) ? { place, from: 0, passes: passes % 10 } : { place, from, passes } };
}

/** Random place of the kill if the chosen point is not reached: not all of them are passed in every part of the work. */
const margin = (orders: Orders, kills: number): number => (orders.sessions * orders.steps) / (kills + 1) / 2;

/** Result of an attempt to kill a worker. */
interface Killed {
  readonly child: Child;
  /** Place of the kill; undefined if all work was done before. */
  readonly at: Place | 'a random moment' | undefined;
}

async function killOne(orders: Orders, kill: Kill, missed: number): Promise<Killed> {
  const child = startWorker(ordersFor(orders, kill));
  const until = kill.place === undefined ? kill.from : kill.from + missed;
  const { type } = await child.hear(
    (said) => said.type === 'held' || said.type === 'done' || (said.type === 'progress' && said.steps >= until),
  );
  if (kill.place === undefined) await pause(kill.delayMs);
  if (type !== 'done') child.signal('SIGKILL');
  await child.gone;
  return { child, at: type === 'held' ? kill.place : type === 'done' ? undefined : 'a random moment' };
}

const findProblems = (children: readonly Child[]): readonly string[] =>
  children.flatMap(({ problems }) => problems.map(({ code, where, message }) => `${code}, ${where}: ${message}`));

/** Does the work with all its kills, and gives what must hold and whether it does. */
export async function runKills(options: KillOptions): Promise<readonly Figure[]> {
  const { sessions, steps, kills, onProgress } = options;
  return withFolder(async (folder) => {
    const orders: Orders = { folder, sessions, steps, atOnce: clientsAtOnce, everyMs: 2 };
    const killed: Killed[] = [];
    const begun = performance.now();
    for (const kill of planKills(options)) {
      const one = await killOne(orders, kill, margin(orders, kills));
      killed.push(one);
      onProgress?.(one.at === undefined ? 'all was done before the kill' : `kill ${killed.length} of ${kills}, at ${one.at}`);
    }
    const lastKill = performance.now();
    const last = startWorker(orders);
    await last.hear(({ type }) => type === 'done');
    await last.gone;
    const end = performance.now();
    const seconds = (from: number): number => Math.round((end - from) / 100) / 10;
    return [
      exactly('kills', killed.filter(({ at }) => at !== undefined).length, kills),
      info('  at a chosen point', killed.filter(({ at }) => at !== undefined && at !== 'a random moment').length),
      atMost('seconds from the last kill to the end of the work', seconds(lastKill), 60),
      info('seconds in all', seconds(begun)),
      none('problems that workers told of', findProblems([...killed.map(({ child }) => child), last])),
      ...(await check(folder, options)),
    ];
  });
}
