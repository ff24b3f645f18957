// Processes that die at a chosen moment.
// Owns:     the count of all moments at which a process can die, and its death: from then on nothing it asked for ever settles.
// Does not: know what the process does.
import type { SessionStore, SessionWrite } from '../../src/sessions/index.ts';
import { StoreUnavailableError } from '../../src/sessions/index.ts';

/** A process. */
export interface MortalProcess {
  readonly isDead: boolean;
  /** Settles when it dies. */
  readonly died: Promise<'died'>;
  /** A moment at which it can die; never settles for a dead one. */
  moment(label: string): Promise<void>;
  /** Does work with a moment before it begins, and one between its end and the word of it. */
  work<Value>(label: string, work: () => Value | Promise<Value>): Promise<Value>;
}

/** Surroundings of processes that run one after the other. */
export interface Mortality {
  /** All moments that were reached, in order, across all processes. */
  readonly moments: readonly string[];
  start(): MortalProcess;
}

// A new promise each time: one that never settles keeps everything that ever waited for it.
const waitForever = (): Promise<never> => new Promise(() => undefined);

/** Faults by moment, counted from 1 across all processes. */
export interface Troubles {
  /** The process ends. */
  readonly deaths?: readonly number[];
  /** The operation is refused, and the process continues. */
  readonly failures?: readonly number[];
}

/** The error of what is refused. */
export const outOfOrder = 'out of order';

/** Processes with these troubles. */
export function createMortality({ deaths = [], failures = [] }: Troubles = {}): Mortality {
  const moments: string[] = [];
  const start = (): MortalProcess => {
    let isDead = false;
    let die: (word: 'died') => void = () => undefined;
    const died = new Promise<'died'>((resolve) => (die = resolve));
    const moment = (label: string): Promise<void> => {
      if (isDead) return waitForever();
      moments.push(label);
      if (failures.includes(moments.length)) return Promise.reject(new StoreUnavailableError('failed', `${outOfOrder}: ${label}`));
      if (!deaths.includes(moments.length)) return Promise.resolve();
      isDead = true;
      die('died');
      return waitForever();
    };
    const work = async <Value>(label: string, todo: () => Value | Promise<Value>): Promise<Value> => {
      await moment(`before ${label}`);
      // Between a moment and what follows it another part of the process may have died.
      if (isDead) return waitForever();
      try {
        return await todo();
      } finally {
        // Also if it fails.
        await moment(`after ${label}`);
      }
    };
    return {
      get isDead() {
        return isDead;
      },
      died,
      moment,
      work,
    };
  };
  return { moments, start };
}

const summary = ({ effects = [], entries = [] }: SessionWrite): string =>
  [...effects.map(({ key, phase }) => `${phase} ${key}`), ...entries.map(({ n }) => `entry ${n}`)].join(', ');

/** A store as a process sees it that can die at each of its operations, before it is kept or before it is told. */
export function mortalStore(store: SessionStore, process: MortalProcess): SessionStore {
  /** Methods of a port at which a process does not die; a dead one does nothing with them. */
  const keepFromDead = <Port extends object>(port: Port): Port => {
    const methods = Object.entries(port).map(([name, method]: [string, (...args: readonly unknown[]) => unknown]) => [
      name,
      (...args: readonly unknown[]) => (process.isDead ? waitForever() : method(...args)),
    ]);
    // Holds: each method of a port returns a promise.
    return Object.fromEntries(methods) as Port;
  };
  return {
    ...store,
    inbox: keepFromDead(store.inbox),
    notes: keepFromDead(store.notes),
    leases: {
      ...keepFromDead(store.leases),
      join: (...args) => process.work('join', () => store.leases.join(...args)),
      claim: (...args) => process.work('claim', () => store.leases.claim(...args)),
    },
    log: {
      ...keepFromDead(store.log),
      write: (write) => process.work(`write ${summary(write)}`, () => store.log.write(write)),
      load: (...args) => process.work('load', () => store.log.load(...args)),
      entries: (...args) => process.work('entries', () => store.log.entries(...args)),
      findRequest: (...args) => process.work('findRequest', () => store.log.findRequest(...args)),
    },
    heads: {
      ...keepFromDead(store.heads),
      list: (...args) => process.work('list', () => store.heads.list(...args)),
      quarantine: (...args) => process.work('quarantine', () => store.heads.quarantine(...args)),
    },
  };
}
