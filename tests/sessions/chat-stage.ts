// What the tests of chats in sessions have in common: a clerk with tools who does what was said, a person who is waited for, and an echo.
import type { Chat, ChatOptions, Participant } from '../../src/chat/index.ts';
import { createChat, functionParticipant, humanParticipant, llmParticipant, TurnState } from '../../src/chat/index.ts';
import type { EmbeddedRuntime, StoredEvent } from '../../src/sessions/index.ts';
import type { RunState } from '../../src/step-by-step/index.ts';
import type { Place, Stage } from './stage.ts';
import { ann, stageOn } from './stage.ts';

type MoreOfChat = Partial<ChatOptions<readonly Participant[]>>;

export interface ChatStage extends Stage {
  /** Number of calls of the echo. */
  readonly echoed: string[];
  readonly clerk: Participant;
  readonly boss: Participant;
  readonly echo: Participant;
  readonly chat: (more?: MoreOfChat) => Chat;
  /** A runtime over this chat, and the session `one` in it. */
  readonly open: (more?: MoreOfChat) => Promise<EmbeddedRuntime>;
}

/** The chat on this place. */
export function chatStageOn(place: Place): ChatStage {
  const stage = stageOn(place);
  const echoed: string[] = [];
  const clerk = llmParticipant({
    name: 'clerk',
    model: stage.model,
    tools: Object.values(stage.tools),
    limits: { steps: 9, wallMs: Number.POSITIVE_INFINITY },
  });
  const boss = humanParticipant({ name: 'boss', prompt: 'Well?' });
  const echo = functionParticipant({
    name: 'echo',
    speak: ({ state }) => {
      const words = `echo of ${state.messages.at(-1)?.text ?? 'nothing'}`;
      echoed.push(words);
      return words;
    },
  });
  const ports = { clock: stage.clock, ids: stage.ids, onProblem: (problem: unknown) => void stage.problems.push(problem) };
  const chat = (more: MoreOfChat = {}): Chat => createChat({ id: 'room', participants: [clerk, boss, echo], ports, ...more });
  const open = async (more: MoreOfChat = {}): Promise<EmbeddedRuntime> => {
    const runtime = stage.start({ agents: [chat(more)] });
    await runtime.create({ id: 'one' }, { by: ann });
    return runtime;
  };
  return { ...stage, echoed, clerk, boss, echo, chat, open };
}

/** The state of a session of a chat. */
export function turnsIn(state: RunState): TurnState {
  // Holds: no other steps are in such a state.
  if (state instanceof TurnState) return state as TurnState;
  throw new Error('That is no state of a conversation between several.');
}

/** The conversation, a line for each that spoke. */
export const readLines = (state: RunState): readonly string[] =>
  turnsIn(state).transcript.map(({ speaker = 'input', text }) => `${speaker}: ${text}`);

export async function linesIn(runtime: EmbeddedRuntime, id = 'one'): Promise<readonly string[]> {
  return readLines((await runtime.get(id)).state);
}

/** Lists the speakers of the current execution. */
export const listSpeakers = (state: RunState): readonly (string | undefined)[] => state.steps.map(({ participant }) => participant);

/** An event in short. */
export const inShort = ({ type, participant }: StoredEvent): string => (typeof participant === 'string' ? `${participant} ${type}` : type);
