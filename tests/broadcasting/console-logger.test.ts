import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentConsoleLogger } from '../../src/broadcasting/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import type { BaseEvent } from '../../src/entry/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';

const input = { type: 'object', properties: {}, additionalProperties: true } as const;

/** Runs an agent with two sub-agents side by side, one of which fails, until a limit is reached after an approval. */
async function collectEvents(): Promise<readonly BaseEvent[]> {
  const clock = createFakeClock();
  const ports = { clock, ids: createCountingIds(), random: () => 0.5 };
  const tools = [
    defineTool({
      name: 'search',
      description: 'Searches.',
      input,
      run: async (_args, { report }) => {
        report('half way');
        clock.skip(20);
        await Promise.resolve();
        return { rows: 2 };
      },
    }),
    defineTool({
      name: 'export',
      description: 'Exports.',
      input,
      run: () => {
        clock.skip(5);
        throw new Error('disk quota exceeded');
      },
    }),
    defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' }),
  ] as const;
  const usage = { input: 10, output: 5 };
  const scout = createAgent({
    id: 'scout',
    ports,
    tools,
    model: scriptedModel([
      { toolCalls: [{ name: 'search', args: { query: 'Acme' } }], usage },
      { text: 'Found 2.', usage },
    ]),
  });
  const clerk = createAgent({
    id: 'clerk',
    ports,
    tools,
    model: scriptedModel([
      { toolCalls: [{ name: 'export', args: { password: 'hunter2' } }], usage },
      { text: 'Could not export.', usage },
    ]),
  });
  const desk = createAgent({
    id: 'desk',
    ports,
    tools,
    limits: { steps: 2 },
    model: scriptedModel([
      {
        toolCalls: [
          { name: 'spawn_subagent', args: { subagent: 'scout', prompt: 'Find Acme.' } },
          { name: 'spawn_subagent', args: { subagent: 'clerk', prompt: 'Export it.' } },
        ],
        usage,
      },
      { toolCalls: [{ name: 'pay', args: { amount: 5 } }], usage },
    ]),
    capabilities: [
      subAgents({ agents: { scout: { agent: scout, description: 'Finds.' }, clerk: { agent: clerk, description: 'Exports.' } } }),
    ],
  });
  const events: BaseEvent[] = [];
  desk.wiretap((event) => events.push(event));
  const waiting = await desk.start('Pay Acme.').result;
  expect(waiting.status).toBe('waiting');
  const stopped = await desk.start(waiting.state.approve(waiting.state.waitingFor[0]?.id ?? '')).result;
  expect(stopped).toMatchObject({ stopReason: 'steps_limit' });
  return events;
}

function print(events: readonly BaseEvent[], options: ConstructorParameters<typeof AgentConsoleLogger>[0]): readonly string[] {
  const lines: string[] = [];
  const { log } = new AgentConsoleLogger({ print: (line) => lines.push(line), ...options });
  for (const event of events) log(event);
  return lines;
}

describe('the console logger', () => {
  it('prints a line per event that can be read with sub-agents side by side, a failure, an approval and a limit', async () => {
    const lines = print(await collectEvents(), { colors: false });
    expect(lines.join('\n')).toMatchSnapshot();
    for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3}Z \[desk( > (scout|clerk))?\] [A-Z]{2,4} /);
    expect(lines.join('\n')).not.toContain('hunter2');
  });

  it('prints every evaluation of a decision at the level debug', async () => {
    const lines = print(await collectEvents(), { colors: false, level: 'debug' });
    expect(lines.join('\n')).toMatchSnapshot();
    for (const line of lines.filter((each) => each.includes(' EVAL '))) expect(line).toMatch(/\[.*StepsLimit (allow|forbid): .* \| .*\]$/);
  });

  it('prints the same with colours, and nothing else that a terminal would obey', async () => {
    const events = await collectEvents();
    const colored = print(events, { colors: true, level: 'debug' });
    expect(colored.map(stripVTControlCharacters)).toStrictEqual(print(events, { colors: false, level: 'debug' }));
    expect(colored.join('\n')).toMatchSnapshot();
  });

  it('tells two agents of one name apart', () => {
    const base = { id: '', seq: 1, at: 0, executionId: 'x', stepNumber: 0, type: 'AgentExecutionStarted', messageCount: 1, resumed: false };
    const events = [
      { ...base, agentId: 'a', agentName: 'desk', parentAgentId: null },
      { ...base, agentId: 'b', agentName: 'scout', parentAgentId: 'a' },
      { ...base, agentId: 'c', agentName: 'scout', parentAgentId: 'a' },
      { ...base, agentId: 'b', agentName: 'scout', parentAgentId: 'a' },
    ] as unknown as readonly BaseEvent[];
    const names = print(events, { colors: false }).map((line) => /\[(.*?)\]/.exec(line)?.[1]);
    expect(names).toStrictEqual(['desk', 'desk > scout', 'desk > scout#2', 'desk > scout']);
  });

  it.each([
    [true, undefined, true],
    [true, '', true],
    [true, '1', false],
    [false, undefined, false],
  ])('has colours if the output is a terminal (%s) and NO_COLOR is not set (%j): %s', async (isTTY, noColor, hasColors) => {
    const before = process.stdout.isTTY;
    process.stdout.isTTY = isTTY;
    vi.stubEnv('NO_COLOR', noColor);
    onTestFinished(() => {
      process.stdout.isTTY = before;
      vi.unstubAllEnvs();
    });
    const [line = ''] = print(await collectEvents(), {});
    expect(line.includes('\u001b[')).toBe(hasColors);
  });

  it('refuses options that it does not know', () => {
    expect(() => new AgentConsoleLogger({ colour: true } as never)).toThrow('Unknown option "colour" in AgentConsoleLogger.');
  });
});
