// New sessions, in the process that runs them.
import type { Clock, IdSource } from '../../lib/index.ts';
import type { RunState, StateType } from '../../step-by-step/index.ts';
import type { ActionOrigin, ForkPoint } from '../core/action.ts';
import type { Agents } from '../core/agents.ts';
import { toIdentity } from '../core/agents.ts';
import { toExecutionId } from '../core/execution-id.ts';
import { parseFacts } from '../core/parse-input.ts';
import { readUntilStep } from '../core/read-until-step.ts';
import type { SessionFacts } from '../core/session.ts';
import type { NewSession } from '../core/session-runtime.ts';
import type { SessionReader } from '../store/session-store.ts';
import type { NewLog } from './session-log.ts';

/** A session to create: its id is chosen before anything is asked for. */
export type NewSessionRequest = NewSession & { readonly id: string };

/** Services that new sessions need. */
export interface MakingServices {
  readonly agents: Agents;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Returns the given id first, then new ones. */
function startWith(id: string, ids: IdSource): IdSource {
  const given = [id];
  return () => given.pop() ?? ids();
}

/** Returns a session in which nothing was said yet. */
export function createEmptySession(
  { agent: agentName, ...wishes }: NewSessionRequest,
  { agents, ids, at }: Omit<MakingServices, 'clock'> & { readonly at: number },
): { readonly facts: SessionFacts; readonly states: StateType; readonly state: RunState } {
  const agent = agents.newest(agentName);
  const facts: SessionFacts = { ...parseFacts(wishes), agent: toIdentity(agent), createdAt: at };
  const clock = { now: () => at, monotonic: () => 0, schedule: () => () => undefined };
  return { facts, states: agent.states, state: agent.states.empty({ clock, ids: startWith(facts.id, ids) }) };
}

/** Returns the log of a session in which nothing was said yet. */
export function createNewLog(session: NewSessionRequest, origin: ActionOrigin, services: MakingServices): NewLog {
  const at = services.clock.now();
  return { ...createEmptySession(session, { ...services, at }), action: { type: 'create', ...origin, at } };
}

/** The session that a fork is made of. */
interface ForkSource {
  readonly reader: SessionReader;
  readonly facts: SessionFacts;
  readonly states: StateType;
}

/** Returns the log of a session that starts from the state of another one. It has a copy of that one's entries, and needs it no more. */
export async function createForkLog(
  from: ForkPoint,
  { reader, facts: source, states }: ForkSource,
  {
    session,
    origin,
    clock,
    ids,
  }: Omit<MakingServices, 'agents'> & { readonly session: Omit<NewSessionRequest, 'agent'>; readonly origin: ActionOrigin },
): Promise<NewLog> {
  const { id, tenant = source.tenant, owner = source.owner, tags = source.tags } = session;
  const at = clock.now();
  const facts: SessionFacts = { ...parseFacts({ id, tenant, owner, tags }), agent: source.agent, createdAt: at, forkedFrom: from };
  const past = await readUntilStep(reader, states, from);
  // At step 0 this is the execution before the one that is left out.
  const { number } = past.state.execution;
  const state = past.state.fork({ id: facts.id, executionId: toExecutionId(facts.id, number), clock, ids });
  // A request belongs to the session that it was made to.
  const entries = past.entries.map(({ requestId: _, ...entry }) => entry);
  const refused = [...past.queued.keys()].map((entry) => ({ entry, why: 'The session was forked before the action was applied.' }));
  return { facts, states, state, action: { type: 'fork', from, ...origin, at }, history: { entries, refused } };
}
