// The AI SDK's agent.
import type { ModelMessage } from 'ai';
import { isStepCount, modelMessageSchema, tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';
import type { Script, Subject } from '../contender.ts';
import { look, question, takeText, toolDescription, toolInput } from '../contender.ts';
import { createLanguageModel } from '../language-model.ts';

/** Sets up the agent. A conversation is stored as its messages, which are checked when they are read. */
export function setUp(script: Script): Subject {
  const agent = new ToolLoopAgent({
    model: createLanguageModel(script),
    tools: { look: tool({ description: toolDescription, inputSchema: toolInput, execute: (input) => look(script.tally, input) }) },
    stopWhen: isStepCount(script.steps + 1),
    onStepEnd: () => {
      script.tally.notices += 1;
    },
  });
  return {
    converse: async () => {
      if (!script.streams) return agent.generate({ prompt: question });
      const result = await agent.stream({ prompt: question });
      for await (const text of result.textStream) takeText(script, text);
      return result;
    },
    save: (kept) => {
      // Holds: snapshots are taken of conversations that are not streamed.
      const { responseMessages } = kept as { readonly responseMessages: readonly ModelMessage[] };
      return Promise.resolve(JSON.stringify([{ role: 'user', content: question }, ...responseMessages]));
    },
    restore: (saved) => Promise.resolve(z.array(modelMessageSchema).parse(JSON.parse(String(saved)))),
  };
}
