// The loop written by hand, over a model of the AI SDK: call it, check the arguments, run the tools, keep the messages.
import type { LanguageModelV4, LanguageModelV4Content, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Script, Subject } from '../contender.ts';
import { look, question, takeText, toolInput } from '../contender.ts';
import { createLanguageModel } from '../language-model.ts';

type Answer = readonly LanguageModelV4Content[];
type ToolMessage = Extract<LanguageModelV4Prompt[number], { role: 'tool' }>;
type CallPart = Extract<LanguageModelV4Content, { type: 'tool-call' }>;

async function readStream(script: Script, stream: ReadableStream<LanguageModelV4StreamPart>): Promise<Answer> {
  const calls: LanguageModelV4Content[] = [];
  let text = '';
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const part = next.value;
    if (part.type === 'tool-call') calls.push(part);
    if (part.type !== 'text-delta') continue;
    text += part.delta;
    takeText(script, part.delta);
  }
  return calls.length > 0 ? calls : [{ type: 'text', text }];
}

async function ask(script: Script, model: LanguageModelV4, prompt: LanguageModelV4Prompt): Promise<Answer> {
  return script.streams ? readStream(script, (await model.doStream({ prompt })).stream) : (await model.doGenerate({ prompt })).content;
}

async function runCall({ tally }: Script, { toolCallId, toolName, input }: CallPart): Promise<ToolMessage['content'][number]> {
  const value = look(tally, toolInput.parse(JSON.parse(input)));
  return Promise.resolve({ type: 'tool-result', toolCallId, toolName, output: { type: 'json', value } });
}

/** Sets up the loop. */
export function setUp(script: Script): Subject {
  const model = createLanguageModel(script);
  return {
    converse: async () => {
      const prompt: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: question }] }];
      for (;;) {
        const content = await ask(script, model, prompt);
        script.tally.notices += 1;
        const calls = content.filter((part) => part.type === 'tool-call');
        if (calls.length === 0) {
          prompt.push({ role: 'assistant', content: content.filter((part) => part.type === 'text') });
          return prompt;
        }
        prompt.push({
          role: 'assistant',
          content: calls.map(({ type, toolCallId, toolName, input }) => ({
            type,
            toolCallId,
            toolName,
            input: JSON.parse(input) as unknown,
          })),
        });
        prompt.push({ role: 'tool', content: await Promise.all(calls.map((call) => runCall(script, call))) });
      }
    },
    save: (kept) => Promise.resolve(JSON.stringify(kept)),
    restore: (saved) => Promise.resolve(JSON.parse(String(saved)) as unknown),
  };
}
