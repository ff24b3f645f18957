// The agent of all sessions: it looks an order up, asks before it pays, and says so.
import type { Agent, Model } from '../../src/entry/index.ts';
import { createAgent, defineTool, Usage } from '../../src/entry/index.ts';
import type { ModelOutcome, ModelRequest } from '../../src/inference/index.ts';

const input = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const;

const look = defineTool({
  name: 'look',
  description: 'Looks an order up.',
  input,
  effect: 'pure',
  run: ({ order }) => ({ order, lines: Array.from({ length: 10 }, (_, line) => `${order}/${line}: one box, delivered`) }),
});

const pay = defineTool({
  name: 'pay',
  description: 'Pays an order back.',
  input,
  needsApproval: true,
  run: ({ order }) => ({ order, isPaid: true }),
});

function answer({ messages }: ModelRequest): ModelOutcome {
  const usage = Usage.of({ input: 100, output: 20 });
  const last = messages.at(-1);
  const isAsked = last?.isUser() === true && last.text.startsWith('Pay');
  if (!isAsked)
    return {
      ok: true,
      response: { parts: [{ type: 'text', text: `All done. ${'It is paid. '.repeat(20)}` }], usage, finishReason: 'stop' },
    };
  const order = last.text.split(' ').at(-1) ?? '';
  const calls = [look, pay].map(({ name }) => ({
    type: 'tool-call' as const,
    toolCallId: `${name}-${messages.length}`,
    toolName: name,
    args: { order },
  }));
  return {
    ok: true,
    response: { parts: [{ type: 'text', text: `I look order ${order} up.` }, ...calls], usage, finishReason: 'tool_calls' },
  };
}

const model: Model = {
  provider: 'soak',
  modelId: 'soak',
  generate: (request) => Promise.resolve(answer(request)),
  stream: (request, onDelta) => {
    const outcome = answer(request);
    const text = outcome.ok ? outcome.response.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('') : '';
    for (const [word] of text.matchAll(/\S+\s*/g)) onDelta({ type: 'text', text: word });
    return Promise.resolve(outcome);
  },
};

export const createSoakAgent = (): Agent => createAgent({ id: 'soak', model, tools: [look, pay] });
