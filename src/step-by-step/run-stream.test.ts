import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EventHeader } from '../events/index.ts';
import { BaseEvent } from '../events/index.ts';
import type { Script, ScriptedStep } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import { createStepByStep } from './step-by-step.ts';
import type { StepProcess } from './step-process.ts';

const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true };
const finishes: ScriptedStep = { text: 'Here it is.' };

/** A piece of text that can be joined to the one before it. */
class TextDelta extends BaseEvent {
  readonly type = 'TextDelta';
  readonly text: string;

  constructor(header: EventHeader, text: string) {
    super(header);
    this.text = text;
  }

  override describe(): string {
    return this.text;
  }

  override merge(next: BaseEvent): BaseEvent | undefined {
    return next instanceof TextDelta && next.stepNumber === this.stepNumber ? new TextDelta(next, this.text + next.text) : undefined;
  }
}

function setUp(script: Script, changes: (process: StepProcess<ScriptedState>) => Partial<StepProcess<ScriptedState>> = () => ({})) {
  const clock = createFakeClock();
  const process = createScriptedProcess(script, { clock });
  const orchestrator = createStepByStep({ ...process, ...changes(process) }, { clock, ids: createCountingIds() });
  const start = ScriptedState.empty({ clock, ids: createCountingIds('s') }).withUserMessage('Hello.');
  return { clock, orchestrator, start };
}

const speaking = (...pieces: readonly string[]) =>
  setUp([goesOn, finishes], (process) => ({
    produce: async (state, scope) => {
      for (const piece of pieces) {
        scope.events.emitPiece((header) => new TextDelta(header, piece));
        await Promise.resolve();
      }
      return process.produce(state, scope);
    },
  }));

async function collect<Event>(events: AsyncIterable<Event>): Promise<readonly Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const listTypes = (events: readonly BaseEvent[]): readonly string[] => events.map(({ type }) => type);
async function leaveAtOnce(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) if (item !== undefined) break;
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

const unhandled: unknown[] = [];
const hear = (error: unknown): void => void unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', hear);
});
afterEach(async () => {
  await turn();
  await turn();
  process.off('unhandledRejection', hear);
  expect(unhandled).toStrictEqual([]);
});

describe('V1: the run begins at once and settles without a reader', () => {
  test('before anybody reads or awaits', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    const heard: string[] = [];
    orchestrator.start(start, { onEvent: ({ type }) => heard.push(type) });
    expect(heard).toStrictEqual(['AgentExecutionStarted']);
    await turn();
    expect(heard.at(-1)).toBe('AgentFinished');
  });

  test('its result is the state that run gives', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    const { state: end } = await orchestrator.start(start).result;
    expect([end.status, end.stepCount, end.text]).toStrictEqual(['completed', 2, 'Here it is.']);
  });

  test('a state with nothing to do settles as it is, without events', async () => {
    const { orchestrator, start } = setUp([finishes]);
    const end = await orchestrator.run(start);
    const run = orchestrator.start(end);
    expect([(await run.result).state === end, await collect(run)]).toStrictEqual([true, []]);
  });
});

describe('V2: what was not read yet is kept', () => {
  test('a late reader gets everything, in order, the end last', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    const heard: BaseEvent[] = [];
    const run = orchestrator.start(start, { onEvent: (event) => heard.push(event) });
    await run.result;
    const read = await collect(run);
    expect(read).toStrictEqual(heard);
    expect([read.at(0)?.type, read.at(-1)?.type]).toStrictEqual(['AgentExecutionStarted', 'AgentFinished']);
  });

  test('a reader that keeps up gets everything too', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    const heard: BaseEvent[] = [];
    expect(await collect(orchestrator.start(start, { onEvent: (event) => heard.push(event) }))).toStrictEqual(heard);
  });

  test('a slow reader slows nothing down', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    const run = orchestrator.start(start);
    const read: string[] = [];
    for await (const { type } of run) {
      if (read.length === 0) expect((await run.result).status).toBe('completed');
      read.push(type);
    }
    expect(read.at(-1)).toBe('AgentFinished');
  });

  test('neighbours that can be merged are merged while nobody reads them; nothing else is lost', async () => {
    const { orchestrator, start } = speaking('One ', 'mo', 'ment.');
    const run = orchestrator.start(start);
    await run.result;
    const read = await collect(run);
    expect(read.flatMap((event: BaseEvent) => (event instanceof TextDelta ? [`${event.stepNumber} ${event.text}`] : []))).toStrictEqual([
      '1 One moment.',
      '2 One moment.',
    ]);
    expect(listTypes(read)).toStrictEqual([
      'AgentExecutionStarted',
      'AgentStepStarted',
      'TextDelta',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentStepCompleted',
      'AgentStepStarted',
      'TextDelta',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentStepCompleted',
      'AgentFinished',
    ]);
  });

  test('a reader that keeps up may get the pieces one by one, and no letter twice', async () => {
    const { orchestrator, start } = speaking('One ', 'mo', 'ment.');
    const read = await collect(orchestrator.start(start));
    const text = read.flatMap((event: BaseEvent) => (event instanceof TextDelta && event.stepNumber === 1 ? [event.text] : [])).join('');
    expect(text).toBe('One moment.');
  });
});

describe('V3: leaving the loop detaches', () => {
  test('the run goes on to its end', async () => {
    const { orchestrator, start } = setUp([goesOn, goesOn, finishes]);
    const heard: string[] = [];
    const run = orchestrator.start(start, { onEvent: ({ type }) => heard.push(type) });
    for await (const { type } of run) if (type === 'AgentStepStarted') break;
    const { state: end } = await run.result;
    expect([end.status, end.stepCount, heard.at(-1)]).toStrictEqual(['completed', 3, 'AgentFinished']);
  });

  test('what comes after is not kept', async () => {
    const { orchestrator, start } = setUp([goesOn, finishes]);
    const run = orchestrator.start(start);
    await leaveAtOnce(run);
    await run.result;
    expect(await collect(run)).toStrictEqual([]);
  });

  test('whoever comes back hears what is told from then on', async () => {
    const { orchestrator, start, clock } = setUp([
      { ...goesOn, sleepsMs: 10 },
      { ...finishes, sleepsMs: 10 },
    ]);
    const run = orchestrator.start(start);
    await leaveAtOnce(run);
    await clock.advance(5);
    const reading = collect(run);
    await clock.advance(100);
    const read = listTypes(await reading);
    expect([read[0], read.at(-1)]).toStrictEqual(['ContinuationEvaluated', 'AgentFinished']);
  });
});

describe('ending', () => {
  test('requestStop ends at the next boundary', async () => {
    const { orchestrator, start } = setUp([goesOn]);
    const run = orchestrator.start(start);
    for await (const { type, stepNumber } of run) if (type === 'AgentStepStarted' && stepNumber === 3) run.requestStop('that will do');
    const { state: end } = await run.result;
    expect([end.status, end.stopReason]).toStrictEqual(['stopped', 'user_requested']);
    expect(end.lastContinuationOutcome?.getEvaluationFor('StopRequested')?.reason).toBe('that will do');
  });

  test('the signal cuts it off', async () => {
    const { orchestrator, start, clock } = setUp([{ hangs: 'listening' }]);
    const controller = new AbortController();
    const run = orchestrator.start(start, { signal: controller.signal });
    await clock.advance(10);
    controller.abort('enough');
    expect((await run.result).state.stopReason).toBe('user_requested');
    expect(listTypes(await collect(run)).at(-1)).toBe('AgentFinished');
    expect(clock.pendingTimers()).toBe(0);
  });

  test('the reader’s loop ends where the run waits for somebody', async () => {
    const { orchestrator, start } = setUp([{ waits: [{ type: 'person', id: 'p' }] }]);
    const run = orchestrator.start(start);
    expect(listTypes(await collect(run)).at(-1)).toBe('AgentFinished');
    expect((await run.result).status).toBe('waiting');
  });
});

describe('a store that fails', () => {
  const commit = (): Promise<void> => Promise.reject(new Error('disk full'));

  test('rejects the result, and the reader behind the last event', async () => {
    const { orchestrator, start } = setUp([finishes]);
    const run = orchestrator.start(start, { commit });
    const read: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const { type } of run) read.push(type);
    };
    await expect(reading()).rejects.toThrow('disk full');
    expect(read).toStrictEqual(['AgentExecutionStarted', 'AgentStepStarted']);
    await expect(run.result).rejects.toThrow('disk full');
  });

  test('where nobody awaits the result is no unhandled rejection', async () => {
    const { orchestrator, start } = setUp([finishes]);
    orchestrator.start(start, { commit });
    await turn();
    await turn();
    expect(unhandled).toStrictEqual([]);
  });
});

test('a listener that throws disturbs neither run nor reader', async () => {
  const problems: unknown[] = [];
  const clock = createFakeClock();
  const orchestrator = createStepByStep(createScriptedProcess([finishes]), { clock, onProblem: (error) => problems.push(error) });
  const run = orchestrator.start(ScriptedState.empty({ clock }), {
    onEvent: () => {
      throw new Error('deaf');
    },
  });
  const read = await collect(run);
  expect([(await run.result).status, problems.length]).toStrictEqual(['completed', read.length]);
});
