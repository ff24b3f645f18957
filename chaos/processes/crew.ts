// Processes of one kind: some of them at a time, each in its place. One that is killed or drained is replaced at once; one that fails is not.
// Owns:     which process is in which place, and everything that they have reported.
import type { Child } from './child.ts';
import { startChild } from './child.ts';
import type { Report } from './orders.ts';

export interface Member {
  readonly child: Child;
  readonly place: number;
  /** Number of the build that it runs. */
  readonly build: number;
  /** Ids under which it has joined the workers. */
  readonly ids: Set<string>;
  readonly reports: Report[];
}

export interface CrewOptions {
  readonly size: number;
  /** The file to run of each build. The places take turns in using them. */
  readonly scripts: readonly string[];
  /** `started`: number of processes that were started before. */
  readonly createOrders: (place: number, started: number) => { readonly name: string };
}

export class Crew {
  readonly #options: CrewOptions;
  readonly #places: Member[] = [];
  readonly #listeners = new Set<() => void>();
  readonly all: Member[] = [];
  /** Those that were told to end, so that they are replaced. */
  readonly drained: Set<Child> = new Set();
  #isOver = false;
  #deploys = 0;

  constructor(options: CrewOptions) {
    this.#options = options;
  }

  /** Those that run now, and were not told to end. */
  get members(): readonly Member[] {
    return this.#places.filter(({ child }) => !child.isGone && !this.drained.has(child));
  }

  start(): void {
    for (let place = 0; place < this.#options.size; place += 1) this.#start(place);
  }

  /** Settles with true when a condition holds; it is looked at after each report, and now and then. False if the time is over before. */
  async until(condition: () => boolean, withinMs: number): Promise<boolean> {
    const began = performance.now();
    while (!condition()) {
      if (performance.now() - began > withinMs) return false;
      await new Promise<void>((resolve) => {
        const finish = (): void => {
          clearTimeout(timer);
          this.#listeners.delete(finish);
          resolve();
        };
        const timer = setTimeout(finish, 100);
        this.#listeners.add(finish);
      });
    }
    return true;
  }

  /** Settles when every process has done its work. Rejects if one ends by itself before that. */
  async whenDone(): Promise<void> {
    for (;;) {
      const places = [...this.#places];
      const ended = await Promise.allSettled(places.map(({ child }) => child.expect('done')));
      if (places.some((member, place) => member !== this.#places[place])) continue;
      for (const end of ended) if (end.status === 'rejected') throw end.reason;
      return;
    }
  }

  /** Drains one process after the other. Each is replaced by one of the next build. Settles with the milliseconds that each took to end. */
  async deploy(): Promise<readonly number[]> {
    this.#deploys += 1;
    const drains: number[] = [];
    for (const [place, { child }] of [...this.#places.entries()]) {
      const began = performance.now();
      this.drained.add(child);
      child.command({ type: 'finish' });
      await child.gone;
      drains.push(Math.round(performance.now() - began));
      await this.#places[place]?.child.expect('joined').catch(() => undefined);
    }
    return drains;
  }

  /** Lets all processes end in order. */
  async finish(): Promise<void> {
    this.#isOver = true;
    for (const { child } of this.#places) child.command({ type: 'finish' });
    await Promise.all(this.#places.map(({ child }) => child.gone));
  }

  /** Ends all processes at once. */
  kill(): void {
    this.#isOver = true;
    for (const { child } of this.#places) child.signal('SIGKILL');
  }

  #start(place: number): void {
    const { scripts, createOrders } = this.#options;
    const build = (place + this.#deploys) % scripts.length;
    const reports: Report[] = [];
    const ids = new Set<string>();
    const child = startChild(scripts[build] ?? '', createOrders(place, this.all.length), (report) => {
      reports.push(report);
      if (report.type === 'joined') ids.add(report.id);
      for (const call of [...this.#listeners]) call();
    });
    const member: Member = { child, place, build, ids, reports };
    this.all.push(member);
    this.#places[place] = member;
    void child.gone.then((how) => {
      if (!this.#isOver && how !== '1') this.#start(place);
    });
  }
}
