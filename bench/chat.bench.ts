// What a turn of a chat costs over the same turns written by hand: two models that speak in turn, default criteria, one listener.
import type { Model } from 'stepline';
import type { ModelOutcome } from 'stepline/inference';
import { Message, StepsLimit, Usage } from 'stepline';
import type { ChatState } from 'stepline/chat';
import { createChat, llmParticipant } from 'stepline/chat';
import type { Contender } from './measure.ts';

const outcome: ModelOutcome = {
  ok: true,
  response: { parts: [{ type: 'text', text: 'Yes.' }], usage: Usage.of({ input: 100, output: 20 }), finishReason: 'stop' },
};
const model: Model = {
  provider: 'bench',
  modelId: 'bench',
  generate: () => Promise.resolve(outcome),
  stream: () => Promise.resolve(outcome),
};
const kept = { events: 0, messages: 0 };

/** A chat of two models, with a run inside every turn. */
export function withChat(turns: number): Contender {
  const chat = createChat({
    participants: [llmParticipant({ name: 'a', model }), llmParticipant({ name: 'b', model })],
    onlyCriteria: [new StepsLimit<ChatState>(turns, ({ stepCount }) => stepCount)],
  });
  chat.wiretap(() => {
    kept.events += 1;
  });
  return {
    name: `chat, ${String(turns)} turns`,
    units: turns,
    work: async () => {
      const { state } = await chat.start('Go.').result;
      if (state.stepCount !== turns) throw new Error(state.explain());
      kept.messages += state.messages.length;
    },
  };
}

/** A hand-written loop: put the roles right, ask, keep the words, count. */
export function chatByHand(turns: number): Contender {
  return {
    name: `by hand, ${String(turns)} turns`,
    units: turns,
    work: async () => {
      const said: { readonly by: string; readonly text: string }[] = [{ by: 'input', text: 'Go.' }];
      for (let turn = 0; turn < turns; turn += 1) {
        const by = turn % 2 === 0 ? 'a' : 'b';
        const messages = said.map(({ by: other, text }, index) =>
          other === by ? Message.assistant(text, { id: String(index) }) : Message.user(`[${other}] ${text}`, { id: String(index) }),
        );
        const answered = await model.generate({ messages });
        const [part] = answered.ok ? answered.response.parts : [];
        said.push({ by, text: part?.type === 'text' ? part.text : '' });
      }
      kept.messages += said.length;
    },
  };
}
