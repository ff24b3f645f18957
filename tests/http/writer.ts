// The agent of the tests with several processes: it writes as many words as it is told, slowly. Every process creates it alike.
import { setTimeout as pause } from 'node:timers/promises';
import type { Agent } from '../../src/agent/index.ts';
import { createAgent } from '../../src/agent/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/index.ts';

/** Words of an answer. */
export const toWords = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `word-${n} `);

async function* write(count: number, everyMs: number): AsyncGenerator<string> {
  for (const [n, word] of toWords(count).entries()) {
    yield word;
    if (everyMs > 0) await pause(everyMs);
    else if (n % 50 === 49) await pause(1);
  }
}

/** Creates the agent. `write 30 2` calls a tool, then writes 30 words, one every 2 ms; `hang` never answers. */
export function createWriter(onAbort: () => void = () => undefined): Agent {
  const look = defineTool({
    name: 'look',
    description: 'Looks something up.',
    input: { type: 'object', properties: {} } as const,
    effect: 'pure',
    run: () => 'looked',
  });
  const model = scriptedModel(
    [
      async ({ messages, signal }) => {
        const last = messages.findLastIndex((message) => message.isUser());
        const [order = '', count = '10', everyMs = '2'] = messages[last]?.text.split(' ') ?? [];
        if (order === 'hang') {
          signal?.addEventListener('abort', onAbort, { once: true });
          return new Promise<never>(() => undefined);
        }
        if (messages.length === last + 1) return { text: 'Let me see. ', toolCalls: [{ name: 'look', id: `c${last}` }] };
        return { chunks: write(Number(count), Number(everyMs)) };
      },
    ],
    { repeatLast: true },
  );
  return createAgent({ id: 'writer', model, tools: [look] });
}
