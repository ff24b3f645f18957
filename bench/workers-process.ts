// A worker of bench/workers.ts, in a process of its own: runs sessions of a store until its input ends. It prints when the first step of a
// message starts, and when the last one ends.
//   node bench/workers-process.ts '{ "place": …, "maxConcurrent": 25 }'
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Model } from 'stepline';
import { createAgent, defineTool, Usage } from 'stepline';
import { createSessionRuntime } from 'stepline/sessions';
import { benchLimits } from './agent.bench.ts';
import type { BenchStore } from './processes-store.ts';
import { openStore } from './processes-store.ts';

export interface WorkerOrders {
  readonly place: BenchStore;
  readonly maxConcurrent?: number;
}

/** Work that a message asks for. */
export interface Task {
  /** Different for each message. */
  readonly id: string;
  readonly steps: number;
  /** Duration of an answer, which comes in 20 pieces. @default at once */
  readonly answerMs?: number;
  /** CPU time that each step needs of the tool. @default 0 */
  readonly busyMs?: number;
}

/** A line that a worker prints: it begins to look for work, or a task starts or ends. */
export interface Line {
  readonly type: 'up' | 'start' | 'end';
  readonly id: string;
  readonly at: number;
}

const pieces = 20;

/** Time that processes of one machine can compare, in milliseconds. */
export const now = (): number => performance.timeOrigin + performance.now();

const say = (type: Line['type'], id: string): void => void writeSync(1, `${JSON.stringify({ type, id, at: now() })}\n`);

function spend(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

const ask: Model['stream'] = async ({ messages }, onDelta) => {
  const start = messages.findLastIndex((message) => message.isUser());
  // Holds: the bench writes the messages.
  const { id, steps, answerMs = 0, busyMs = 0 } = JSON.parse(messages[start]?.text ?? '') as Task;
  const step = (messages.length - start + 1) / 2;
  if (step === 1) say('start', id);
  spend(busyMs);
  const words: string[] = [];
  for (let index = 0; index < (answerMs > 0 ? pieces : 1); index += 1) {
    // A reader sees how old it is.
    const text = `word ${String(index)} at ${now().toFixed(1)} `;
    words.push(text);
    onDelta({ type: 'text', text });
    if (answerMs > 0) await pause(answerMs / pieces);
  }
  if (step === steps) say('end', id);
  const call = { type: 'tool-call' as const, toolCallId: `call-${String(step)}`, toolName: 'look', args: { id: step } };
  return {
    ok: true,
    response: {
      parts: [{ type: 'text', text: words.join('') }, ...(step < steps ? [call] : [])],
      usage: Usage.of({ input: 100, output: 20 }),
      finishReason: step < steps ? 'tool_calls' : 'stop',
    },
  };
};

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  effect: 'once',
  run: ({ id }) => ({ id, found: true }),
});

export const createWorkAgent = (): ReturnType<typeof createAgent> =>
  createAgent({
    id: 'bench',
    model: { provider: 'bench', modelId: 'bench', generate: (request) => ask(request, () => undefined), stream: ask },
    tools: [look],
    limits: benchLimits,
  });

async function work({ place, maxConcurrent = 500 }: WorkerOrders): Promise<void> {
  const { store, close } = await openStore(place);
  process.stdin.resume().on('end', () => {
    void runtime
      .drain({ timeoutMs: 1000 })
      .then(close)
      .then(() => process.exit());
  });
  say('up', '');
  const runtime = createSessionRuntime({ agents: [createWorkAgent()], store, maxConcurrent });
}

const [, script = '', orders] = process.argv;
// Holds: the bench writes them.
if (script.endsWith('workers-process.ts') && orders !== undefined) await work(JSON.parse(orders) as WorkerOrders);
