// Guarantees for engines and listeners that every optimization of a step must keep.
import { describe, expect, test } from 'vitest';
import type { EffectResult, Effects } from '../effects/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import { ToolUse, ToolUseState } from './index.ts';

const counts = [1, 2, 8, 10];

/** A conversation of two steps with these many calls each, and an answer. `onTool` is told when a tool runs. */
function setUp(calls: number, onTool: () => void = () => undefined) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  // Without a promise, and without an effect: the call that is the easiest to shorten.
  const look = defineTool({
    name: 'look',
    description: 'A tool.',
    input: { type: 'object', properties: { n: { type: 'number' }, tags: { type: 'array' } } } as const,
    effect: 'pure',
    run: ({ n }) => {
      onTool();
      return { n, found: { places: [1, 2, { deep: true }] } };
    },
  });
  const toolCalls = Array.from({ length: calls }, (_, n) => ({ name: 'look', args: { n, tags: ['a', { b: 1 }] } }));
  const model = scriptedModel([{ text: 'First.', toolCalls }, { toolCalls }, { text: 'Done.' }]);
  const orchestrator = new ToolUse({ model, tools: [look], toolConcurrency: 10, ports: { clock, ids } });
  const start = ToolUseState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { orchestrator, start, model };
}

const listKeys = (calls: number): readonly string[] => {
  const tools = (step: number): readonly string[] => Array.from({ length: calls }, (_, index) => `tool/${step}/${index}`);
  return ['model/1', ...tools(1), 'model/2', ...tools(2), 'model/3'];
};

describe.each(counts)('an engine that wraps the effects of steps with %i calls', (calls) => {
  test('is asked for every model call and every tool call, and nothing runs without it', async () => {
    const keys: string[] = [];
    let inWork = 0;
    const outside: string[] = [];
    const { orchestrator, start, model } = setUp(calls, () => {
      if (inWork === 0) outside.push('look');
    });
    const effects = (direct: Effects): Effects => ({
      ...direct,
      run: (key, work, options) => {
        keys.push(key);
        return direct.run(
          key,
          (signal) => {
            inWork += 1;
            const result = work(signal);
            inWork -= 1;
            return result;
          },
          options,
        );
      },
    });
    await orchestrator.run(start, { effects });
    expect(keys).toStrictEqual(listKeys(calls));
    expect(outside).toStrictEqual([]);
    expect(model.calls).toHaveLength(3);
  });

  test('can answer instead of running the work, and the run continues with its answers', async () => {
    const journal = new Map<string, unknown>();
    const recorded = setUp(calls);
    const recording = (direct: Effects): Effects => ({
      ...direct,
      run: async (key, work, options) => {
        const result = await direct.run(key, work, options);
        journal.set(key, structuredClone(result));
        return result;
      },
    });
    const end = await recorded.orchestrator.run(recorded.start, { effects: recording });
    let toolRuns = 0;
    const { orchestrator, start, model } = setUp(calls, () => {
      toolRuns += 1;
    });
    const replaying = (direct: Effects): Effects => ({
      ...direct,
      // Holds: the journal has the results of the same effects.
      run: <Value>(key: string) => Promise.resolve(journal.get(key) as EffectResult<Value>),
    });
    const replayed = await orchestrator.run(start, { effects: replaying });
    expect(replayed.toJSON()).toStrictEqual(end.toJSON());
    expect([toolRuns, model.calls.length]).toStrictEqual([0, 0]);
  });
});

test.each(counts)('all of %i calls of a step start before the end of any is emitted', async (calls) => {
  const { orchestrator, start } = setUp(calls);
  const seen: string[] = [];
  orchestrator.onEvent('ToolCallStarted', () => seen.push('start'));
  orchestrator.onEvent('ToolCallCompleted', () => seen.push('end'));
  orchestrator.onEvent('AgentStepCompleted', () => seen.push('step'));
  await orchestrator.run(start);
  const step = [...Array.from({ length: calls }, () => 'start'), ...Array.from({ length: calls }, () => 'end'), 'step'];
  expect(seen).toStrictEqual([...step, ...step, 'step']);
});

/** Tries to change everything that can be reached from a value. */
function spoil(value: unknown, reached = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || reached.has(value)) return;
  reached.add(value);
  for (const key of Reflect.ownKeys(value)) spoil(Reflect.get(value, key), reached);
  for (const key of Reflect.ownKeys(value)) {
    Reflect.set(value, key, key === 'length' ? 0 : 'spoilt');
    Reflect.deleteProperty(value, key);
  }
  Reflect.set(value, 'more', 'spoilt');
  Reflect.set(value, 0, 'spoilt');
}

describe('a listener that tries to change everything in an event', () => {
  test.each(counts)('does not change what is recorded of steps with %i calls', async (calls) => {
    const quiet = setUp(calls);
    const expected = await quiet.orchestrator.run(quiet.start);
    const { orchestrator, start, model } = setUp(calls);
    let events = 0;
    orchestrator.wiretap((event) => {
      events += 1;
      spoil(event);
    });
    const end = await orchestrator.run(start);
    expect(events).toBeGreaterThan(15);
    expect(end.toJSON()).toStrictEqual(expected.toJSON());
    expect(model.calls.map(({ messages }) => messages.map((message) => message.toJSON()))).toStrictEqual(
      quiet.model.calls.map(({ messages }) => messages.map((message) => message.toJSON())),
    );
  });

  test('does not change what a later listener and the next step read of the offered tools', async () => {
    const { orchestrator, start } = setUp(1);
    const offered: unknown[] = [];
    orchestrator.wiretap((event) => {
      if ('tools' in event) {
        offered.push([...event.tools]);
        spoil(event.tools);
      }
    });
    await orchestrator.run(start);
    expect(offered.length).toBeGreaterThan(2);
    expect(offered.every((tools) => JSON.stringify(tools) === '["look"]')).toBe(true);
  });
});
