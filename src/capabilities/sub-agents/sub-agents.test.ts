import type { Effects } from '../../effects/index.ts';
import { describe, expect, test } from 'vitest';
import type { AgentOptions, Agent } from '../../agent/index.ts';
import { AgentState, createAgent } from '../../agent/index.ts';
import { ErrorPolicy } from '../../errors/index.ts';
import { priceTable } from '../../inference/index.ts';
import { createCountingIds, createFakeClock } from '../../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedModel } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import type { ToolUseEvent } from '../../tool-use/index.ts';
import type { Tool } from '../../tools/index.ts';
import { defineClientTool, defineTool } from '../../tools/index.ts';
import type { SubAgentsOptions } from './sub-agents.ts';
import { subAgents } from './sub-agents.ts';

const anything = { type: 'object', properties: {} } as const;
const usage = { input: 100, output: 0 };
const says = (text: string): ScriptedAnswer => ({ text, usage });
const calls = (...names: readonly string[]): ScriptedAnswer => ({ toolCalls: names.map((name) => ({ name })), usage });
const spawns = (...names: readonly string[]): ScriptedAnswer => ({
  toolCalls: names.map((subagent) => ({ name: 'spawn_subagent', args: { subagent, prompt: `Task for ${subagent}.` } })),
  usage,
});

type Options = Partial<Omit<AgentOptions, 'capabilities' | 'tools' | 'model'>>;

function stage() {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const ports = { clock, ids, random: () => 0.5, onProblem: () => undefined };
  const models = new Map<string, ScriptedModel>();
  const ran: string[] = [];
  const tools: readonly Tool[] = [
    defineTool({ name: 'work', description: 'Works.', input: anything, run: () => (ran.push('work'), 'worked') }),
    defineTool({ name: 'pay', description: 'Pays.', input: anything, needsApproval: true, run: () => (ran.push('pay'), 'paid') }),
    defineTool({ name: 'hang', description: 'Hangs.', input: anything, run: () => new Promise(() => undefined) }),
    defineClientTool({ name: 'ask_user', description: 'Asks.', input: anything }),
  ];
  const agent = (
    name: string,
    script: readonly ScriptedEntry[],
    more: Options & { readonly inside?: Partial<SubAgentsOptions> } = {},
  ): Agent => {
    const { inside, ...options } = more;
    const model = scriptedModel(script);
    models.set(name, model);
    const capabilities = inside?.agents === undefined ? [] : [subAgents({ ...inside, agents: inside.agents })];
    return createAgent({ id: name, model, tools, ports, capabilities, ...options });
  };
  const start = AgentState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { clock, ids, ports, models, ran, agent, start };
}

/** A tree: top → middle → lower → leaf, with the leaf's script as given. */
function tree(
  leafScript: readonly ScriptedEntry[],
  { top: topOptions = {}, leaf: leafOptions = {} }: { readonly top?: Options; readonly leaf?: Options } = {},
) {
  const on = stage();
  const leaf = on.agent('leaf', leafScript, leafOptions);
  const lower = on.agent('lower', [spawns('leaf'), says('lower done')], {
    inside: { agents: { leaf: { agent: leaf, description: 'Leaf.' } } },
  });
  const middle = on.agent('middle', [spawns('lower'), says('middle done')], {
    inside: { agents: { lower: { agent: lower, description: 'Lower.' } } },
  });
  const top = on.agent('top', [spawns('middle'), says('top done')], {
    ...topOptions,
    inside: { agents: { middle: { agent: middle, description: 'Middle.' } } },
  });
  return { ...on, leaf, lower, middle, top };
}

const getValue = (state: AgentState, step = 0): unknown => state.steps[step]?.executions[0]?.value;
const roundTrip = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));

describe('a sub-agent', () => {
  test('works on its task in a conversation of its own, and its answer is the result of the call', async () => {
    const { agent, start, models } = stage();
    const seen: AgentState[] = [];
    const helper = agent('helper', [calls('work'), says('It is 5.')]);
    const top = agent('top', [spawns('helper'), says('Five.')], {
      inside: { agents: { helper: { agent: helper, description: 'Counts.' } }, onEnd: (state) => seen.push(state) },
    });
    const end = await top.run(start);
    expect([end.status, end.text]).toStrictEqual(['completed', 'Five.']);
    expect(getValue(end)).toStrictEqual({ text: 'It is 5.', stop_reason: 'completed', partial: false });
    expect(models.get('helper')?.calls[0]?.messages.map(({ text }) => text)).toStrictEqual(['Task for helper.']);
    expect([seen[0]?.parentAgentId, seen[0]?.agentId === end.agentId, seen[0]?.stepCount]).toStrictEqual([end.agentId, false, 2]);
    expect(models.get('top')?.calls[0]?.tools?.find(({ name }) => name === 'spawn_subagent')).toMatchObject({
      description: expect.stringContaining('helper: Counts.') as string,
    });
  });

  test('counts in the usage of the step that called it, once', async () => {
    const { top, start } = tree([calls('work'), says('leaf done')]);
    const end = await top.run(start);
    // Top 2, middle 2, lower 2, leaf 2 answers of 100 tokens each.
    expect([end.usage.total, end.steps[0]?.usage.total, end.session.usage.total]).toStrictEqual([800, 700, 800]);
  });

  test('tells its events in the stream of the run around it, numbered without a gap', async () => {
    const { top, start } = tree([calls('work'), says('leaf done')]);
    const events: ToolUseEvent[] = [];
    const end = await top.run(start, { onEvent: (event: never) => events.push(event) });
    const numbered = events.filter(({ type }) => !['TextDelta', 'ReasoningDelta', 'ToolCallProgress'].includes(type));
    expect(numbered.map(({ seq }) => seq)).toStrictEqual(numbered.map((_, index) => index + 1));
    expect(new Set(numbered.map(({ agentId }) => agentId)).size).toBe(4);
    expect(numbered.filter(({ type }) => type === 'AgentFinished')).toHaveLength(4);
    expect([numbered.at(-1)?.type, numbered.at(-1)?.agentId]).toStrictEqual(['AgentFinished', end.agentId]);
    expect(end.data.lastSeq).toBe(numbered.length);
    const leafStart = numbered.filter(({ type }) => type === 'AgentExecutionStarted').at(-1);
    expect(leafStart?.parentAgentId).toBe(numbered.filter(({ type }) => type === 'AgentExecutionStarted').at(-2)?.agentId);
  });

  test('that fails gives what it has, and the run around it goes on', async () => {
    const { agent, start } = stage();
    const helper = agent('helper', [{ error: new Error('no model'), usage }], { errors: ErrorPolicy.stopOnAnyError() });
    const top = agent('top', [spawns('helper'), says('I did it myself.')], {
      inside: { agents: { helper: { agent: helper, description: 'Helps.' } } },
    });
    const end = await top.run(start);
    expect([end.status, end.text]).toStrictEqual(['completed', 'I did it myself.']);
    expect(getValue(end)).toMatchObject({ partial: true, error: 'no model' });
  });

  test('that reaches a limit of its own gives what it has', async () => {
    const { agent, start } = stage();
    const helper = agent('helper', [{ ...calls('work'), text: 'So far: 3.' }, says('never')], { limits: { steps: 1 } });
    const top = agent('top', [spawns('helper'), says('Fine.')], {
      inside: { agents: { helper: { agent: helper, description: 'Helps.' } } },
    });
    expect(getValue(await top.run(start))).toStrictEqual({
      text: 'So far: 3.',
      stop_reason: 'steps_limit',
      partial: true,
      done: ['work({})'],
    });
  });

  test('whose limit would wait for a grant ends there: whoever is outside raises the limits outside', async () => {
    const { agent, start } = stage();
    const helper = agent('helper', [calls('work'), says('never')], { limits: { steps: 1, onLimit: 'pause' } });
    const top = agent('top', [spawns('helper'), says('Fine.')], {
      inside: { agents: { helper: { agent: helper, description: 'Helps.' } } },
    });
    const end = await top.run(start);
    expect([end.status, getValue(end)]).toStrictEqual([
      'completed',
      { text: '', stop_reason: 'steps_limit', partial: true, done: ['work({})'] },
    ]);
  });

  test('that is not there, or would stand too deep, fails the call with words that say so', async () => {
    const { agent, start, models } = stage();
    const self = agent(
      'self',
      [spawns('self'), spawns('self'), spawns('self'), spawns('self'), says('deep enough'), says('3'), says('2'), says('1'), says('0')],
      {
        inside: { agents: { self: { agent: () => self, description: 'Itself.' } } },
      },
    );
    const end = await self.run(start);
    expect(end.status).toBe('completed');
    const told = models.get('self')?.calls[4]?.messages.at(-1)?.toolResults[0]?.output;
    expect(told).toMatchObject({ type: 'error', value: expect.stringContaining('3 deep') as string });
    const lost = agent('lost', [spawns('nobody'), says('Alone then.')], {
      inside: { agents: { self: { agent: self, description: 'Itself.' } } },
    });
    const alone = await lost.run(start);
    expect([alone.status, alone.steps[0]?.errors[0]?.code]).toStrictEqual(['completed', 'invalid-arguments']);
  });

  test('runs beside others, and each has its own result', async () => {
    const { agent, start } = stage();
    const one = agent('one', [says('first')]);
    const two = agent('two', [calls('work'), says('second')]);
    const top = agent('top', [spawns('two', 'one'), says('Both.')], {
      inside: { agents: { one: { agent: one, description: '1.' }, two: { agent: two, description: '2.' } } },
    });
    const end = await top.run(start);
    expect(end.steps[0]?.executions.map(({ value }) => (value as { readonly text: string }).text)).toStrictEqual(['second', 'first']);
    expect(end.usage.total).toBe(500);
  });
});

describe('a tree of sub-agents three deep', () => {
  test('ends when the run at the top is cut off, within a moment, and every call has a result', async () => {
    const { top, start, clock } = tree([calls('hang'), says('never')]);
    const stop = new AbortController();
    const running = top.run(start, { signal: stop.signal });
    await clock.advance(1000);
    stop.abort('enough');
    await clock.advance(100);
    const end = await running;
    expect([end.status, end.stopReason, end.stepCount, end.currentStep?.interrupted]).toStrictEqual([
      'stopped',
      'user_requested',
      1,
      'signal',
    ]);
    expect(end.messages.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId))).toStrictEqual(['call-1']);
    // Top, middle, lower and leaf were each asked once.
    expect(end.usage.total).toBe(400);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('ends at the next boundary when the top is asked to stop, wherever that boundary is', async () => {
    const { top, start, models } = tree([calls('work'), calls('work'), says('never')]);
    const run = top.start(start);
    for await (const event of run) if (event.type === 'ToolCallCompleted' && event.tool === 'work') run.requestStop('that will do');
    const { state } = await run.result;
    expect([state.status, state.stopReason, state.stepCount]).toStrictEqual(['stopped', 'user_requested', 1]);
    expect(models.get('leaf')?.calls).toHaveLength(1);
    expect(getValue(state)).toMatchObject({ stop_reason: 'user_requested', partial: true });
  });

  test('ends when the time of the top is up, and says time_limit at every level', async () => {
    const { top, start, clock } = tree([calls('hang'), says('never')], { top: { limits: { wallMs: 5000 } } });
    const reasons: unknown[] = [];
    const running = top.run(start, {
      onEvent: (event: ToolUseEvent) => event.type === 'AgentFinished' && reasons.push(event.stopReason),
    });
    await clock.advance(5200);
    const end = await running;
    expect([end.stopReason, reasons]).toStrictEqual(['time_limit', ['time_limit', 'time_limit', 'time_limit', 'time_limit']]);
  });

  test('ends when the tokens of the top are used up by the leaf, and nobody is asked once more', async () => {
    const { top, start, models } = tree([calls('work'), calls('work'), calls('work'), says('never')], { top: { limits: { tokens: 600 } } });
    const end = await top.run(start);
    expect([end.status, end.stopReason, end.stepCount, end.usage.total]).toStrictEqual(['stopped', 'token_limit', 1, 600]);
    expect([...models].map(([name, { calls: asked }]) => [name, asked.length])).toStrictEqual([
      ['leaf', 3],
      ['lower', 1],
      ['middle', 1],
      ['top', 1],
    ]);
    expect(getValue(end)).toMatchObject({ stop_reason: 'token_limit', partial: true });
  });

  test('ends when the money of the top is spent inside', async () => {
    const price = priceTable({ 'scripted/script': { inputPerMillion: 10_000, outputPerMillion: 0 } });
    const { top, start } = tree([calls('work'), calls('work'), says('never')], { top: { limits: { costUsd: 6 }, price }, leaf: { price } });
    const end = await top.run(start);
    // The leaf's answers cost one dollar each, the top's too; those between them have no price, which is not free.
    expect([end.stopReason, end.cost]).toStrictEqual(['completed', { usd: 5, unknownCalls: 4 }]);
    const poor = tree([calls('work'), calls('work'), says('never')], { top: { limits: { costUsd: 2 }, price }, leaf: { price } });
    const cut = await poor.top.run(poor.start);
    expect([cut.stopReason, cut.lastContinuationOutcome?.resolvedBy, cut.cost?.usd]).toStrictEqual(['guard', 'CostLimit', 2]);
    expect(poor.models.get('leaf')?.calls).toHaveLength(1);
  });

  test('waits at the top for what the leaf asks, through JSON, and goes on where it was', async () => {
    const { top, start, ran, models, clock } = tree([calls('pay'), says('paid it')]);
    const waiting = await top.run(start);
    expect([waiting.status, waiting.waitingFor]).toStrictEqual([
      'waiting',
      [{ type: 'approval', id: 'call-1/call-1/call-1/call-1', toolName: 'pay', args: {}, agent: 'middle/lower/leaf' }],
    ]);
    expect(waiting.explain()).toContain('approval of pay (call-1/call-1/call-1/call-1) for middle/lower/leaf');
    expect([waiting.usage.total, ran]).toStrictEqual([400, []]);
    await clock.advance(7 * 24 * 3_600_000);
    const end = await top.run(roundTrip(waiting).approve('call-1/call-1/call-1/call-1'));
    expect([end.status, end.text, ran, end.usage.total]).toStrictEqual(['completed', 'top done', ['pay'], 800]);
    expect([...models.values()].map(({ calls: asked }) => asked.length)).toStrictEqual([2, 2, 2, 2]);
    expect(JSON.stringify(end)).not.toContain('nested');
  });

  test('reads what a person said no to, and the answer of somebody outside', async () => {
    const rejecting = tree([calls('pay'), says('not paid')]);
    const refused = await rejecting.top.run(
      roundTrip((await rejecting.top.run(rejecting.start)).reject('call-1/call-1/call-1/call-1', 'too much')),
    );
    expect([refused.status, rejecting.ran]).toStrictEqual(['completed', []]);
    expect(rejecting.models.get('leaf')?.calls[1]?.messages.at(-1)?.toolResults[0]?.output).toMatchObject({
      type: 'rejected',
      reason: 'too much',
    });
    const asking = tree([calls('ask_user'), says('thanks')]);
    const waiting = await asking.top.run(asking.start);
    expect(waiting.waitingFor[0]).toMatchObject({ type: 'client-tool', toolName: 'ask_user' });
    const done = await asking.top.run(roundTrip(waiting.answer('call-1/call-1/call-1/call-1', 'blue')));
    expect(asking.models.get('leaf')?.calls[1]?.messages.at(-1)?.toolResults[0]?.output).toStrictEqual({ type: 'text', value: 'blue' });
    expect(done.status).toBe('completed');
  });

  test('lets what needs nobody run while somebody is asked, and keeps it', async () => {
    const { agent, start, ran } = stage();
    const asker = agent('asker', [calls('pay'), says('asked')]);
    const quick = agent('quick', [calls('work'), says('quick')]);
    const top = agent('top', [spawns('asker', 'quick', 'asker'), says('All.')], {
      inside: { agents: { asker: { agent: asker, description: 'A.' }, quick: { agent: quick, description: 'Q.' } } },
    });
    const waiting = await top.run(start);
    expect([ran, waiting.waitingFor.map(({ id }) => id)]).toStrictEqual([['work'], ['call-1/call-1']]);
  });

  test('keeps every effect under a key of its own', async () => {
    const { top, start } = tree([calls('work'), says('leaf done')]);
    const keys: string[] = [];
    const effects = (direct: Effects): Effects => ({
      run: (key, work, options) => (keys.push(key), direct.run(key, work, options)),
      sleep: (key, ms) => direct.sleep(key, ms),
    });
    await top.run(start, { effects });
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toContain('nested/1/0/1/nested/1/0/1/nested/1/0/1/tool/1/0');
  });

  test('names the same things the same at every attempt', async () => {
    const names = async (): Promise<readonly (string | undefined)[]> => {
      const found: string[] = [];
      const { top, start } = tree([calls('work'), says('leaf done')]);
      const first = await top.run(start, {
        onEvent: (event: ToolUseEvent) => event.type === 'AgentExecutionStarted' && found.push(event.executionId),
      });
      expect(first.status).toBe('completed');
      return found;
    };
    expect(await names()).toStrictEqual(await names());
  });

  test('is given up with its step when a new message comes', async () => {
    const { top, start } = tree([calls('pay'), says('never')]);
    const waiting = await top.run(start);
    const moved = waiting.withUserMessage('Never mind.');
    expect([moved.status, moved.session.usage.total]).toStrictEqual(['pending', 400]);
    const end = await top.run(moved);
    expect([end.status, end.text]).toStrictEqual(['completed', 'top done']);
    expect(JSON.stringify(end)).not.toContain('"nested"');
  });

  test('waits for more at the top where its limit was reached inside', async () => {
    const { top, start } = tree([calls('work'), calls('work'), says('leaf done')], { top: { limits: { tokens: 500, onLimit: 'pause' } } });
    const paused = await top.run(start);
    expect([paused.status, paused.waitingFor]).toStrictEqual(['waiting', [{ type: 'grant', id: 'grant/tokens', limit: 'tokens' }]]);
    const end = await top.run(roundTrip(paused.grant({ tokens: 1000 })));
    expect([end.status, end.text]).toStrictEqual(['completed', 'top done']);
  });
});

describe('subAgents()', () => {
  test.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /needs an object of options/],
    ['no agents', { agents: {} }, /at least one agent/],
    ['a name with blanks', { agents: { 'my agent': { agent: () => undefined, description: 'x' } } }, /cannot use "my agent" as the name/],
    ['no agent', { agents: { a: { agent: 5, description: 'x' } } }, /needs an agent as agents.a.agent/],
    ['no description', { agents: { a: { agent: () => undefined } } }, /needs a string as agents.a.description/],
    [
      'a depth of 0',
      { agents: { a: { agent: () => undefined, description: 'x' } }, maxDepth: 0 },
      /maxDepth must be a whole number of 1 or more, not 0/,
    ],
    [
      'a misspelt option',
      { agents: { a: { agent: () => undefined, description: 'x' } }, maxdepth: 2 },
      /Unknown option "maxdepth" in subAgents\(\)/,
    ],
  ])('refuses %s', (_, options, message) => {
    expect(() => subAgents(options as SubAgentsOptions)).toThrow(message);
  });
});
