// LangGraph's prebuilt agent.
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { BaseMessage } from '@langchain/core/messages';
import { AIMessage, AIMessageChunk, isToolMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import type { z } from 'zod';
import type { Script, Subject } from '../contender.ts';
import { look, piece, question, readStep, takeText, toCallId, toolDescription, toolInput } from '../contender.ts';

/** A chat model that plays a script. */
class BenchModel extends BaseChatModel {
  readonly #script: Script;
  #tools: unknown;

  constructor(script: Script) {
    super({});
    this.#script = script;
  }

  override _llmType(): string {
    return 'bench';
  }

  override bindTools(tools: unknown): this {
    this.#tools = (tools as readonly { readonly name: string; readonly description: string }[]).map(({ name, description }) => [
      name,
      description,
    ]);
    return this;
  }

  #takeRequest(messages: readonly BaseMessage[]): number {
    this.#script.tally.requests += 1;
    this.#script.onRequest?.(
      messages.map((message) => message.toDict()),
      this.#tools,
    );
    const last = messages.at(-1);
    return readStep(last !== undefined && isToolMessage(last) ? last.tool_call_id : undefined);
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const [step, { steps, calls, deltas }] = [this.#takeRequest(messages), this.#script];
    const message =
      step >= steps
        ? new AIMessage(piece.repeat(deltas))
        : new AIMessage({
            content: '',
            tool_calls: Array.from({ length: calls }, (_, index) => ({
              id: toCallId(step, index),
              name: 'look',
              args: { id: step },
              type: 'tool_call' as const,
            })),
          });
    return Promise.resolve({ generations: [{ text: message.text, message }] });
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const [step, { steps, calls, deltas }] = [this.#takeRequest(messages), this.#script];
    if (step < steps) {
      const tool_call_chunks = Array.from({ length: calls }, (_, index) => ({
        id: toCallId(step, index),
        name: 'look',
        args: `{"id":${step}}`,
        index,
        type: 'tool_call_chunk' as const,
      }));
      yield new ChatGenerationChunk({ text: '', message: new AIMessageChunk({ content: '', tool_call_chunks }) });
      return;
    }
    for (let index = 0; index < deltas; index += 1) {
      const chunk = new ChatGenerationChunk({ text: piece, message: new AIMessageChunk(piece) });
      yield chunk;
      await manager?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

/** Sets up the agent. A conversation is stored with the serializer of its checkpoints. */
export function setUp(script: Script): Subject {
  // By default, pieces are passed on in the background, and a model without a network ends before the last third has arrived.
  if (script.streams) process.env['LANGCHAIN_CALLBACKS_BACKGROUND'] = 'false';
  const agent = createReactAgent({
    llm: new BenchModel(script),
    tools: [
      tool((input: z.infer<typeof toolInput>) => JSON.stringify(look(script.tally, input)), {
        name: 'look',
        description: toolDescription,
        schema: toolInput,
      }),
    ],
  });
  const count = (): void => {
    script.tally.notices += 1;
  };
  const options = { recursionLimit: 2 * script.steps + 2, callbacks: [{ handleChainEnd: count }] };
  const input = { messages: [{ role: 'user', content: question }] };
  const { serde } = new MemorySaver();
  return {
    converse: async () => {
      if (!script.streams) return agent.invoke(input, options);
      for await (const [message] of await agent.stream(input, { ...options, streamMode: 'messages' }))
        if (message instanceof AIMessageChunk && message.text !== '') takeText(script, message.text);
      return undefined;
    },
    save: async (kept) => (await serde.dumpsTyped(kept))[1],
    restore: (saved) => serde.loadsTyped('json', saved),
  };
}
