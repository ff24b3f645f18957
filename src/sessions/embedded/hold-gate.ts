// Holds: reasons for starting no model calls.
// Owns:     which holds there are, as far as this process knows, and who waits for their end.
// Does not: stop work that is in progress.
// H1. A hold is a note. One that any process has put is known here as soon as the store says that something changed, and after a second
//     at the latest.
// H2. Whoever waits continues as soon as no hold applies, or when it is woken for another reason.
import type { Clock } from '../../lib/index.ts';
import { omitUndefined, readObject } from '../../lib/index.ts';
import type { Actor } from '../core/action.ts';
import type { SessionFacts } from '../core/session.ts';
import type { Hold, HoldScope } from '../core/session-runtime.ts';
import { isStoreClosed } from '../core/errors.ts';
import type { Notes } from '../store/session-store.ts';

/** Longest time without another look. */
const lookMs = 1000;

/** Beginning of the names of notes that are holds. */
export const holdPrefix = 'hold/';

/** Puts a hold, in place of the one with the same id. */
export async function putHold(notes: Notes, { id, ...hold }: Hold): Promise<void> {
  const name = `${holdPrefix}${id}`;
  const body = JSON.stringify(hold);
  while (!(await notes.write({ name, version: (await notes.read(name))?.version ?? 0, body, isAnnounced: true }))) continue;
}

/** Removes a hold. Returns false if there is none. */
export async function dropHold(notes: Notes, id: string): Promise<boolean> {
  const note = await notes.read(`${holdPrefix}${id}`);
  return note !== undefined && notes.write({ name: note.name, version: note.version, isAnnounced: true });
}

/** Reads all holds, by their time. */
export async function readHolds(notes: Notes): Promise<readonly Hold[]> {
  const found = await notes.list({ prefix: holdPrefix, limit: 1000 });
  return found.map(({ name, body }) => readHold(name.slice(holdPrefix.length), body)).sort((one, other) => one.at - other.at);
}

function readHold(id: string, body: string): Hold {
  const data = readObject(JSON.parse(body), 'hold');
  const by = data.optionalObject('by');
  return omitUndefined({
    id,
    at: data.number('at'),
    reason: data.string('reason'),
    tenant: data.optionalString('tenant'),
    agent: data.optionalString('agent'),
    by: by && ({ id: by.string('id'), kind: by.string('kind') } satisfies Actor),
  });
}

const applies = ({ tenant, agent }: HoldScope, facts: SessionFacts): boolean =>
  (tenant === undefined || tenant === facts.tenant) && (agent === undefined || agent === facts.agent.id);

/** Services the host provides to its gate. */
interface GateServices {
  readonly readHolds: () => Promise<readonly Hold[]>;
  /** Calls back when the holds may have changed; returns its unsubscribe. */
  readonly listen: (call: () => void) => () => void;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly report: (error: unknown, where: string) => void;
}

export class HoldGate {
  readonly #services: GateServices;
  readonly #waiting = new Set<() => void>();
  #holds: readonly Hold[] = [];
  #started: Promise<void> | undefined;
  #cancel = (): void => undefined;
  #isStoreClosed = false;

  constructor(services: GateServices) {
    this.#services = services;
  }

  /** Reads the holds, and again after each change. Settles when they are known. */
  start(): Promise<void> {
    return (this.#started ??= this.#start());
  }

  async #start(): Promise<void> {
    const { listen, closing } = this.#services;
    if (closing.aborted) return;
    const unlisten = listen(() => void this.#refresh());
    closing.addEventListener('abort', () => {
      unlisten();
      this.#cancel();
      this.#wakeAll();
    });
    await this.#refresh();
    this.#arm();
  }

  /** Returns the first hold that applies to a session. */
  find(facts: SessionFacts): Hold | undefined {
    return this.#holds.find((hold) => applies(hold, facts));
  }

  /** Settles when the holds have changed or the runtime closes; `onWake` receives a function that ends the wait. */
  whenChanged(onWake: (wake: () => void) => void = () => undefined): Promise<void> {
    if (this.#services.closing.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
      onWake(wake);
    });
  }

  /** Settles when the holds have changed, or the signal is aborted. Once the runtime closes, only the signal counts. */
  waitForChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waiting.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
      else if (!this.#services.closing.aborted) this.#waiting.add(end);
    });
  }

  #arm(): void {
    const { clock, closing } = this.#services;
    if (closing.aborted || this.#isStoreClosed) return;
    this.#cancel = clock.schedule(
      lookMs,
      () => {
        void this.#refresh();
        this.#arm();
      },
      true,
    );
  }

  /** Reads the holds again, if this process obeys them. */
  async refresh(): Promise<void> {
    if (this.#started !== undefined && !this.#services.closing.aborted) await this.#refresh();
  }

  async #refresh(): Promise<void> {
    const { readHolds, closing, report } = this.#services;
    try {
      const holds = await readHolds();
      const isSame = holds.length === this.#holds.length && holds.every(({ id }, index) => id === this.#holds[index]?.id);
      this.#holds = holds;
      if (!isSame) this.#wakeAll();
    } catch (error) {
      // The host closed the store before the runtime: whoever acts is told so, and there is nothing more to read.
      if (isStoreClosed(error)) this.#isStoreClosed = true;
      else if (!closing.aborted) report(error, 'the holds');
    }
  }

  #wakeAll(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
