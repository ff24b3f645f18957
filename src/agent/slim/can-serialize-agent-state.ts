import type { AgentState } from '../agent-state.ts';

/** Writes states in some format and reads them back. */
export interface CanSerializeAgentState<Payload = unknown> {
  serialize(state: AgentState): Payload;
  /** Throws for data that is not such a payload, is damaged, or was written by a newer version. */
  deserialize(payload: unknown): AgentState;
}
