// Agents of the browser tests. Every process creates them alike. A model does what the last message says, and a gate is a file: an answer
// that waits at one is in the middle for as long as the test wants, in whichever process it is written.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Agent } from '../../src/agent/index.ts';
import { createAgent } from '../../src/agent/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import type { JsonObject } from '../../src/lib/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineClientTool, defineTool } from '../../src/tools/index.ts';

const nothing = { type: 'object', properties: {} } as const;

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a partner up.',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const,
  effect: 'pure',
  run: ({ name }) => {
    if (name === 'nobody') throw new Error('The directory does not know nobody.');
    return { name, city: 'Bremen', leads: 3 };
  },
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  input: {
    type: 'object',
    properties: { order: { type: 'number' }, euros: { type: 'number' }, note: { type: 'string' } },
    required: ['order', 'euros'],
  } as const,
  effect: 'idempotent',
  needsApproval: true,
  run: ({ order, euros }) => `Paid ${euros} EUR for order ${order}.`,
});

const pickDate = defineClientTool({ name: 'pick_date', description: 'Lets a person pick a date.', input: nothing });

/** Words of an answer. */
export const toWords = (count: number): string => Array.from({ length: count }, (_, n) => `word-${n}`).join(' ');

async function* write(count: number, pass: () => Promise<void>): AsyncGenerator<string> {
  const words = toWords(count).split(' ');
  const middle = Math.floor(count / 2);
  for (const [n, word] of words.entries()) {
    if (n === middle) await pass();
    yield n === 0 ? word : ` ${word}`;
  }
}

interface Order {
  readonly text: string;
  /** Results of the calls since. */
  readonly results: readonly string[];
  /** Id of the next call: no other call of the session has it. */
  readonly id: string;
  readonly pass: (gate: string) => Promise<void>;
}

const usage = { input: 120, output: 30 };

function answer({ text, results, id, pass }: Order): ScriptedAnswer {
  const [verb = '', first = '', second = ''] = text.split(' ');
  const last = results.at(-1)?.split('\n').at(-1);
  const call = (name: string, args: JsonObject = {}): Pick<ScriptedAnswer, 'toolCalls' | 'usage'> => ({
    toolCalls: [{ name, args, id }],
    usage,
  });
  switch (verb) {
    case 'write':
      return { chunks: write(Number(first), async () => (second === '' ? undefined : pass(second))), usage };
    case 'find':
      return last === undefined
        ? { text: 'Let me look. ', ...call('look_up', { name: first }) }
        : { text: `That is what I found about ${first}.`, usage };
    case 'refund':
      return last === undefined
        ? call('refund', { order: Number(first), euros: 40, note: 'The parcel was lost on its way.' })
        : { text: `Done. ${last}`, usage };
    case 'date':
      return last === undefined ? call('pick_date') : { text: `The date is ${last}.`, usage };
    case 'dig':
      // With a gate, the third step is in the middle until it opens.
      return {
        ...(first !== '' && results.length === 2 && { chunks: write(4, () => pass(first)) }),
        ...call('look_up', { name: `partner-${results.length}` }),
      };
    case 'steps':
      return results.length < Number(first) - 1
        ? { text: `Step ${results.length + 1}.`, ...call('look_up', { name: `partner-${results.length}` }) }
        : { text: 'The last step.', usage };
    case 'say':
      return { text: text.slice('say '.length), usage };
    default:
      return { text: `I heard: ${text}`, usage };
  }
}

/** Creates the agents. `gates` is the folder of their gates. */
export function createAgents(gates: string): readonly Agent[] {
  const createModel = (): ReturnType<typeof scriptedModel> =>
    scriptedModel(
      [
        ({ messages, signal }: ModelRequest) => {
          const last = messages.findLastIndex((message) => message.isUser());
          const results = messages.slice(last + 1).flatMap(({ toolResults }) => toolResults);
          const pass = async (gate: string): Promise<void> => {
            while (!existsSync(join(gates, gate)) && signal?.aborted !== true) await pause(5);
          };
          return answer({
            text: messages[last]?.text ?? '',
            results: results.map(({ output }) => (output.type === 'text' ? output.value : JSON.stringify(output))),
            id: `call-${messages.length}`,
            pass,
          });
        },
      ],
      { repeatLast: true },
    );
  const tools = [lookUp, refund, pickDate];
  const endless = { steps: Infinity, tokens: Infinity, wallMs: Infinity };
  return [
    createAgent({ id: 'desk', model: createModel(), tools, limits: { steps: 4 } }),
    createAgent({ id: 'careful', model: createModel(), tools, limits: { steps: 3, onLimit: 'pause' } }),
    createAgent({ id: 'endless', model: createModel(), tools, limits: endless }),
  ];
}
