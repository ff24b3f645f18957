// Holds: reasons for starting no model calls.
// Owns:     which holds there are, as far as this process knows, and who waits for their end.
// Does not: stop work that is in progress.
// H1. A hold is a note. One that any process has put is known here as soon as the store says that something changed, and after a second
//     at the latest.
// H2. Whoever waits continues as soon as no hold applies, or when it is woken for another reason.
import { omitUndefined, readObject, untilAborted } from '../../lib/index.ts';
import type { Actor } from '../core/action.ts';
import type { SessionFacts } from '../core/session.ts';
import type { Hold, HoldScope } from '../core/session-runtime.ts';
import { isStoreClosed } from '../core/errors.ts';
import type { Notes, SessionStore } from '../store/session-store.ts';
import type { StoreWatcher } from './store-watcher.ts';

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
  readonly store: Pick<SessionStore, 'notes'>;
  readonly watcher: StoreWatcher;
  readonly closing: AbortSignal;
  readonly report: (error: unknown, where: string) => void;
}

export class HoldGate {
  readonly #services: GateServices;
  readonly #waiting = new Set<() => void>();
  #holds: readonly Hold[] = [];
  #started: Promise<void> | undefined;
  #unlisten = (): void => undefined;

  constructor(services: GateServices) {
    this.#services = services;
  }

  /** Reads the holds, and again after each change. Settles when they are known. */
  start(): Promise<void> {
    return (this.#started ??= this.#start());
  }

  async #start(): Promise<void> {
    const { watcher, closing } = this.#services;
    if (closing.aborted) return;
    this.#unlisten = watcher.listenAndLook(
      ({ sessionIds }) => sessionIds === undefined,
      () => void this.#refresh(),
      true,
    );
    closing.addEventListener('abort', () => this.#unlisten());
    await this.#refresh();
  }

  /** Returns the first hold that applies to a session. */
  find(facts: SessionFacts): Hold | undefined {
    return this.#holds.find((hold) => applies(hold, facts));
  }

  /** Settles when the holds have changed, or one of the signals is aborted. */
  async whenChanged(...signals: AbortSignal[]): Promise<void> {
    let wake = (): void => undefined;
    const changed = new Promise<void>((resolve) => this.#waiting.add((wake = resolve)));
    await untilAborted(changed, AbortSignal.any(signals));
    this.#waiting.delete(wake);
  }

  /** Reads the holds again, if this process obeys them. */
  async refresh(): Promise<void> {
    if (this.#started !== undefined) await this.#refresh();
  }

  async #refresh(): Promise<void> {
    const { store, closing, report } = this.#services;
    try {
      const holds = await readHolds(store.notes);
      const isSame = holds.length === this.#holds.length && holds.every(({ id }, index) => id === this.#holds[index]?.id);
      // What is left by a runtime that closes stays held.
      if (isSame || closing.aborted) return;
      this.#holds = holds;
      for (const wake of this.#waiting) wake();
    } catch (error) {
      // The host closed the store before the runtime: whoever acts is told so, and there is nothing more to read.
      if (isStoreClosed(error)) this.#unlisten();
      else if (!closing.aborted) report(error, 'the holds');
    }
  }
}
