// Waits of a durable run, and what a host may do between its steps.
import { describe, expect, test } from 'vitest';
import { createTools, KillableProcess, lateHook } from '../support/killable-process.ts';
import type { Agent } from '../../src/agent/index.ts';
import { createAgent } from '../../src/agent/index.ts';
import { ErrorPolicy } from '../../src/errors/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { DurableEngine, JournalRow, RecordedCommit } from '../../src/journal/index.ts';
import { memoryEngine, runDurably } from '../../src/journal/index.ts';

const hour = 3_600_000;
const isDown = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true } as const;
const callFour = { toolCalls: ['look', 'put', 'note', 'pay'].map((name, index) => ({ name, id: `c-${index}` })) };

/** An agent that makes four calls, fails once and asks for a wait of up to an hour, then answers. */
function setUp(baseMs = hour): { readonly agent: Agent; readonly lines: readonly string[]; readonly clock: FakeClock } {
  const lines: string[] = [];
  const clock = createFakeClock();
  let failures = 0;
  const agent = createAgent({
    id: 'desk',
    model: scriptedModel(
      [
        ({ messages }) => {
          if (messages.every((message) => !message.isAssistant())) return callFour;
          failures += 1;
          return failures === 1 ? { error: isDown } : { text: 'Done.' };
        },
      ],
      { repeatLast: true },
    ),
    tools: createTools(new KillableProcess(lines)),
    hooks: [lateHook],
    errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs, capMs: hour, longestRetryAfterMs: hour }),
    limits: { wallMs: 3 * hour },
    ports: { clock, random: () => 1, onProblem: () => undefined },
  });
  return { agent, lines, clock };
}

const toRows = (journal: readonly string[]): readonly JournalRow[] =>
  journal.flatMap((batch) => [JSON.parse(batch) as JournalRow[] | number].flat().filter((row) => typeof row === 'object'));

/** Makes the sleeps of an engine end at once. */
const sleepAtOnce = (engine: DurableEngine, slept: number[] = []): DurableEngine => ({
  ...engine,
  sleep: (ms) => engine.record(() => ms).then((recorded) => void slept.push(recorded)),
});

/** Lets time pass until the work is done. */
async function whileAdvancing<Value>(work: Promise<Value>, clock: FakeClock): Promise<Value> {
  const own = { isDone: false };
  const done = work.finally(() => (own.isDone = true));
  await expect.poll(() => clock.advance(1000).then(() => own.isDone), { interval: 1 }).toBe(true);
  return done;
}

describe('a wait before a retry', () => {
  test('of an hour is one sleep of the engine', async () => {
    const { agent, clock } = setUp();
    const [journal, slept]: [string[], number[]] = [[], []];
    const result = await runDurably(agent, 'Go.', { engine: sleepAtOnce(memoryEngine(journal), slept), executionId: 'e1' });
    expect([result.text, slept, clock.pendingTimers()]).toStrictEqual(['Done.', [hour], 0]);
    expect(result.state.execution.waitedMs).toBe(hour);
    expect(toRows(journal).filter((row) => 'sleepMs' in row)).toStrictEqual([{ sleepMs: hour }]);
  });

  test('is slept once by the next attempt if a kill interrupted it', async () => {
    const { agent } = setUp();
    const [journal, slept]: [string[], number[]] = [[], []];
    const killed = new Promise<void>((resolve) => {
      const engine = { ...memoryEngine(journal), sleep: () => (resolve(), new Promise<never>(() => undefined)) };
      void runDurably(agent, 'Go.', { engine, executionId: 'e1' });
    });
    await killed;
    const result = await runDurably(agent, 'Go.', { engine: sleepAtOnce(memoryEngine(journal), slept), executionId: 'e1' });
    expect([result.text, result.state.stepCount, slept]).toStrictEqual(['Done.', 3, [hour]]);
    // Waking up does not count as a crash.
    expect(result.state.steps.at(-1)?.resumed).toBeUndefined();
  });

  test('of less than a second happens in the process', async () => {
    const { agent, clock } = setUp(900);
    const slept: number[] = [];
    const running = runDurably(agent, 'Go.', { engine: sleepAtOnce(memoryEngine(), slept), executionId: 'e1' });
    expect((await whileAdvancing(running, clock)).text).toBe('Done.');
    expect(slept).toStrictEqual([]);
  });

  test('may be left to the host', async () => {
    const { agent } = setUp();
    const bounds = { executionId: 'e1', maxSteps: 100, leavesToWait: true };
    const left = await runDurably(agent, 'Go.', { ...bounds, engine: memoryEngine() });
    expect(left).toMatchObject({ status: 'unfinished', resumeAfterMs: hour });
  });
});

describe('between two steps', () => {
  test('the host can replace the state; the change is recorded, and a replay does not ask again', async () => {
    const { agent } = setUp(1);
    const journal: string[] = [];
    let asked = 0;
    const between = (state: Parameters<Agent['run']>[0]) => {
      asked += 1;
      return asked === 2 ? { state: state.withMetadata('told', true) } : undefined;
    };
    const options = { executionId: 'e1', clock: createFakeClock() };
    const plain = setUp(1);
    const engine = memoryEngine(journal);
    const running = runDurably(agent, 'Go.', { ...options, engine, between });
    const first = await whileAdvancing(running, options.clock);
    expect(first.text).toBe('Done.');
    expect(first.state.metadata).toStrictEqual({ told: true });
    const before = asked;
    const again = await runDurably(plain.agent, 'Go.', { ...options, engine: memoryEngine(journal), between });
    expect([again.state.metadata, asked]).toStrictEqual([{ told: true }, before]);
  });

  test('a note is stored instead of the events', async () => {
    const { agent } = setUp();
    const notes: unknown[] = [];
    await runDurably(agent, 'Go.', {
      engine: sleepAtOnce(memoryEngine()),
      executionId: 'e1',
      toNote: ({ events }) => events.length,
      onCommit: ({ note, events }: RecordedCommit) => notes.push([typeof note, events]),
    });
    expect(notes).toStrictEqual([1, 2, 3].map(() => ['number', []]));
  });
});

describe('an attempt that is over', () => {
  test('interrupts running calls and records nothing more when the engine ends it', async () => {
    const { agent, lines } = setUp();
    const journal: string[] = [];
    const ended = new AbortController();
    const engine = memoryEngine(journal);
    const running = runDurably(agent, 'Go.', {
      executionId: 'e1',
      engine: {
        ...engine,
        signal: ended.signal,
        record: async (make) => {
          if (journal.length === 3) ended.abort(new Error('gone'));
          return ended.signal.aborted ? new Promise(() => undefined) : engine.record(make);
        },
      },
    });
    await expect(running).rejects.toMatchObject({ code: 'attempt-replaced' });
    expect(journal).toHaveLength(3);
    const result = await runDurably(agent, 'Go.', { engine: sleepAtOnce(memoryEngine(journal)), executionId: 'e1' });
    const once = lines.filter((line) => /^(?:note|pay) /.test(line));
    expect([result.text, new Set(once).size]).toStrictEqual(['Done.', once.length]);
  });

  test('detects that another attempt records rows', async () => {
    const { agent } = setUp();
    const journal: string[] = [];
    const engine = memoryEngine(journal);
    const running = runDurably(agent, 'Go.', {
      executionId: 'e1',
      engine: {
        ...engine,
        record: async (make) => {
          if (journal.length === 2) journal.push('[{"attempt":"another"}]');
          return engine.record(make);
        },
      },
    });
    await expect(running).rejects.toMatchObject({ code: 'attempt-replaced' });
  });

  test('ends if onCommit rejects', async () => {
    const { agent } = setUp();
    const onCommit = (): void => {
      throw new Error('no room');
    };
    await expect(runDurably(agent, 'Go.', { engine: memoryEngine(), executionId: 'e1', onCommit })).rejects.toThrow('no room');
  });
});

test('rejects a journal with values that runDurably() did not write', async () => {
  const { agent } = setUp();
  await expect(runDurably(agent, 'Go.', { engine: memoryEngine(['42']), executionId: 'e1' })).rejects.toThrow(
    'Record nothing else while it runs',
  );
});
