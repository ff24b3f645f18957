import type { StateCodec, NewStateOptions } from '../step-by-step/index.ts';
import { createStateCodec, RunState } from '../step-by-step/index.ts';
import type { ToolUseStep } from '../tool-use/index.ts';
import { stepCodec, ToolUseState } from '../tool-use/index.ts';

/** The state of a conversation with an agent: over many turns, over days, on any machine. */
export class AgentState extends ToolUseState {
  /** How it is stored. */
  static override readonly codec: StateCodec<AgentState> = createStateCodec<AgentState, ToolUseStep>({
    kind: 'agent-state',
    step: stepCodec,
    build: (data) => new AgentState(data),
  });

  /** A conversation in which nothing was said yet. */
  static override empty(options: NewStateOptions = {}): AgentState {
    return new AgentState(RunState.emptyData(options));
  }

  /** Reads a stored state. */
  static override fromJSON(stored: unknown): AgentState {
    return AgentState.codec.decode(stored);
  }

  override toJSON(): unknown {
    return AgentState.codec.encode(this);
  }
}
