import { SteplineError, sleep, systemClock } from '../../lib/index.ts';
import type { NewSession, SendOptions, Session, SessionResult, SessionRuntime, SessionWait, StoredEvent } from '../../sessions/index.ts';
import { ConformanceError } from '../conformance-error.ts';
import { holds, same } from '../conformance.ts';
import type { RuntimeWorld, RuntimeWorldOptions, WorldAbility } from './runtime-world.ts';

export const ann = { id: 'ann', kind: 'user' } as const;
export const bob = { id: 'bob', kind: 'staff' } as const;

/** Longest time that anything may take. */
const patienceMs = 15_000;
const lookMs = 5;

/** The surroundings of a case: a world, and ways to use it. */
export interface RuntimeStage {
  readonly world: RuntimeWorld;
  /** The application's runtime as it is now: after a restart it may be another one. */
  readonly runtime: SessionRuntime;
  /** Creates a session and returns its id. */
  readonly create: (id: string, more?: Omit<NewSession, 'id'>) => Promise<string>;
  /** Sends a message by Ann. */
  readonly send: (id: string, text: string, options?: Partial<SendOptions>) => Promise<SessionResult>;
  /** Creates a session of the desk, sends it a message and waits for the result. */
  readonly run: (id: string, text: string, more?: Omit<NewSession, 'id'>) => Promise<SessionResult>;
  /** Creates a session, sends it a message and does not wait for the end. */
  readonly start: (id: string, text: string, more?: Omit<NewSession, 'id'>) => Promise<void>;
  /** Waits until this many recorded lines begin with a text. Returns all lines that do. */
  readonly reach: (line: string, times?: number) => Promise<readonly string[]>;
  /** Lines recorded so far that begin with a text. */
  readonly count: (line: string) => Promise<number>;
  /** Waits until a worker has taken all actions on a session. */
  readonly isTaken: (id: string) => Promise<unknown>;
  /** Waits until a session has this status. */
  readonly becomes: (id: string, status: Session['status']) => Promise<Session>;
  readonly kill: () => Promise<void>;
  readonly drain: () => Promise<void>;
  readonly add: () => Promise<void>;
  readonly restart: (options?: RuntimeWorldOptions) => Promise<void>;
  readonly advance: (ms: number) => Promise<void>;
}

export type RuntimeCheck = (stage: RuntimeStage) => Promise<void>;

/** A case: what it checks, the abilities that it needs, and the options of its world. */
export interface RuntimeCase {
  readonly needs?: readonly WorldAbility[];
  readonly options?: RuntimeWorldOptions;
  readonly check: RuntimeCheck;
}

/** Cases by their names. */
export type RuntimeCases = Readonly<Record<string, RuntimeCase | RuntimeCheck>>;

/** Fails the case if something does not settle in time. */
export async function within<Value>(work: Promise<Value>, what: string, ms: number = patienceMs): Promise<Value> {
  const timer = new AbortController();
  const late = sleep(systemClock, ms, timer.signal).then(() => {
    throw new ConformanceError(`${what} took longer than ${ms} ms`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    timer.abort();
  }
}

/** Reads again and again until there is a value; fails the case if there is none in time. */
export async function waitUntil<Value>(read: () => Promise<Value | undefined>, what: string): Promise<Value> {
  const until = systemClock.monotonic() + patienceMs;
  for (;;) {
    const value = await within(read(), what);
    if (value !== undefined) return value;
    holds(systemClock.monotonic() < until, `${what} took longer than ${patienceMs} ms`);
    await sleep(systemClock, lookMs);
  }
}

/** Gives a worker time to notice something, or to do something that it must not do. */
export const waitFor = (ms = 250): Promise<void> => sleep(systemClock, ms);

export async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export const readEvents = (runtime: SessionRuntime, id: string): Promise<readonly StoredEvent[]> => collect(runtime.events(id));

/** Returns the wait with this id; without one, the only one there is. */
export function getWait({ waitingFor }: Pick<Session, 'waitingFor'>, id?: string): SessionWait {
  const found = waitingFor.filter((wait) => id === undefined || wait.id === id);
  const [wait] = found;
  holds(wait !== undefined && found.length === 1, `expected one wait, found ${JSON.stringify(waitingFor)}`);
  return wait;
}

/** Fails the case unless the work is rejected with this code; returns the error. */
export async function assertRefused(work: Promise<unknown>, code: string, what: string): Promise<SteplineError> {
  const [settled] = await within(Promise.allSettled([work]), what);
  if (settled.status === 'fulfilled')
    throw new ConformanceError(`${what} was not refused with the code ${code}; it returned ${JSON.stringify(settled.value)}`);
  const error: unknown = settled.reason;
  const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  holds(
    SteplineError.is(error) && error instanceof Error,
    `${what} was refused with something that is not an error of this package: ${why}`,
  );
  same(error.code, code, `the code of the refusal of ${what} (${why})`);
  return error;
}

/** Everything that can be read of a session, as one text. Without refused actions: a runtime may keep them, or not. */
export async function readAll(runtime: SessionRuntime, id: string): Promise<string> {
  const [session, actions, events] = await Promise.all([runtime.get(id), runtime.actions(id), readEvents(runtime, id)]);
  const applied = actions.filter(({ refused }) => refused === undefined);
  return JSON.stringify({ session, state: session.state, actions: applied, events });
}

function need(work: Promise<void> | undefined, ability: string): Promise<void> {
  if (work === undefined) throw new ConformanceError(`The world has the ability ${ability}, but not the method that belongs to it.`);
  return work;
}

/** Sets the stage in a world. */
export function createRuntimeStage(world: RuntimeWorld): RuntimeStage {
  const find = async (line: string): Promise<readonly string[]> =>
    (await world.records()).filter((each) => each === line || each.startsWith(`${line} `));
  const create: RuntimeStage['create'] = async (id, more = {}) =>
    (await within(world.runtime.create({ agent: 'desk', ...more, id }, { by: ann }), `creating session ${id}`)).id;
  const send: RuntimeStage['send'] = (id, text, options = {}) => {
    const sent = world.runtime.send(id, text, { by: ann, ...options });
    // A case that fails meanwhile leaves nobody to wait for it.
    sent.catch(() => undefined);
    return sent;
  };
  return {
    world,
    get runtime() {
      return world.runtime;
    },
    create,
    send,
    run: async (id, text, more) => within(send(await create(id, more), text), `the message "${text}"`),
    start: async (id, text, more) => {
      await within(send(await create(id, more), text, { until: 'accepted' }), `accepting the message "${text}"`);
    },
    reach: (line, times = 1) =>
      waitUntil(async () => {
        const found = await find(line);
        return found.length >= times ? found : undefined;
      }, `reaching "${line}"`),
    count: async (line) => (await find(line)).length,
    isTaken: (id) =>
      waitUntil(async () => ((await world.runtime.get(id)).mailbox.length === 0 ? true : undefined), `taking the actions on session ${id}`),
    becomes: (id, status) =>
      waitUntil(async () => {
        const session = await world.runtime.get(id);
        return session.status === status ? session : undefined;
      }, `session ${id} becoming ${status}`),
    kill: async () => within(need(world.kill?.(), 'kill'), 'kill()'),
    drain: async () => within(need(world.drain?.(), 'drain'), 'drain()'),
    add: async () => within(need(world.add?.(), 'workers'), 'add()'),
    restart: async (options) => within(need(world.restart?.(options), 'kill or drain'), 'restart()'),
    advance: async (ms) => within(need(world.advance?.(ms), 'time'), 'advance()'),
  };
}
