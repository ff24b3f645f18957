// An agent on a list of rows. Every run here has four parallel calls and an async hook: a simple one hides faults of the order.
import { expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import { createFakeClock, scriptedModel } from '../testing/index.ts';
import { defineHook } from '../tool-use/index.ts';
import { defineTool } from '../tools/index.ts';
import type { DurableEngine } from './durable-engine.ts';
import type { RecordedCommit } from './durable-options.ts';
import type { JournalRow } from './journal-row.ts';
import { memoryEngine } from './memory-engine.ts';
import { runDurably } from './run-durably.ts';

const never = new Promise<never>(() => undefined);

/** A process that can be killed: nothing of it does anything after that. */
function createProcess(world: { readonly lines: string[] }) {
  const own: { isAlive: boolean } = { isAlive: true };
  const isAlive = (): boolean => own.isAlive;
  const whileAlive = async (line: string): Promise<string> => {
    await Promise.resolve();
    if (!isAlive()) return never;
    world.lines.push(line);
    await new Promise((resolve) => setImmediate(resolve));
    return isAlive() ? line : never;
  };
  const toTool = (name: string, effect: 'pure' | 'idempotent' | 'once') =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input: { type: 'object', properties: { of: { type: 'number' } } },
      effect,
      run: (_, { idempotencyKey }) => whileAlive(`${name} ${idempotencyKey}`),
    });
  const calls = (step: number) => ({
    toolCalls: ['look', 'put', 'note', 'pay'].map((name, index) => ({ name, id: `c${step}-${index}`, args: { of: index } })),
  });
  const agent = createAgent({
    id: 'desk',
    model: scriptedModel(
      [
        ({ messages }) => {
          const step = messages.filter((message) => message.isAssistant()).length;
          return step < 3 ? calls(step) : { text: 'Done.' };
        },
      ],
      { repeatLast: true },
    ),
    tools: [toTool('look', 'pure'), toTool('put', 'idempotent'), toTool('note', 'once'), toTool('pay', 'once')],
    hooks: [
      defineHook({
        name: 'late',
        changes: ['args'],
        beforeTool: async ({ call }) => {
          for (let turns = call.id.endsWith('-0') ? 3 : 1; turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
          return undefined;
        },
      }),
    ],
    ports: { onProblem: () => undefined },
  });
  return { agent, kill: () => (own.isAlive = false) };
}

const toRows = (journal: readonly string[]): readonly JournalRow[] => journal.flatMap((batch) => JSON.parse(batch) as JournalRow[]);
const options = { executionId: 'e1' };

test('takes each step once and records it as rows', async () => {
  const world = { lines: [] as string[] };
  const journal: string[] = [];
  const { agent } = createProcess(world);
  const result = await runDurably(agent, 'Go.', { ...options, engine: memoryEngine(journal) });
  expect([result.status, result.text, result.state.stepCount]).toStrictEqual(['completed', 'Done.', 4]);
  expect(world.lines).toHaveLength(12);
  const kinds = toRows(journal).map((row) => Object.keys(row)[0]);
  expect(kinds.slice(0, 2)).toStrictEqual(['attempt', 'start']);
  expect(kinds.at(-1)).toBe('end');
  expect(kinds.filter((kind) => kind === 'commit')).toHaveLength(4);
});

test('rows of one turn of the event loop are recorded together', async () => {
  const journal: string[] = [];
  await runDurably(createProcess({ lines: [] }).agent, 'Go.', { ...options, engine: memoryEngine(journal) });
  // Ten rows for each step with calls (intents and results, one commit), and fewer lists than rows.
  expect(journal.length).toBeLessThan(toRows(journal).length * 0.8);
});

test('a list that is closed is read, and nothing runs or is recorded', async () => {
  const world = { lines: [] as string[] };
  const journal: string[] = [];
  const first = await runDurably(createProcess(world).agent, 'Go.', { ...options, engine: memoryEngine(journal) });
  const [before, lines] = [[...journal], [...world.lines]];
  const again = await runDurably(createProcess(world).agent, 'Something else.', { ...options, engine: memoryEngine(journal) });
  expect(again.state.toJSON()).toStrictEqual(first.state.toJSON());
  expect([journal, world.lines]).toStrictEqual([before, lines]);
});

/** Kills the process at a call of the engine: before it is recorded, or after. */
function killAt(
  engine: DurableEngine,
  { place, recorded, kill }: { readonly place: number; readonly recorded: boolean; kill(): void },
): DurableEngine {
  let count = 0;
  return {
    ...engine,
    record: async (make) => {
      const isLast = count === place;
      count += 1;
      if (!isLast) return engine.record(make);
      if (recorded) await engine.record(make);
      kill();
      return never;
    },
  };
}

test.each([false, true])(
  'resumes after a kill at every list of rows (recorded: %s): the same end, nothing twice, no gap',
  async (recorded) => {
    for (let place = 0; ; place += 1) {
      const world = { lines: [] as string[] };
      const journal: string[] = [];
      const first = createProcess(world);
      const killed = new Promise<'killed'>((resolve) => {
        const kill = (): void => {
          first.kill();
          resolve('killed');
        };
        const engine = killAt(memoryEngine(journal), { place, recorded, kill });
        void runDurably(first.agent, 'Go.', { ...options, engine }).then(() => resolve('killed'));
      });
      await killed;
      const commits: RecordedCommit[] = [];
      const onCommit = (commit: RecordedCommit): void => void commits.push(commit);
      const result = await runDurably(createProcess(world).agent, 'Go.', { ...options, engine: memoryEngine(journal), onCommit });
      expect([place, result.status, result.text, result.state.stepCount]).toStrictEqual([place, 'completed', 'Done.', 4]);
      const once = world.lines.filter((line) => /^(note|pay)/.test(line));
      expect(new Set(once).size).toBe(once.length);
      const numbers = commits.flatMap(({ events }) => events.map(({ seq }) => seq));
      expect(numbers).toStrictEqual(numbers.map((_, index) => index + 1));
      const marks = toRows(journal).filter((row) => 'attempt' in row).length;
      if (marks === 1 && place > 5) break;
    }
  },
);

test('is left at its bound, and continues in a list of its own', async () => {
  const world = { lines: [] as string[] };
  const { agent } = createProcess(world);
  const clock = createFakeClock();
  let state: Parameters<typeof agent.run>[0] | string = 'Go.';
  const kinds: string[] = [];
  for (;;) {
    const result = await runDurably(agent, state, { ...options, engine: memoryEngine(), maxSteps: 2, clock });
    kinds.push(result.status);
    if (result.status !== 'unfinished') break;
    state = agent.restore(JSON.parse(JSON.stringify(agent.states.encode(result.state))));
  }
  expect([kinds, world.lines.length]).toStrictEqual([['unfinished', 'completed'], 12]);
});
