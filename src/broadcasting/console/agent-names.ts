// Names of agents in a log: `desk`, `desk > helper`, `desk > helper#2`.
// T1. Agents that run at the same time have different names, and an agent has one name for as long as it is known.
import type { BaseEvent } from '../../events/index.ts';
import { toLine } from '../../lib/index.ts';

/** Number of agents whose names are kept. */
const mostAgents = 10_000;

interface NamedAgent {
  readonly path: string;
  /** Number of agents inside it, by name. */
  readonly inside: Map<string, number>;
}

export class AgentNames {
  readonly #agents = new Map<string, NamedAgent>();

  /** Returns the name of the agent that has emitted the event, after those of the agents around it. */
  getPath(event: BaseEvent): string {
    return this.#find(event).path;
  }

  #find({ agentId, agentName = 'agent', parentAgentId }: BaseEvent): NamedAgent {
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const outer = parentAgentId === null ? undefined : this.#agents.get(parentAgentId);
    const name = toLine(agentName);
    const named = { path: outer === undefined ? name : `${outer.path} > ${this.#count(outer, name)}`, inside: new Map<string, number>() };
    this.#agents.set(agentId, named);
    if (this.#agents.size > mostAgents) this.#forgetOldest();
    return named;
  }

  /** Tells agents of one name apart. */
  #count({ inside }: NamedAgent, name: string): string {
    const count = (inside.get(name) ?? 0) + 1;
    inside.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  }

  #forgetOldest(): void {
    const [oldest] = this.#agents.keys();
    if (oldest !== undefined) this.#agents.delete(oldest);
  }
}
