// Surroundings of a fault in a session: a place that outlives its processes, and people who act.
// A process that is gone is a runtime whose store was taken over: nothing that it does is stored any more.
import type { Agent, AgentOptions, Orchestrator } from '../../src/entry/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionWait } from '../../src/entry/sessions.ts';
import { createMemoryPlace, createSessionRuntime, formatStoredEvent } from '../../src/entry/sessions.ts';
import type { Place } from '../sessions/stage.ts';
import { newProcess, until } from '../sessions/stage.ts';
import type { Staged } from './fault.ts';
import type { World } from './world.ts';
import { createWorld, passTime } from './world.ts';

export const ann = { id: 'ann', kind: 'user' } as const;
export const bob = { id: 'bob', kind: 'staff' } as const;

/** Name of the only session. */
export const sessionId = 'one';

type AnyCapability = NonNullable<AgentOptions['capabilities']>[number];
type Options = Omit<AgentOptions, 'ports' | 'capabilities'> & { readonly capabilities?: readonly AnyCapability[] };

/** A place with one session, whose processes can die. */
export interface Desk extends World {
  /** Starts a process on the same place; the one before is gone. */
  readonly start: (agents: readonly Orchestrator[], more?: Partial<SessionRuntimeOptions>) => EmbeddedRuntime;
  readonly agent: (options: Options) => Agent;
  /** Starts a process, creates the session and sends a message of ann; returns when it ends or waits. */
  readonly open: (agent: Orchestrator, more?: Partial<SessionRuntimeOptions> & { readonly text?: string }) => Promise<EmbeddedRuntime>;
  /** Lets time pass until an action has ended. */
  readonly wait: <Value>(work: Promise<Value>) => Promise<Value>;
}

export function createDesk(place: Place = createMemoryPlace()): Desk {
  const world = createWorld();
  const { clock, ids, onProblem } = world.ports;
  const start: Desk['start'] = (agents, more = {}) =>
    createSessionRuntime({ ...newProcess, agents, store: place.open(), clock, ids, onProblem, onEvent: world.listen, ...more });
  const wait: Desk['wait'] = (work) => passTime(clock, work);
  const open: Desk['open'] = async (agent, { text = 'Go.', ...more } = {}) => {
    const runtime = start([agent], more);
    await runtime.create({ id: sessionId }, { by: ann });
    await wait(runtime.send(sessionId, text, { by: ann }));
    return runtime;
  };
  return { ...world, start, wait, open, agent: (options) => createAgent({ id: 'clerk', ...options, ports: world.ports }) };
}

/** Returns the only thing that the session waits for. */
export async function getOnlyWait(runtime: EmbeddedRuntime): Promise<SessionWait> {
  const [wait, ...others] = (await runtime.get(sessionId)).waitingFor;
  if (wait === undefined || others.length > 0) throw new Error('The session does not wait for one thing.');
  return wait;
}

/** Waits until a session has a status. */
export const waitForStatus = (runtime: EmbeddedRuntime, status: string, id: string = sessionId): Promise<unknown> =>
  until(async () => {
    const session = await runtime.get(id);
    if (session.status !== status) throw new Error(`The session is ${session.status}.`);
  });

/** Texts of the session: its explanation, what was emitted, and what is stored. */
export async function readDesk({ lines, log }: Desk, runtime: EmbeddedRuntime): Promise<Staged> {
  const stored: string[] = [];
  for await (const event of runtime.events(sessionId)) stored.push(formatStoredEvent(event));
  return { explanation: (await runtime.get(sessionId)).explain(), lines, log, stored };
}
