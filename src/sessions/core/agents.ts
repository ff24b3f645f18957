import { describeValue, InvalidArgumentError, omitUndefined } from '../../lib/index.ts';
import type { Orchestrator, StateType } from '../../step-by-step/index.ts';
import { AgentChangedError, UnknownAgentError } from './errors.ts';

/** Rule for a session whose agent has changed: stay with its version, continue with the newest, or refuse. */
export const OnVersionChange = { Pin: 'pin', Continue: 'continue', Refuse: 'refuse' } as const;
export type OnVersionChange = (typeof OnVersionChange)[keyof typeof OnVersionChange];

/** The release of an agent that a session belongs to. */
export interface AgentIdentity {
  readonly id: string;
  readonly version?: string;
  readonly fingerprint: string;
}

export const toIdentity = ({ id, version, fingerprint }: Orchestrator): AgentIdentity => omitUndefined({ id, version, fingerprint });

/** Returns the release of an agent as stores find sessions by it. */
export const toRelease = ({ version = '', fingerprint }: AgentIdentity): string => `${version} ${fingerprint}`;

export const describeIdentity = ({ version, fingerprint }: AgentIdentity): string =>
  `${version === undefined ? 'without a version' : `version ${version}`} (fingerprint ${fingerprint})`;

const isSame = (agent: Orchestrator, identity: AgentIdentity): boolean =>
  agent.id === identity.id && agent.version === identity.version && agent.fingerprint === identity.fingerprint;

/** Throws if two agents could not be told apart in stored sessions. */
function checkIdentities(agents: readonly Orchestrator[]): void {
  for (const [index, { id, version }] of agents.entries()) {
    const twin = agents.findIndex((other) => other.id === id && other.version === version);
    if (twin === index || agents[twin] === agents[index]) continue;
    const named = version === undefined ? 'and no version' : `and version ${JSON.stringify(version)}`;
    throw new InvalidArgumentError(
      `agents[${twin}] and agents[${index}] are different agents, but both have id ${JSON.stringify(id)} ${named}. Give each its own id; give two releases of one agent different versions.`,
    );
  }
}

/** Options of a collection of agents. */
export interface AgentsOptions {
  /** Rule for sessions whose agent has changed. @default 'continue' */
  readonly policy?: OnVersionChange | undefined;
  /** Kinds of states that can be read without their agent. @default none */
  readonly states?: readonly StateType[] | undefined;
}

/** The agents of a runtime. Several may have one id: the last one given is the newest. */
export class Agents {
  readonly #agents: readonly Orchestrator[];
  readonly #policy: OnVersionChange;
  readonly #states: readonly StateType[];

  constructor(agents: readonly Orchestrator[], { policy = OnVersionChange.Continue, states = [] }: AgentsOptions = {}) {
    if (!Object.values(OnVersionChange).includes(policy))
      throw new InvalidArgumentError(`onVersionChange must be "pin", "continue" or "refuse", not ${describeValue(policy)}.`);
    checkIdentities(agents);
    this.#agents = [...agents];
    this.#policy = policy;
    this.#states = states;
  }

  /** Returns the newest with this id; undefined if there is none. */
  find(id: string): Orchestrator | undefined {
    return this.#agents.findLast((each) => each.id === id);
  }

  /** Finds the kind of states that sessions of an agent have. */
  readonly findStates = (agentName: string, kind: string): StateType =>
    this.find(agentName)?.states ?? this.#states.find((each) => each.kind === kind) ?? this.newest(agentName).states;

  /** Returns the newest with this id; without one, the only one there is. */
  newest(id?: string): Orchestrator {
    const known = [...new Set(this.#agents.map((agent) => agent.id))];
    if (id === undefined && known.length > 1)
      throw new InvalidArgumentError(`create() needs agent, because this runtime has several. Use one of ${known.join(', ')}.`);
    const agent = this.#agents.findLast((each) => id === undefined || each.id === id);
    if (agent === undefined) throw new UnknownAgentError(id ?? '', known);
    return agent;
  }

  /** Agents whose sessions can be run here; with `releases`, only sessions of these. */
  get claimable(): readonly { readonly name: string; readonly releases?: readonly string[] }[] {
    const names = [...new Set(this.#agents.map(({ id }) => id))];
    // One that refuses other releases has to say so.
    if (this.#policy !== OnVersionChange.Pin) return names.map((name) => ({ name }));
    return names.map((name) => ({
      name,
      releases: this.#agents.filter((agent) => agent.id === name).map((agent) => toRelease(toIdentity(agent))),
    }));
  }

  /** Returns the agent that continues a session of this one. */
  findSuccessor(identity: AgentIdentity): Orchestrator {
    const newest = this.newest(identity.id);
    if (isSame(newest, identity) || this.#policy === OnVersionChange.Continue) return newest;
    const same = this.#policy === OnVersionChange.Pin ? this.#agents.find((agent) => isSame(agent, identity)) : undefined;
    if (same !== undefined) return same;
    throw new AgentChangedError(identity.id, {
      stored: describeIdentity(identity),
      found: describeIdentity(toIdentity(newest)),
      policy: this.#policy,
    });
  }
}
