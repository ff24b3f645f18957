import { isRecord } from '../lib/index.ts';
import { WrongKindError } from '../serialization/index.ts';
import type { DecisionOptions, NewStateOptions, StateCodec } from '../step-by-step/index.ts';
import { createStateCodec, RunState } from '../step-by-step/index.ts';
import type { ToolUseStep } from '../tool-use/index.ts';
import { stepCodec, ToolUseState } from '../tool-use/index.ts';
import { LostInPayloadError } from './slim/lost-in-payload-error.ts';
import { isSlimPayload, slimKind } from './slim/slim-kind.ts';

const kind = 'agent-state';

function refuseSlimPayload(stored: unknown): void {
  if (isSlimPayload(stored)) throw new WrongKindError(kind, slimKind, 'Read it with deserialize() of a SlimAgentStateSerializer.');
}

function refuseLostWait({ data: { gaps } }: AgentState, id: string): void {
  if (gaps?.lostWaits?.includes(id) === true) throw LostInPayloadError.forRun(id);
}

function createAgentStateCodec(): StateCodec<AgentState> {
  const codec = createStateCodec<AgentState, ToolUseStep>({ kind, step: stepCodec, build: (data) => new AgentState(data) });
  return {
    ...codec,
    decode: (stored) => {
      refuseSlimPayload(stored);
      return codec.decode(stored);
    },
  };
}

/** The state of a conversation with an agent: over many turns, over days, on any machine. */
export class AgentState extends ToolUseState {
  /** Codec of the stored form. */
  static override get codec(): StateCodec<AgentState> {
    return codec;
  }

  /** An empty conversation. */
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

  override approve(id: string, options: DecisionOptions & { readonly args?: unknown } = {}): this {
    const isEdited = isRecord(options) && options['args'] !== undefined;
    refuseLostWait(this, id);
    if (!isEdited && this.data.gaps?.callsWithoutArgs?.includes(id) === true) throw LostInPayloadError.forArgs(id);
    return super.approve(id, options);
  }

  override reject(id: string, reason?: string, options: DecisionOptions = {}): this {
    refuseLostWait(this, id);
    return super.reject(id, reason, options);
  }

  override answer(id: string, value: unknown, options: DecisionOptions = {}): this {
    refuseLostWait(this, id);
    return super.answer(id, value, options);
  }
}

// Outside the class: a static field runs code, so bundlers would keep the class even if nothing uses it.
const codec = createAgentStateCodec();
