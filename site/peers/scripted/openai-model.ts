// A model of OpenAI Agents that answers from a script.
import type { Model, ModelResponse } from '@openai/agents';
import { Usage } from '@openai/agents';
import type { Answer } from './answer.ts';

const toOutput = (answer: Answer): ModelResponse['output'] =>
  typeof answer === 'string'
    ? [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: answer }] }]
    : [{ type: 'function_call', callId: answer.id, name: answer.name, arguments: JSON.stringify(answer.args), status: 'completed' }];

/** Makes a model that gives one answer after the other. */
export function scriptedOpenAiModel(answers: readonly Answer[]): Model {
  let index = 0;
  return {
    getResponse: async () => ({
      usage: new Usage({ inputTokens: 40, outputTokens: 8, totalTokens: 48 }),
      output: toOutput(answers[index++] ?? 'The script has ended.'),
    }),
    getStreamedResponse: () => {
      throw new Error('The script answers whole requests only.');
    },
  };
}
