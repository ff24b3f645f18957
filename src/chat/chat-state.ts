import type { NewStateOptions, StateCodec } from '../step-by-step/index.ts';
import { createStateCodec, RunState } from '../step-by-step/index.ts';
import type { ChatStep } from './chat-step.ts';
import { turnCodec } from './step-codec.ts';
import { TurnState } from './turn-state.ts';

/** The state of a conversation between participants: over many turns, over days, on any machine. */
export class ChatState extends TurnState {
  /** Stored form. */
  static get codec(): StateCodec<ChatState> {
    return codec;
  }

  /** An empty conversation. */
  static empty(options: NewStateOptions = {}): ChatState {
    return new ChatState(RunState.emptyData(options));
  }

  /** Reads a stored state. */
  static fromJSON(stored: unknown): ChatState {
    return ChatState.codec.decode(stored);
  }

  toJSON(): unknown {
    return ChatState.codec.encode(this);
  }
}

// Outside the class: a static field runs code, so bundlers would keep the class even if nothing uses it.
const codec: StateCodec<ChatState> = createStateCodec<ChatState, ChatStep>({
  kind: 'chat-state',
  step: turnCodec,
  build: (data) => new ChatState(data),
});
