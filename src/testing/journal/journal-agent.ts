import type { Agent } from '../../agent/index.ts';
import { createAgent } from '../../agent/index.ts';
import { ErrorPolicy } from '../../errors/index.ts';
import { sleep, systemClock } from '../../lib/index.ts';
import { defineHook } from '../../tool-use/index.ts';
import { defineTool } from '../../tools/index.ts';
import type { ScriptedAnswer } from '../scripted-model.ts';
import { scriptedModel } from '../scripted-model.ts';

/** Options of an agent for one case. */
export interface JournalAgentOptions {
  /** Returns the result of a tool call. */
  readonly run: (call: { readonly signal: AbortSignal; readonly index: number }) => unknown;
  /** Returns the next answer of the model, given the number of earlier answers. @default four calls, then "End" */
  readonly answer?: (step: number) => ScriptedAnswer;
  readonly errors?: ErrorPolicy;
}

/** Four parallel calls. */
export const callFour = (step: number): ScriptedAnswer => ({
  toolCalls: [0, 1, 2, 3].map((index) => ({ name: 'work', id: `c${step}-${index}`, args: { index } })),
});

const late = defineHook({
  name: 'late',
  changes: ['args'],
  beforeTool: async ({ call }) => {
    await sleep(systemClock, call.id.endsWith('-0') ? 2 : 0);
    return undefined;
  },
});

/** Creates an agent with one tool, which it calls four times in a step. */
export function createJournalAgent({ run, answer, errors = ErrorPolicy.ignoreToolErrors() }: JournalAgentOptions): Agent {
  const toAnswer = answer ?? ((step: number): ScriptedAnswer => (step === 0 ? callFour(step) : { text: 'End' }));
  return createAgent({
    id: 'worker',
    model: scriptedModel([({ messages }) => toAnswer(messages.filter((message) => message.isAssistant()).length)], { repeatLast: true }),
    tools: [
      defineTool({
        name: 'work',
        description: 'Works.',
        input: { type: 'object', properties: { index: { type: 'number' } }, required: ['index'] },
        effect: 'once',
        run: ({ index }, { signal }) => run({ signal, index }) as string,
      }),
    ],
    hooks: [late],
    errors,
    // The longest wait that the backoff allows.
    ports: { onProblem: () => undefined, random: () => 1 },
  });
}
