// Runs inside runs under strain: what two levels share stays shared, and nothing that happened inside is lost outside.
import type { Effects } from '../effects/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import type { AgentOptions, Agent } from '../agent/index.ts';
import { AgentState, createAgent } from '../agent/index.ts';
import { TokenUsageLimit } from '../continuation/index.ts';
import { guardHook } from '../hooks/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedModel, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolUseEvent } from '../tool-use/index.ts';
import { defineHook, toolCallingDriver } from '../tool-use/index.ts';
import type { Tool } from '../tools/index.ts';
import { defineTool } from '../tools/index.ts';
import { compaction, selfCritique, subAgents } from './index.ts';

const anything = { type: 'object', properties: {} } as const;
const usage = { input: 100, output: 0 };
const says = (text: string): ScriptedAnswer => ({ text, usage });
const calls = (...names: readonly string[]): ScriptedAnswer => ({ toolCalls: names.map((name) => ({ name })), usage });
const task = (subagent: string) => ({ name: 'spawn_subagent', args: { subagent, prompt: `Task for ${subagent}.` } });
const spawns = (...names: readonly string[]): ScriptedAnswer => ({ toolCalls: names.map(task), usage });
const among = (agents: Readonly<Record<string, Agent | (() => Agent)>>) => ({
  capabilities: [
    subAgents({ agents: Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, { agent, description: 'Helps.' }])) }),
  ],
});

function stage() {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const ports = { clock, ids, random: () => 0.5, onProblem: () => undefined };
  const ran: string[] = [];
  const tools: readonly Tool[] = [
    defineTool({ name: 'work', description: 'Works.', input: anything, run: () => (ran.push('work'), 'worked') }),
    defineTool({ name: 'pay', description: 'Pays.', input: anything, needsApproval: true, run: () => (ran.push('pay'), 'paid') }),
    defineTool({ name: 'hang', description: 'Hangs.', input: anything, run: () => new Promise(() => undefined) }),
  ];
  const agent = (id: string, script: readonly ScriptedEntry[], more: Partial<AgentOptions> = {}): Agent =>
    createAgent({ id, model: scriptedModel(script), tools, ports, ...more });
  const start = AgentState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  const pass = async (times: number, ms: number): Promise<void> => {
    for (let count = 0; count < times; count += 1) await clock.advance(ms);
  };
  return { clock, ran, agent, start, pass };
}
const roundTrip = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
const first = (state: AgentState): string => state.waitingFor[0]?.id ?? '';

test('a task that a hook handed to another agent goes on with that agent after a pause', async () => {
  const { agent, start } = stage();
  const [a, b] = [agent('a', [says('a: never asked')]), agent('b', [calls('pay'), says('b done')])];
  const reroute = defineHook({ name: 'reroute', changes: ['args'], beforeTool: () => ({ args: { subagent: 'b', prompt: 'x' } }) });
  const top = agent('top', [spawns('a'), says('top done')], { ...among({ a, b }), hooks: [reroute] });
  const waiting = await top.run(start);
  const end = await top.run(roundTrip(waiting).approve(first(waiting)));
  expect(end.steps[0]?.executions[0]?.value).toMatchObject({ text: 'b done' });
});

test('effects that reject inside a sub-agent fail its step and do not hang the run', async () => {
  const { agent, start } = stage();
  const top = agent('top', [spawns('a'), says('top done')], among({ a: agent('a', [says('a done')]) }));
  const effects = (direct: Effects): Effects => ({
    ...direct,
    run: (key, work, options) =>
      key.startsWith('nested/') ? Promise.reject(new Error('journal is down')) : direct.run(key, work, options),
  });
  const end = await top.run(start, { effects });
  expect([end.status, end.steps[0]?.executions[0]?.value]).toMatchObject(['completed', { partial: true, error: 'journal is down' }]);
});

test('a sub-agent that ignores the cut-off takes neither the usage nor the calls of the outer step with it', async () => {
  const { agent, start, ran, pass } = stage();
  const leaf = agent('leaf', [], { driver: { ...toolCallingDriver(), ask: () => new Promise(() => undefined) } });
  const top = agent('top', [{ toolCalls: [{ name: 'work' }, task('leaf')], usage }, says('top')], among({ leaf }));
  const control = new AbortController();
  const run = top.run(start, { signal: control.signal });
  await pass(10, 0);
  control.abort();
  await pass(5, 20);
  const end = await run;
  expect([ran, end.usage.total, end.steps[0]?.executions[0]?.status]).toStrictEqual([['work'], 100, 'succeeded']);
});

test('an agent that is its own sub-agent tells its listeners each event once', async () => {
  const { agent, start } = stage();
  const heard: number[] = [];
  const me: Agent = agent('me', [spawns('me'), says('inner'), says('outer')], among({ me: () => me }));
  me.onEvent('AgentFinished', ({ seq }) => heard.push(seq));
  await me.run(start);
  expect(heard).toStrictEqual([...new Set(heard)]);
});

test('a vote to end the run lets no sub-agent of that step begin another step', async () => {
  const { agent, start, ran } = stage();
  const a = agent('a', [calls('work'), calls('work'), calls('work'), says('a done')]);
  const no = defineHook({
    name: 'no',
    changes: ['votes'],
    beforeTool: ({ call }) => (call.name === 'work' ? { votes: { decision: 'forbid', reason: 'enough' } } : undefined),
  });
  await agent('top', [{ toolCalls: [task('a'), { name: 'work' }], usage }, says('top')], { ...among({ a }), hooks: [no] }).run(start);
  expect(ran.length).toBeLessThan(2);
});

test('limits of the top bind grandchildren in several branches together', async () => {
  const { agent, start } = stage();
  const long = [...Array.from({ length: 9 }, () => calls('work')), says('g')];
  const branch = (): Agent => agent('mid', [spawns('grand'), says('mid')], among({ grand: agent('grand', long) }));
  const top = agent('top', [spawns('one', 'two'), says('top')], { ...among({ one: branch(), two: branch() }), limits: { tokens: 900 } });
  // One step of overshoot for each of two branches.
  expect((await top.run(start)).usage.total).toBeLessThanOrEqual(1100);
});

test('what may have happened inside a sub-agent that ran out of time is told to the outer model', async () => {
  const { agent, start, pass } = stage();
  const leaf = agent('leaf', [{ text: 'Paying.', toolCalls: [{ name: 'hang' }], usage }], { limits: { wallMs: 5000 } });
  const run = agent('top', [spawns('leaf'), says('top')], among({ leaf })).run(start);
  await pass(20, 1000);
  expect(JSON.stringify((await run).steps[0]?.executions[0]?.output)).toMatch(/hang|may or may not/);
});

test('a task that had done something is not recorded as rejected when a new message supersedes it', async () => {
  const { agent, start, ran } = stage();
  const leaf = agent('leaf', [calls('work'), calls('pay'), says('leaf')]);
  const top = agent('top', [spawns('leaf'), says('top')], among({ leaf }));
  const waiting = await top.run(start);
  const end = await top.run(waiting.withUserMessage('Never mind.'));
  expect(ran).toStrictEqual(['work']);
  const results = end.messages.flatMap(({ toolResults }) => toolResults.map(({ output }) => output.type));
  expect([results, end.session.executions[0]?.results.at(0)?.step.executions[0]?.status]).toStrictEqual([['error'], 'unknown']);
});

test('an approval that a sub-agent asks for is told under the id by which it can be given', async () => {
  const { agent, start } = stage();
  const events: ToolUseEvent[] = [];
  const top = agent('top', [{ toolCalls: [{ name: 'pay' }, task('a')], usage }], among({ a: agent('a', [calls('pay')]) }));
  const waiting = await top.run(start, { onEvent: (event: never) => events.push(event) });
  const asked = events.flatMap((event) => (event.type === 'ToolApprovalRequested' ? [event.waitId] : []));
  expect(asked).toStrictEqual(waiting.waitingFor.map(({ id }) => id));
});

test('a critic reads the question that compaction moved to the buffer', async () => {
  const { agent, start } = stage();
  const critic = scriptedModel([says('{"approved":true,"summary":"","strengths":[],"weaknesses":[],"suggestions":[]}')]);
  const small = compaction({ model: scriptedModel([]), maxTokens: 20, maxBufferTokens: 1000 });
  await agent('top', [calls('work'), calls('work'), says('A long, long, long answer.')], {
    capabilities: [small, selfCritique({ model: critic })],
  }).run(start);
  expect(critic.calls[0]?.messages[1]?.text).toContain('Go.');
});

test('waiting for permission to ask inside a sub-agent takes no active time outside', async () => {
  const { agent, start, clock, pass } = stage();
  const base = scriptedModel([says('leaf done')]);
  const limited: AgentOptions['model'] = {
    provider: 'x',
    modelId: 'y',
    generate: (request) => base.generate(request),
    stream: async (request, hear) => {
      request.onNotice?.({ type: 'waiting' } as never);
      await new Promise<void>((resolve) => void clock.schedule(3000, resolve));
      request.onNotice?.({ type: 'waited' } as never);
      return base.stream(request, hear);
    },
  };
  const top = agent('top', [spawns('leaf'), says('top')], {
    ...among({ leaf: agent('leaf', [], { model: limited }) }),
    limits: { activeMs: 1000 },
  });
  const run = top.run(start);
  await pass(20, 500);
  expect((await run).status).toBe('completed');
});

test('each effect of a hook has a key of its own within an execution, also after a grant', async () => {
  const { agent, start } = stage();
  const keys: string[] = [];
  const load = defineHook({
    name: 'load',
    changes: ['metadata'],
    executionStart: async ({ effects }) => {
      await effects.run('x', () => 1);
    },
  });
  const top = agent('top', [calls('work'), says('done')], { limits: { steps: 1, onLimit: 'pause' }, hooks: [load] });
  const effects = (direct: Effects): Effects => ({
    ...direct,
    run: (key, work, options) => (keys.push(key), direct.run(key, work, options)),
  });
  const waiting = await top.run(start, { effects });
  await top.run(waiting.grant({ steps: 5 }), { effects });
  expect(keys).toStrictEqual([...new Set(keys)]);
});

test('hooks at calls that run side by side see the metadata that each of them left', async () => {
  const { agent, start } = stage();
  const seen: number[] = [];
  const mark = defineHook({
    name: 'mark',
    changes: ['metadata'],
    beforeTool: async ({ call }) => Promise.resolve({ metadata: { [call.id]: true } }),
    afterTool: ({ state }) => void seen.push(Object.keys(state.metadata).length),
  });
  await agent('top', [calls('work', 'work'), says('done')], { hooks: [mark] }).run(start);
  expect(seen.at(-1)).toBe(2);
});

test('an id that looks like one inside a call is its own', async () => {
  const { agent, start, ran } = stage();
  const leaf = agent('leaf', [{ toolCalls: [{ id: 'x', name: 'pay' }], usage }, says('leaf')]);
  const both = [
    { id: 'a', ...task('leaf') },
    { id: 'a/b', name: 'pay' },
  ];
  const top = agent('top', [{ toolCalls: both, usage }, says('top')], among({ leaf }));
  const waiting = await top.run(start);
  const half = await top.run(roundTrip(waiting).approve('a/b'));
  expect([ran, half.waitingFor.map(({ id }) => id)]).toStrictEqual([['pay'], ['a/x']]);
  const end = await top.run(roundTrip(half).approve('a/x'));
  expect([end.status, end.steps[0]?.executions.map(({ status }) => status)]).toStrictEqual(['completed', ['succeeded', 'succeeded']]);
});

test('an onEnd that throws is reported, and the task has ended all the same', async () => {
  const { agent, start } = stage();
  const helper = { agent: agent('a', [says('a done')]), description: 'Helps.' };
  const onEnd = (): void => {
    throw new Error('no archive');
  };
  const end = await agent('top', [spawns('a'), says('top')], { capabilities: [subAgents({ agents: { a: helper }, onEnd })] }).run(start);
  expect(end.steps[0]?.executions[0]?.value).toMatchObject({ text: 'a done', partial: false });
});

test('pieces of sub-agents that speak at once never go back in number', async () => {
  const { agent, start } = stage();
  const seqs: number[] = [];
  const talk = (): Agent => agent('talk', [{ chunks: ['one ', 'two'], usage }, says('x')]);
  const top = agent('top', [spawns('a', 'b'), says('top')], among({ a: talk(), b: talk() }));
  await top.run(start, { onEvent: (event: ToolUseEvent) => seqs.push(event.seq) });
  expect(seqs).toStrictEqual([...seqs].sort((left, right) => left - right));
});

test.each(['limits', 'hook', 'own'] as const)('a token limit of the top given as %s binds runs inside', async (how) => {
  const { agent, start } = stage();
  const a = agent('a', [...Array.from({ length: 9 }, () => calls('work')), says('a')]);
  const limit = new TokenUsageLimit<AgentState>(300, ({ usage: used }) => used);
  const finalizing = new TokenUsageLimit<AgentState>(300, ({ usage: used }) => used, { onLimit: () => 'finalize' });
  const given: Partial<AgentOptions> = {
    limits: { limits: { tokens: 300 } },
    hook: { hooks: [guardHook(limit, { name: 'Mine' })] },
    own: { criteria: [{ name: 'Mine', explain: (state: AgentState) => ({ ...finalizing.explain(state), criterion: 'Mine' }) }] },
  }[how];
  const end = await agent('top', [spawns('a'), says('top')], { ...among({ a }), ...given }).run(start);
  // What is left to the top beyond it is one step to go on with, or to sum up in.
  expect(end.steps[0]?.usage.total).toBe(300);
});

test('a sub-agent that would pause at two limits at once gives what it has', async () => {
  const { agent, start } = stage();
  const a = agent('a', [{ ...calls('work'), text: 'half' }], { limits: { tokens: 100, steps: 1, onLimit: 'pause' } });
  const end = await agent('top', [spawns('a'), says('top')], among({ a })).run(start);
  expect(end.steps[0]?.executions[0]?.value).toMatchObject({ text: 'half', partial: true });
});

test.each(Array.from({ length: 12 }, (_, index) => index))(
  'a task that has done something is never recorded as undone, cut off %i moments after it was approved',
  async (moments) => {
    const { agent, start, ran, pass } = stage();
    const leaf = agent('leaf', [calls('work'), calls('pay'), says('leaf')]);
    const top = agent('top', [{ toolCalls: [{ name: 'pay' }, task('leaf')], usage }, says('top')], among({ leaf }));
    const waiting = await top.run(start);
    const [own, inner] = waiting.waitingFor.map(({ id }) => id);
    const stop = new AbortController();
    const run = top.run(waiting.reject(own ?? '', 'no').approve(inner ?? ''), { signal: stop.signal });
    for (let count = 0; count < moments; count += 1) await Promise.resolve();
    stop.abort();
    await pass(10, 20);
    const execution = (await run).steps[0]?.executions.find(({ toolName }) => toolName === 'spawn_subagent');
    expect([ran[0], ['unknown', 'succeeded'].includes(execution?.status ?? '')]).toStrictEqual(['work', true]);
  },
);

test('a vote that ends the run keeps an approved task from going on', async () => {
  const { agent, start, ran } = stage();
  const leaf = agent('leaf', [calls('pay'), says('leaf')]);
  const no = defineHook({
    name: 'no',
    changes: ['votes'],
    beforeTool: ({ approved }) => (approved ? { votes: { decision: 'forbid', reason: 'enough' } } : undefined),
  });
  const top = agent('top', [{ toolCalls: [{ name: 'pay' }, task('leaf')], usage }, says('top')], { ...among({ leaf }), hooks: [no] });
  const waiting = await top.run(start);
  const end = await top.run(waiting.waitingFor.reduce((state, { id }) => state.approve(id), waiting));
  expect([ran, end.stopReason, end.steps[0]?.executions.map(({ status }) => status)]).toStrictEqual([
    [],
    'guard',
    ['cancelled', 'unknown'],
  ]);
});

test('branches know what each of them has spent itself, while runs inside them are at work', async () => {
  const { agent, start } = stage();
  const dear = { ...spawns('grand'), usage: { input: 1000, output: 0 } };
  const cheap = (): ScriptedEntry => ({ ...calls('work'), usage: { input: 10, output: 0 } });
  const branch = (): Agent => agent('mid', [dear, says('mid')], among({ grand: agent('grand', Array.from({ length: 30 }, cheap)) }));
  const top = agent('top', [spawns('one', 'two'), says('top')], { ...among({ one: branch(), two: branch() }), limits: { tokens: 1500 } });
  expect((await top.run(start)).usage.total).toBeLessThanOrEqual(2150);
});

test('what was recorded of a call that waited in storage cannot be changed through its arguments', async () => {
  const { agent, start } = stage();
  const list = defineTool({
    name: 'list',
    description: 'Lists.',
    input: { type: 'object', properties: { items: { type: 'array' } } } as const,
    needsApproval: true,
    run: () => 'listed',
    toModelOutput: (_, { args }) => ((args as { items: number[] }).items.push(8), 'shown'),
  });
  const top = agent('top', [{ toolCalls: [{ name: 'list', args: { items: [1] } }], usage }, says('top')], { tools: [list] });
  const end = await top.run(roundTrip(await top.run(start)).approve('call-1'));
  expect([end.steps[0]?.executions[0]?.args, end.steps[0]?.executions[0]?.status]).toStrictEqual([{ items: [1] }, 'succeeded']);
});

test('over random trees of runs, pauses and cut-offs, usage is counted exactly once', async () => {
  const level = fc.record({
    tokens: fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined }),
    onLimit: fc.constantFrom('stop', 'finalize', 'pause'),
    hook: fc.constantFrom('none', 'asks', 'votes'),
    script: fc.array(fc.array(fc.constantFrom('work', 'pay', 'a', 'b'), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  });
  const rounds = fc.array(fc.record({ abortAt: fc.option(fc.nat(100), { nil: undefined }), says: fc.array(fc.boolean()) }), {
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(level, { minLength: 7, maxLength: 7 }), rounds, async (levels, acts) => {
      const { agent, start, clock } = stage();
      const models: ScriptedModel[] = [];
      const setUpModel = (script: readonly ScriptedEntry[]): ScriptedModel => {
        const model = scriptedModel(script, { repeatLast: true });
        models.push(model);
        return model;
      };
      const critic = setUpModel([says('fine')]);
      let next = 0;
      const build = (depth: number): Agent => {
        const { tokens, onLimit, hook, script } = levels[next++ % levels.length]!;
        const kids = depth < 2 ? { a: build(depth + 1), b: build(depth + 1) } : undefined;
        const entries = script.map((names): ScriptedEntry => {
          const made = names.flatMap((name): readonly ScriptedToolCall[] =>
            name.length > 1 ? [{ name }] : kids === undefined ? [] : [task(name)],
          );
          return made.length === 0 ? says('nothing to do') : { toolCalls: made, usage };
        });
        const look = defineHook({
          name: 'look',
          changes: ['votes'],
          afterTool: async ({ ask, stepNumber }) => {
            await ask(critic, { messages: [Message.user('Fine?')] });
            return hook === 'votes' && stepNumber > 1 ? { votes: { decision: 'forbid', reason: 'enough' } } : undefined;
          },
        });
        return agent(`level-${depth}`, [], {
          model: setUpModel([...entries, says('done')]),
          ...(kids !== undefined && among(kids)),
          ...(hook !== 'none' && { hooks: [look] }),
          limits: { steps: 6, onLimit, ...(tokens !== undefined && { tokens: tokens * 100 }) },
        });
      };
      const top = build(0);
      let state = start;
      for (const { abortAt, says: answers } of [{ abortAt: undefined, says: [] }, ...acts]) {
        const stop = new AbortController();
        const run = top.run(state, { signal: stop.signal });
        for (let count = 0; count < (abortAt ?? 0); count += 1) await Promise.resolve();
        if (abortAt !== undefined) stop.abort();
        for (let count = 0; count < 8; count += 1) await clock.advance(10);
        state = roundTrip(await run);
        const asked = models.reduce((sum, { calls: made }) => sum + made.length, 0);
        expect(state.usage.total + 100 * (state.usage.unknownCalls ?? 0)).toBe(asked * 100);
        for (const [index, { id, type }] of state.waitingFor.entries()) {
          if (type === 'grant') state = index === 0 ? state.grant({ tokens: 300, steps: 2 }) : state;
          else state = answers[index] === false ? state.reject(id, 'no') : state.approve(id);
        }
        if (state.status !== 'in_progress') return;
      }
    }),
    { numRuns: pickRuns({ quick: 20, slow: 500 }) },
  );
});

test('a run given a clock of its own lends it to the runs inside', async () => {
  const { agent, start } = stage();
  const top = agent('top', [spawns('a'), says('top done')], among({ a: agent('a', [says('a done')]) }));
  const at = Date.parse('2031-05-06T07:08:09Z');
  const events: { readonly at: number; readonly isInside: boolean }[] = [];
  await top.run(start, {
    clock: createFakeClock(at),
    onEvent: (event) => events.push({ at: event.at, isInside: event.parentAgentId !== null }),
  });
  expect(new Set(events.map((event) => event.isInside)).size).toBe(2);
  expect(new Set(events.map((event) => event.at))).toStrictEqual(new Set([at]));
});

test('a text handed to start() becomes a state with the ids of the run', async () => {
  const { agent } = stage();
  const run = agent('top', [says('done')]).start('Go.', { ids: createCountingIds('attempt') });
  const { state } = await run.result;
  expect(state.messages.map((message) => message.id.startsWith('attempt'))).toStrictEqual([true, true]);
});
