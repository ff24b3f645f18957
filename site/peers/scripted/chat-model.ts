// A chat model of LangChain that answers from a script.
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import type { Answer } from './answer.ts';

const toMessage = (answer: Answer): AIMessage =>
  typeof answer === 'string'
    ? new AIMessage(answer)
    : new AIMessage({ content: '', tool_calls: [{ id: answer.id, name: answer.name, args: { ...answer.args }, type: 'tool_call' }] });

/** A model that gives one answer after the other. */
class ScriptedChatModel extends BaseChatModel {
  readonly #answers: readonly Answer[];
  #index = 0;

  constructor(answers: readonly Answer[]) {
    super({});
    this.#answers = answers;
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(): Promise<ChatResult> {
    const message = toMessage(this.#answers[this.#index++] ?? 'The script has ended.');
    return { generations: [{ text: message.text, message }] };
  }
}

export const scriptedChatModel = (answers: readonly Answer[]): BaseChatModel => new ScriptedChatModel(answers);
