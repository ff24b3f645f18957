// Agents with capabilities, stored change by change: each state is made of the one before it.
import { describe, expect, test } from 'vitest';
import { compaction, selfCritique, subAgents } from '../../src/capabilities/index.ts';
import { AgentState, createAgent, defineTool } from '../../src/entry/index.ts';
import type { AgentOptions, Json } from '../../src/entry/index.ts';
import { stableStringify } from '../../src/lib/index.ts';
import type { ScriptedEntry } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';

const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const calls = (...names: readonly string[]): ScriptedEntry => ({ toolCalls: names.map((name) => ({ name })), usage });
const spawns: ScriptedEntry = { toolCalls: [{ name: 'spawn_subagent', args: { subagent: 'inner', prompt: 'Pay.' } }], usage };
const input = { type: 'object' } as const;
const look = defineTool({ name: 'look', description: 'Looks.', input, run: () => ({ seen: 'x'.repeat(200) }) });
const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' });

const { codec } = AgentState;
const reread = (state: AgentState): AgentState => codec.parse(codec.stringify(state));
const toStoredText = (state: AgentState): string => stableStringify(JSON.parse(codec.stringify(state)) as Json);

function setUp(script: readonly ScriptedEntry[], options: Partial<Omit<AgentOptions, 'model'>>) {
  const ports = { clock: createFakeClock(), ids: createCountingIds() };
  const agent = createAgent({ model: scriptedModel(script), tools: [look, pay], ...options, ports });
  const states = [AgentState.empty(ports)];
  const add = (change: (state: AgentState) => AgentState): void => void states.push(change(states.at(-1)!));
  const run = async (): Promise<AgentState> => agent.run(states.at(-1)!, { commit: ({ state }) => void states.push(state) });
  const say = async (text: string): Promise<AgentState> => {
    add((state) => state.withUserMessage(text, ports));
    return run();
  };
  return { states, add, run, say };
}

function expectPatched(states: readonly AgentState[]): void {
  let chained = reread(states[0]!);
  for (const [index, after] of states.entries()) {
    if (index === 0) continue;
    const change: unknown = JSON.parse(JSON.stringify(codec.diff(states[index - 1]!, after)));
    chained = codec.patch(chained, change);
    expect(toStoredText(chained)).toBe(toStoredText(after));
    expect(toStoredText(reread(after))).toBe(toStoredText(after));
    expect([chained.explain(), chained.waitingFor]).toStrictEqual([after.explain(), after.waitingFor]);
  }
}

describe('each state is made of the one before it', () => {
  test('where old messages become a summary', async () => {
    const summarizer = scriptedModel([says('Summary.')], { repeatLast: true });
    const script = Array.from({ length: 8 }, () => [calls('look'), says('Seen.')]).flat();
    const { states, say } = setUp(script, {
      capabilities: [compaction({ model: summarizer, countTokens: () => 10, maxTokens: 60, maxBufferTokens: 40 })],
    });
    for (let turn = 0; turn < 8; turn += 1) await say(`Turn ${turn}.`);
    expect(states.at(-1)!.store.section('summary').length).toBeGreaterThan(0);
    expectPatched(states);
    const bytes = states.slice(1).map((state, index) => JSON.stringify(codec.diff(states[index]!, state)).length);
    expect(Math.max(...bytes.slice(-6))).toBeLessThan(codec.stringify(states.at(-1)!).length / 3);
  });

  test('where answers are criticized', async () => {
    const critic = scriptedModel([
      says(
        JSON.stringify({ approved: false, summary: 'Too short.', strengths: [], weaknesses: ['It is short.'], suggestions: ['Say more.'] }),
      ),
      says(JSON.stringify({ approved: true, summary: 'It is right.', strengths: [], weaknesses: [], suggestions: [] })),
    ]);
    const { states, say } = setUp([says('Short.'), says('Longer.'), says('Longest.')], { capabilities: [selfCritique({ model: critic })] });
    const end = await say('Write.');
    expect([end.status, end.stepCount]).toStrictEqual(['completed', 2]);
    expectPatched(states);
  });

  test('where agents call agents that wait', async () => {
    const ports = { clock: createFakeClock(), ids: createCountingIds('inner') };
    const inner = createAgent({
      id: 'inner',
      model: scriptedModel([calls('look'), calls('pay'), says('Paid.')]),
      tools: [look, pay],
      ports,
    });
    const { states, add, run, say } = setUp([spawns, says('All done.')], {
      capabilities: [subAgents({ agents: { inner: { agent: inner, description: 'Pays.' } } })],
    });
    await say('Let it be paid.');
    const [wait] = states.at(-1)!.waitingFor;
    add((state) => state.approve(wait!.id));
    const end = await run();
    expect([end.status, end.text]).toStrictEqual(['completed', 'All done.']);
    expectPatched(states);
  });
});
