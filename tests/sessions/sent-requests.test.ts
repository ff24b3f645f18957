// What models were sent can be rebuilt from the log and the definitions of the agents: the same messages, tools, settings and form.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../src/entry/index.ts';
import { AgentState, createAgent, defineHook, defineTool, ErrorPolicy, Message } from '../../src/entry/index.ts';
import { compaction, subAgents } from '../../src/capabilities/index.ts';
import { createChat, llmParticipant } from '../../src/chat/index.ts';
import { BoardTool, createCollaboration, llmCollaborator } from '../../src/collaboration/index.ts';
import { RateLimitedError } from '../../src/errors/index.ts';
import type { AgentDefinition, ModelRequest, StoredRequest } from '../../src/inference/index.ts';
import { sha256, stableStringify } from '../../src/lib/index.ts';
import type { RunState } from '../../src/step-by-step/index.ts';
import { reActDriver } from '../../src/tool-use/index.ts';
import type { SessionRequest } from '../../src/sessions/core/read-requests.ts';
import { readRequests, rebuildRequests } from '../../src/sessions/core/read-requests.ts';
import { createRecorder, writeDefinition } from '../../src/sessions/core/sent-requests.ts';
import type { EmbeddedRuntime, SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace, createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import type { Orchestrator } from '../../src/step-by-step/index.ts';
import type { ScriptedEntry, ScriptedModel } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { ann as by, newProcess } from './stage.ts';

const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({ at: z.string().optional() }), run: () => 'seen' });
const pay = defineTool({ name: 'pay', description: 'Pays.', input: z.object({}), needsApproval: true, run: () => 'paid' });
const looks: ScriptedEntry = { toolCalls: [{ name: 'look', args: { at: 'it' } }] };
const pays: ScriptedEntry = { toolCalls: [{ name: 'pay', args: {} }] };
const says = (text: string): ScriptedEntry => ({ text });

/** Everything of a request that a model reads. */
const toRead = ({ messages, tools, settings, output }: Partial<ModelRequest>): unknown => {
  const { headers: _, ...given } = settings ?? {};
  const read = messages?.map(({ role, parts, name, providerOptions }) => ({ role, parts, name, providerOptions }));
  return JSON.parse(stableStringify(JSON.parse(JSON.stringify({ read, tools, settings: given, output })))) as unknown;
};

type Given = Partial<Omit<AgentOptions, 'model' | 'tools'>>;

const createDesk = (model: ScriptedModel, more: Given = {}): Orchestrator =>
  createAgent({ id: 'desk', instructions: 'Be kind.', model, tools: [look, pay], ...more });

function setUp(agent: Orchestrator, store: SessionStore = createMemoryStore()) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const runtime = createSessionRuntime({ ...newProcess, agents: [agent], store, clock, ids });
  return { runtime, store, read: () => readRequests(store, 'one', agent.states) };
}

/** Has a conversation with an agent, and returns the requests that the log tells of. */
async function talk(agent: Orchestrator, ...texts: readonly string[]): Promise<readonly SessionRequest[]> {
  const { runtime, read } = setUp(agent);
  await runtime.create({ id: 'one' }, { by });
  for (const text of texts) await runtime.send('one', text, { by });
  return read();
}

async function approveFirst(runtime: EmbeddedRuntime): Promise<void> {
  const [wait] = (await runtime.get('one')).waitingFor;
  if (wait === undefined) throw new Error('nothing waits');
  await runtime.approve('one', wait, { by });
}

/** Expects the requests to be those that these models got. */
function expectSame(requests: readonly SessionRequest[], ...models: readonly ScriptedModel[]): void {
  expect(requests.length).toBeGreaterThan(0);
  const got = models.flatMap(({ calls }) => calls).map((call) => JSON.stringify(toRead(call)));
  expect(requests.map(({ request }) => JSON.stringify(toRead(request))).sort()).toStrictEqual(got.sort());
  expect(requests.map(({ isExact }) => isExact)).toStrictEqual(requests.map(() => true));
}

describe('an agent', () => {
  test('sends what its definition and the conversation say; nothing else is stored', async () => {
    const model = scriptedModel([looks, says('It is here.'), says('Bye.')]);
    const { runtime, store, read } = setUp(createDesk(model, { settings: { temperature: 0, headers: { authorization: 'secret' } } }));
    await runtime.create({ id: 'one' }, { by });
    await runtime.send('one', 'Where is it?', { by });
    await runtime.send('one', 'Thanks.', { by });
    const requests = await read();
    expectSame(requests, model);
    expect(requests.map(({ execution, step }) => [execution, step])).toStrictEqual([
      [1, 1],
      [1, 2],
      [2, 1],
    ]);
    const bodies = (await store.log.entries('one')).map(({ body }) => JSON.parse(body) as { requests?: { sent: StoredRequest[] } });
    const sent = bodies.flatMap(({ requests: recorded }) => recorded?.sent ?? []);
    expect(sent.map((each) => Object.keys(each))).toStrictEqual(sent.map(() => ['definition', 'digest']));
    const notes = await store.notes.list({ prefix: 'definition/' });
    expect(notes.map(({ name }) => name)).toStrictEqual([`definition/${sent[0]!.definition}`]);
    // Sessions share it by its digest: one that anybody could make collide would give an agent the words of another.
    expect(sent[0]!.definition).toBe(sha256(notes[0]!.body).slice(0, 32));
    expect(JSON.parse(notes[0]!.body)).toMatchObject({
      agent: { id: 'desk' },
      model: 'scripted/script',
      driver: 'tool-calling',
      instructions: ['Be kind.'],
      settings: { temperature: 0 },
      tools: [{ name: 'look' }, { name: 'pay' }],
    });
    expect(notes[0]!.body).not.toContain('secret');
  });

  test.each<[string, Given, readonly ScriptedEntry[]]>([
    ['without instructions', { instructions: '' }, [says('Hello.')]],
    ['with instructions for each step', { instructions: ({ state }) => `Step ${state.stepCount + 1}.` }, [looks, says('Hello.')]],
    [
      'with an output schema, and an answer that does not fit at first',
      { output: z.object({ sum: z.number() }), errors: ErrorPolicy.retryToolErrors(3) },
      [says('five'), says('{"sum":5}')],
    ],
    [
      'by ReAct',
      { driver: reActDriver() },
      [says('{"type":"call_tool","tool":"look","args":"{}"}'), says('{"type":"final_answer","answer":"5"}')],
    ],
    [
      'by ReAct, with a second request for the answer',
      { driver: reActDriver({ finalViaInference: true }) },
      [says('{"type":"final_answer","answer":"5","thought":"Well."}'), says('It is 5.')],
    ],
    ['that sums up', { limits: { steps: 1, onLimit: 'finalize' } }, [looks, says('I looked.')]],
    ['that sums up in words, after a second request', { limits: { steps: 1, onLimit: 'finalize' } }, [looks, looks, says('I looked.')]],
    [
      'that tries again',
      { errors: ErrorPolicy.retryToolErrors(3) },
      [{ error: new RateLimitedError('slow down', { retryAfterMs: 1 }) }, says('Hello.')],
    ],
  ])('%s', async (_, given, script) => {
    const model = scriptedModel(script);
    const requests = await talk(createDesk(model, given), 'Look.');
    expectSame(requests, model);
    expect(requests).toHaveLength(script.length);
  });

  test('whose hooks change messages, settings and tools', async () => {
    const hook = defineHook({
      name: 'changing',
      changes: ['messages', 'settings', 'tools'],
      beforeInference: ({ messages, stepNumber }) => ({
        messages: [...messages.slice(0, 1), Message.user(`Note ${stepNumber}.`), ...messages.slice(1)],
        settings: { temperature: stepNumber },
        tools: ['look'],
      }),
    });
    const model = scriptedModel([looks, says('Hello.')]);
    expectSame(await talk(createDesk(model, { hooks: [hook] }), 'Look.'), model);
  });

  test('whose conversation is compacted', async () => {
    const model = scriptedModel([looks, looks, looks, says('Hello.'), looks, says('Bye.')]);
    const summarizer = scriptedModel([says('They looked.')], { repeatLast: true });
    const capabilities = [compaction({ model: summarizer, maxTokens: 30, maxBufferTokens: 20, countTokens: () => 10 })];
    const requests = await talk(createDesk(model, { capabilities }), 'Look.', 'Again.');
    expect(summarizer.calls.length).toBeGreaterThan(0);
    expectSame(requests, model);
  });

  test('with sub-agents, one of which waits for a person', async () => {
    const spawn = (prompt: string): ScriptedEntry => ({ toolCalls: [{ name: 'spawn_subagent', args: { subagent: 'helper', prompt } }] });
    const [model, inner] = [
      scriptedModel([spawn('Look.'), spawn('Pay.'), says('Done.')]),
      scriptedModel([looks, says('Seen.'), pays, says('Paid.')]),
    ];
    const helper = createAgent({ id: 'helper', instructions: 'Help.', model: inner, tools: [look, pay] });
    const desk = createDesk(model, { capabilities: [subAgents({ agents: { helper: { agent: helper, description: 'Helps.' } } })] });
    const { runtime, store, read } = setUp(desk);
    await runtime.create({ id: 'one' }, { by });
    await runtime.send('one', 'Go.', { by });
    await approveFirst(runtime);
    const requests = await read();
    expectSame(requests, model, inner);
    expect(requests.map(({ step, inside }) => [step, inside])).toStrictEqual([
      [1, undefined],
      [1, 'nested/1/0/1'],
      [1, 'nested/1/0/1'],
      [2, undefined],
      [2, 'nested/2/0/1'],
      [2, 'nested/2/0/2'],
      [3, undefined],
    ]);
    expect(await store.notes.list({ prefix: 'definition/' })).toHaveLength(2);
  });

  test('that another process resumes in the middle of a step, with what the first one sent', async () => {
    const place = createMemoryPlace();
    let now = 'Monday';
    let reach = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const hangs = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({ at: z.string().optional() }),
      effect: 'pure',
      run: () => (reach(), new Promise<string>(() => undefined)),
    });
    const create = (model: ScriptedModel, tool: typeof look) =>
      createAgent({ id: 'desk', model, tools: [tool], instructions: () => `It is ${now}.` });
    const [before, after] = [scriptedModel([looks]), scriptedModel([says('Here.'), says('Bye.')])];
    const first = setUp(create(before, hangs), place.open());
    await first.runtime.create({ id: 'one' }, { by });
    void first.runtime.send('one', 'Look.', { by }).catch(() => undefined);
    await reached;
    now = 'Tuesday';
    const second = setUp(create(after, { ...hangs, run: () => 'seen' }), place.open());
    await second.runtime.send('one', 'Thanks.', { by });
    expectSame(await second.read(), before, after);
  });
});

test('an erased message is erased from stored requests too, and the digest says that something is missing', async () => {
  const hook = defineHook({
    name: 'repeating',
    changes: ['messages'],
    beforeInference: ({ messages }) => ({ messages: [...messages, messages.at(-1)!] }),
  });
  const { runtime, store, read } = setUp(createDesk(scriptedModel([says('Hello.')]), { hooks: [hook] }));
  await runtime.create({ id: 'one' }, { by });
  await runtime.send('one', 'My number is 4711.', { by });
  expect((await read()).map(({ isExact }) => isExact)).toStrictEqual([true]);
  const { state } = await runtime.get('one');
  await runtime.eraseMessage('one', state.messages.at(0)!.id, { by });
  expect(JSON.stringify(await store.log.entries('one'))).not.toContain('4711');
  expect((await read()).map(({ isExact }) => isExact)).toStrictEqual([false]);
});

test.each<readonly [string, Given]>([
  ['instructions that were made from it', { instructions: ({ state }) => `The question: ${state.messages.at(0)?.text ?? ''}` }],
  [
    'a message that a hook wrote',
    {
      hooks: [
        defineHook({
          name: 'quoting',
          changes: ['messages'],
          beforeInference: ({ messages }) => ({ messages: [...messages, Message.user(`Asked: "${messages.at(-1)?.text ?? ''}"`)] }),
        }),
      ],
    },
  ],
  [
    'instructions that a hook wrote',
    {
      hooks: [
        defineHook({
          name: 'quoting',
          changes: ['messages'],
          beforeInference: ({ messages: [, ...rest] }) => ({
            messages: [Message.system(`Answer: ${rest.at(-1)?.text ?? ''}`, { id: 'instructions' }), ...rest],
          }),
        }),
      ],
    },
  ],
])('an erased message is not quoted in stored requests: %s', async (_, more) => {
  const { runtime, store, read } = setUp(createDesk(scriptedModel([says('Hello.')]), more));
  await runtime.create({ id: 'one' }, { by });
  await runtime.send('one', 'My name is Walnut.', { by });
  expect(JSON.stringify(await store.log.entries('one'))).toContain('Walnut');
  const { state } = await runtime.get('one');
  await runtime.eraseMessage('one', state.messages.at(0)!.id, { by });
  expect(JSON.stringify(await store.log.entries('one'))).not.toContain('Walnut');
  expect((await read()).map(({ isExact }) => isExact)).toStrictEqual([false]);
});

describe('several participants', () => {
  test('in a chat, each with its own view', async () => {
    const [one, two] = [scriptedModel([looks, says('I see.'), says('Yes.')]), scriptedModel([says('What?'), says('Bye.')])];
    const participants = [
      llmParticipant({ name: 'ann', model: one, tools: [look], instructions: 'You are Ann.' }),
      llmParticipant({ name: 'bob', model: two }),
    ];
    const requests = await talk(createChat({ id: 'room', participants }), 'Hello.', 'And now?');
    expectSame(requests, one, two);
    expect(requests).toHaveLength(5);
  });

  test('in a collaboration, with a board that changes and one definition for each', async () => {
    const write = (content: string): ScriptedEntry => ({ toolCalls: [{ name: BoardTool.Write, args: { artifact: 'text', content } }] });
    const [one, two] = [
      scriptedModel([write('A'), says('Done.'), write('B'), says('Again.')]),
      scriptedModel([says('More.'), says('Fine.')]),
    ];
    const collaborators = [llmCollaborator({ name: 'ann', model: one }), llmCollaborator({ name: 'bob', model: two })];
    const { runtime, store, read } = setUp(createCollaboration({ id: 'team', collaborators }));
    await runtime.create({ id: 'one' }, { by });
    await runtime.send('one', 'Write.', { by });
    await runtime.send('one', 'Once more.', { by });
    expectSame(await read(), one, two);
    expect(await store.notes.list({ prefix: 'definition/' })).toHaveLength(2);
  });
});

describe('every driver of an agent', () => {
  const script = [looks, looks, says('Hello.')];

  test.each(['run', 'iterate', 'nextStep', 'start'] as const)('%s', async (driver) => {
    const model = scriptedModel(script);
    const agent = createAgent({ model, tools: [look], instructions: 'Be kind.' });
    let state: RunState = AgentState.empty().withUserMessage('Look.');
    const definitions = new Map<string, AgentDefinition>();
    const rebuilt: ReturnType<typeof rebuildRequests>[number][] = [];
    let sent: StoredRequest[] = [];
    const requests = createRecorder({
      getState: () => state,
      define: (definition) => {
        const { id } = writeDefinition(definition);
        definitions.set(id, definition);
        return id;
      },
      add: (each) => sent.push(each),
    });
    const commit = (committed: { readonly state: RunState }): void => {
      rebuilt.push(...rebuildRequests({ state, states: agent.states, requests: { execution: 1, step: 1, sent }, definitions }));
      sent = [];
      ({ state } = committed);
    };
    const options = { requests, commit };
    // Holds: the state is that of the agent.
    const start = state as AgentState;
    if (driver === 'run') await agent.run(start, options);
    if (driver === 'start') await agent.start(start, options).result;
    if (driver === 'iterate') for await (const each of agent.iterate(start, options)) expect(each).toBe(state);
    if (driver === 'nextStep') while (agent.hasNextStep(state as AgentState)) await agent.nextStep(state as AgentState, options);
    expect(rebuilt.map(({ request }) => toRead(request))).toStrictEqual(model.calls.map(toRead));
    expect(rebuilt.every(({ isExact }) => isExact)).toBe(true);
  });
});
