// An agent on a list of rows. Every run here has four parallel calls and an async hook, because a simple run hides ordering bugs.
import { expect, test } from 'vitest';
import { createTools, findFaults, KillableProcess, lateHook, runThroughKills } from '../support/killable-process.ts';
import type { Agent } from '../../src/agent/index.ts';
import { createAgent } from '../../src/agent/index.ts';
import { createChat, llmParticipant } from '../../src/chat/index.ts';
import { createCollaboration, llmCollaborator } from '../../src/collaboration/index.ts';
import { InvalidArgumentError } from '../../src/lib/index.ts';
import type { Orchestrator } from '../../src/step-by-step/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { JournalRow } from '../../src/journal/index.ts';
import { memoryEngine, runDurably } from '../../src/journal/index.ts';

const callFour = (step: number) => ({
  toolCalls: ['look', 'put', 'note', 'pay'].map((name, index) => ({ name, id: `c${step}-${index}`, args: { turns: (step + index) % 3 } })),
});

/** A model that makes four calls in each of its first answers, counted in what it reads. */
const createModel = (steps: number, last = 'Done.') =>
  scriptedModel(
    [
      ({ messages }) => {
        const own = messages.slice(messages.findLastIndex((message) => message.isUser())).filter((message) => message.isAssistant()).length;
        return own < steps ? callFour(messages.length) : { text: last };
      },
    ],
    { repeatLast: true },
  );

const ports = { onProblem: () => undefined };
const createDesk = (process: KillableProcess): Agent =>
  createAgent({ id: 'desk', model: createModel(3), tools: createTools(process), hooks: [lateHook], ports });

const toRows = (journal: readonly string[]): readonly JournalRow[] => journal.flatMap((batch) => JSON.parse(batch) as JournalRow[]);
const listKinds = (journal: readonly string[]): readonly (string | undefined)[] => toRows(journal).map((row) => Object.keys(row)[0]);

test('takes each step once and records it as rows', async () => {
  const { result, lines, journal } = await runThroughKills(createDesk, []);
  expect([result.status, result.text, result.state.stepCount, lines.length]).toStrictEqual(['completed', 'Done.', 4, 12]);
  const kinds = listKinds(journal);
  expect([...kinds.slice(0, 2), kinds.at(-1)]).toStrictEqual(['attempt', 'start', 'end']);
  expect(kinds.filter((kind) => kind === 'commit')).toHaveLength(4);
});

test('records rows of the same event-loop turn together, and drops unrecorded effects of a step that commits', async () => {
  const { journal } = await runThroughKills(createDesk, []);
  expect(journal.length).toBeLessThan(toRows(journal).length * 0.8);
  // Each of three steps has an answer, three intents and four results; the last step has an answer.
  expect(listKinds(journal).filter((kind) => kind === 'effect').length).toBeLessThan(3 * 8 + 1);
});

test('reads a closed list without running or recording anything', async () => {
  const { journal, result } = await runThroughKills(createDesk, []);
  const copy = [...journal];
  const lines: string[] = [];
  const agent = createDesk(new KillableProcess(lines));
  const again = await runDurably(agent, 'Another.', { engine: memoryEngine(copy), executionId: 'e1' });
  expect(JSON.stringify(again.state)).toBe(JSON.stringify(result.state));
  expect([lines, copy]).toStrictEqual([[], journal]);
});

const kinds: readonly (readonly [kind: string, create: (process: KillableProcess) => Orchestrator, steps: number])[] = [
  ['an agent', createDesk, 4],
  [
    'a chat',
    (process) =>
      createChat({
        participants: [
          llmParticipant({ name: 'ann', model: createModel(2, 'Built.'), tools: createTools(process), hooks: [lateHook] }),
          llmParticipant({ name: 'bob', model: createModel(1, 'Read.'), tools: createTools(process), hooks: [lateHook] }),
        ],
        limits: { steps: 3 },
        ports,
      }),
    2,
  ],
  [
    'a collaboration',
    (process) =>
      createCollaboration({
        collaborators: [
          llmCollaborator({ name: 'ann', model: createModel(2, 'Built.'), tools: createTools(process), hooks: [lateHook] }),
          llmCollaborator({ name: 'bob', model: createModel(1, 'Read.'), tools: createTools(process), hooks: [lateHook] }),
        ],
        limits: { steps: 3 },
        ports,
      }),
    2,
  ],
];

test.each(kinds)('%s reaches the same end after a kill at every recording, without repeated calls or gaps', async (_, create, least) => {
  const plain = await runThroughKills(create, []);
  const wanted = [plain.result.status, plain.result.text, plain.result.state.stepCount];
  expect(plain.result.state.stepCount).toBeGreaterThanOrEqual(least);
  expect(plain.lines.length).toBeGreaterThan(8);
  for (const isRecorded of [false, true])
    for (let at = 0; ; at += 1) {
      const run = await runThroughKills(create, [{ at, isRecorded }]);
      expect([at, run.result.status, run.result.text, run.result.state.stepCount]).toStrictEqual([at, ...wanted]);
      expect([at, findFaults(run)]).toStrictEqual([at, []]);
      if (run.kills === 0) break;
    }
});

test('returns unfinished at maxSteps, and continues in another list with the same wall clock', async () => {
  const lines: string[] = [];
  const agent = createDesk(new KillableProcess(lines));
  const clock = createFakeClock(1000);
  const bounds = { executionId: 'e1', maxSteps: 2, clock };
  const first = await runDurably(agent, 'Go.', { ...bounds, engine: memoryEngine() });
  expect([first.status, first.state.stepCount, lines.length]).toStrictEqual(['unfinished', 2, 8]);
  await clock.advance(5000);
  const wallStartedAt = first.status === 'unfinished' ? first.wallStartedAt : 0;
  const stored: unknown = JSON.parse(JSON.stringify(agent.states.encode(first.state)));
  const second = await runDurably(agent, agent.restore(stored), { ...bounds, engine: memoryEngine(), wallStartedAt });
  expect([second.status, second.state.stepCount, lines.length]).toStrictEqual(['completed', 4, 12]);
  expect([wallStartedAt, new Set(lines).size]).toStrictEqual([1000, 12]);
});

test('names the options and arguments that are wrong', async () => {
  const agent = createAgent({ id: 'desk', model: createModel(0), ports });
  const engine = memoryEngine();
  const run = (begin: unknown, options: object) => runDurably(agent, begin as never, { engine, executionId: 'e1', ...options });
  await expect(run('Go.', { executionID: 'e2' })).rejects.toThrow('Did you mean "executionId"?');
  await expect(run('Go.', { executionId: '' })).rejects.toThrow('executionId must be a non-empty string');
  await expect(run('Go.', { maxSteps: 0 })).rejects.toThrow('maxSteps must be a whole number from 1 on');
  await expect(run(agent.states.encode(agent.states.empty()), {})).rejects.toThrow(InvalidArgumentError);
});
