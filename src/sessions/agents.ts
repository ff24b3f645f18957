import { InvalidArgumentError } from '../lib/index.ts';
import { AgentChangedError } from './agent-changed-error.ts';
import type { AgentIdentity, SessionAgent } from './session-agent.ts';
import { UnknownAgentError } from './unknown-agent-error.ts';

/** What becomes of a session whose agent has changed since: it stays with its version, goes on with the newest, or is refused. */
export const OnVersionChange = { Pin: 'pin', Continue: 'continue', Refuse: 'refuse' } as const;
export type OnVersionChange = (typeof OnVersionChange)[keyof typeof OnVersionChange];

const inWords = ({ version, fingerprint }: AgentIdentity | SessionAgent): string =>
  `${version === undefined ? 'without a version' : `version ${version}`} (fingerprint ${fingerprint})`;

const isSame = (agent: SessionAgent, identity: AgentIdentity): boolean =>
  agent.version === identity.version && agent.fingerprint === identity.fingerprint;

/** The agents of a runtime. Several may have one id: the last one given is the newest. */
export class Agents {
  readonly #byId: ReadonlyMap<string, readonly SessionAgent[]>;
  readonly #policy: OnVersionChange;

  constructor(agents: readonly SessionAgent[], policy: OnVersionChange) {
    if ((agents as readonly SessionAgent[] | undefined)?.length === undefined || agents.length === 0)
      throw new InvalidArgumentError('A session runtime needs agents: a list with at least one of them.');
    if (!Object.values(OnVersionChange).includes(policy))
      throw new InvalidArgumentError(`onVersionChange must be "pin", "continue" or "refuse", not ${JSON.stringify(policy)}.`);
    const byId = new Map<string, readonly SessionAgent[]>();
    for (const agent of agents) byId.set(agent.id, [...(byId.get(agent.id) ?? []), agent]);
    this.#byId = byId;
    this.#policy = policy;
  }

  /** The newest with this id; without one, the only one there is. */
  newest(id?: string): SessionAgent {
    if (id === undefined && this.#byId.size > 1)
      throw new InvalidArgumentError(`Say which agent the session is for: ${[...this.#byId.keys()].join(', ')}.`);
    const name = id ?? [...this.#byId.keys()][0] ?? '';
    const agent = this.#byId.get(name)?.at(-1);
    if (agent === undefined) throw new UnknownAgentError(name, [...this.#byId.keys()]);
    return agent;
  }

  /** Who carries on a session that this one began. */
  successorOf(identity: AgentIdentity): SessionAgent {
    const newest = this.newest(identity.id);
    if (isSame(newest, identity) || this.#policy === OnVersionChange.Continue) return newest;
    const same = this.#policy === OnVersionChange.Pin ? this.#byId.get(identity.id)?.find((agent) => isSame(agent, identity)) : undefined;
    if (same !== undefined) return same;
    throw new AgentChangedError(identity.id, { stored: inWords(identity), found: inWords(newest), policy: this.#policy });
  }
}
