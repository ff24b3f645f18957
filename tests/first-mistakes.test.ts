// Mistakes that people make on their first day, and the whole sentence that each of them reads.
import { type } from 'arktype';
import * as v from 'valibot';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compaction, selfCritique, subAgents } from '../src/entry/capabilities.ts';
import { coordinator, createChat, llmParticipant } from '../src/entry/chat.ts';
import { createCollaboration, scriptedCollaborator } from '../src/entry/collaboration.ts';
import { AgentBuilder, createAgent, defineHook, defineTool, ErrorPolicy, priceTable, StepsLimit } from '../src/entry/index.ts';
import { withFallback, withModelLimits, withModelSettings } from '../src/entry/index.ts';
import { withTimeouts } from '../src/entry/inference.ts';
import { aiSdk, aiSdkTools } from '../src/entry/ai-sdk.ts';
import { guardHook } from '../src/entry/hooks.ts';
import { postgresStore } from '../src/entry/postgres.ts';
import type { EmbeddedRuntime } from '../src/entry/sessions.ts';
import { createMemoryStore, createSessionRuntime, encryptStore } from '../src/entry/sessions.ts';
import { sqliteStore } from '../src/entry/sqlite.ts';
import { scriptedModel } from '../src/entry/testing.ts';
import { defineClientTool } from '../src/entry/index.ts';

// Callers without a compiler, or with a cast, pass anything.
const anything = (value: unknown): never => value as never;

const model = scriptedModel(['Hello.'], { repeatLast: true });
const input = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } as const;
const tool = { name: 'mail', description: 'Sends a mail.', input, run: () => 'sent' };
const by = { id: 'ann', kind: 'user' } as const;

/** Returns the message of the error that a call throws, or rejects with. */
async function readMessage(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  return 'nothing was thrown';
}

const aiSdkModel = anything({ specificationVersion: 'v4', doGenerate: () => 1, doStream: () => 1 });

type Mistake = readonly [mistake: string, call: () => unknown, sentence: string];

describe('a mistake in an agent', () => {
  test.each<Mistake>([
    [
      'no options',
      () => createAgent(anything(undefined)),
      'InvalidArgumentError: createAgent() needs an object of options, not undefined. Valid options: id, version, model, fallback, settings, timeouts, context, tools, instructions, output, limits, errors, finishReasons, criteria, onlyCriteria, hooks, capabilities, driver, price, onUnknown, toolConcurrency, streaming, events, ports.',
    ],
    [
      'no model',
      () => createAgent(anything({})),
      'InvalidArgumentError: createAgent() needs a model. Pass aiSdk(openai("gpt-5")), for example, with aiSdk from "stepline/ai-sdk" and openai from "@ai-sdk/openai".',
    ],
    [
      'a builder without a model',
      () => AgentBuilder.new().build(),
      'InvalidArgumentError: AgentBuilder needs a model. Pass aiSdk(openai("gpt-5")), for example, with aiSdk from "stepline/ai-sdk" and openai from "@ai-sdk/openai".',
    ],
    [
      'a model id',
      () => createAgent(anything({ model: 'gpt-5' })),
      'InvalidArgumentError: createAgent(): model must be a model object, not "gpt-5". Pass aiSdk(openai("gpt-5")), for example, with aiSdk from "stepline/ai-sdk" and openai from "@ai-sdk/openai".',
    ],
    [
      'an AI SDK model',
      () => createAgent(anything({ model: { specificationVersion: 'v3', doGenerate: () => 1, doStream: () => 1 } })),
      'InvalidArgumentError: createAgent(): model is a model of the AI SDK. Wrap it with aiSdk() from "stepline/ai-sdk".',
    ],
    ...(
      [
        ['compaction()', () => compaction({ model: aiSdkModel }), 'model'],
        ['selfCritique()', () => selfCritique({ model: aiSdkModel }), 'model'],
        ['coordinator()', () => coordinator({ model: aiSdkModel }), 'model'],
        ['withFallback()', () => withFallback(model, [aiSdkModel]), 'others[0]'],
        ['withModelLimits()', () => withModelLimits(aiSdkModel, { concurrent: 1 }), 'model'],
        ['withModelSettings()', () => withModelSettings(aiSdkModel, {}), 'model'],
        ['withTimeouts()', () => withTimeouts(aiSdkModel), 'model'],
      ] as const
    ).map(([maker, call, option]): Mistake => [
      `an AI SDK model for ${maker}`,
      call,
      `InvalidArgumentError: ${maker}: ${option} is a model of the AI SDK. Wrap it with aiSdk() from "stepline/ai-sdk".`,
    ]),
    [
      'a model id for aiSdk()',
      () => aiSdk(anything('gpt-5')),
      'UnsupportedModelError: aiSdk() cannot use this model: "gpt-5" is a model id. Pass a model object, such as openai("gpt-5") from "@ai-sdk/openai".',
    ],
    [
      'system',
      () => createAgent(anything({ model, system: 'Be kind.' })),
      'InvalidArgumentError: Unknown option "system" in createAgent(). Use instructions.',
    ],
    [
      'maxSteps',
      () => createAgent(anything({ model, maxSteps: 5 })),
      'InvalidArgumentError: Unknown option "maxSteps" in createAgent(). Use limits.steps.',
    ],
    [
      'stopWhen',
      () => createAgent(anything({ model, stopWhen: () => true })),
      'InvalidArgumentError: Unknown option "stopWhen" in createAgent(). Use limits.steps for a number of steps, or criteria: [stopWhen(name, (state) => …)].',
    ],
    [
      'temperature',
      () => createAgent(anything({ model, temperature: 0 })),
      'InvalidArgumentError: Unknown option "temperature" in createAgent(). Use settings.temperature.',
    ],
    [
      'maxTokens',
      () => createAgent(anything({ model, maxTokens: 100 })),
      'InvalidArgumentError: Unknown option "maxTokens" in createAgent(). Use settings.maxOutputTokens for one answer, or limits.tokens for the whole run.',
    ],
    [
      'prompt',
      () => createAgent(anything({ model, prompt: 'Hi.' })),
      'InvalidArgumentError: Unknown option "prompt" in createAgent(). Use instructions for the system prompt. Pass the message of the user to agent.start().',
    ],
    [
      'memory',
      () => createAgent(anything({ model, memory: {} })),
      'InvalidArgumentError: Unknown option "memory" in createAgent(). An agent keeps nothing between runs. Use createSessionRuntime({ agents, store }) from "stepline/sessions".',
    ],
    [
      'a misspelled option',
      () => createAgent(anything({ model, instrucitons: 'Be kind.' })),
      'InvalidArgumentError: Unknown option "instrucitons" in createAgent(). Did you mean "instructions"?',
    ],
    [
      'a misspelled limit',
      () => createAgent(anything({ model, limits: { step: 5 } })),
      'InvalidArgumentError: Unknown option "step" in limits. Did you mean "steps"?',
    ],
    [
      'a limit that is a string',
      () => createAgent(anything({ model, limits: { steps: '5' } })),
      'InvalidArgumentError: limits.steps must be a number of 0 or more, or Infinity, not "5".',
    ],
    [
      'a misspelled setting',
      () => createAgent(anything({ model, settings: { maxTokens: 5 } })),
      'InvalidArgumentError: Unknown option "maxTokens" in settings. Use maxOutputTokens.',
    ],
    [
      'a cost limit without prices',
      () => createAgent({ model, limits: { costUsd: 1 } }),
      'InvalidArgumentError: createAgent(): limits.costUsd is 1, but the cost is unknown without prices. Pass price: priceTable({…}), or remove the limit.',
    ],
    [
      'a price without a provider',
      () => priceTable({ 'gpt-5': { inputPerMillion: 1, outputPerMillion: 1 } }),
      'InvalidArgumentError: "gpt-5" in priceTable() has no provider. Use "provider/model", such as "openai/gpt-5".',
    ],
    [
      'a number of retries as error policy',
      () => createAgent(anything({ model, errors: 3 })),
      'InvalidArgumentError: createAgent(): errors must be an ErrorPolicy, such as ErrorPolicy.retryToolErrors(3), not 3.',
    ],
    [
      'a misspelled error type',
      () => new ErrorPolicy(anything({ onToolErrors: 'retry' })),
      'InvalidArgumentError: Unknown option "onToolErrors" in new ErrorPolicy(). Did you mean "onToolError"?',
    ],
    [
      'an output that is not a schema',
      () => createAgent(anything({ model, output: 'json' })),
      'InvalidArgumentError: output must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not "json".',
    ],
    [
      'an output that is a bag of zod types',
      () => createAgent(anything({ model, output: { order: z.number() } })),
      'InvalidArgumentError: output is a plain object with zod schemas inside (order), which is not a schema and checks nothing. Wrap it in z.object({ … }).',
    ],
    [
      'an output that lists fields',
      () =>
        AgentBuilder.new()
          .withModel(model)
          .withResponseFormat(anything({ order: { type: 'number' } }))
          .build(),
      "InvalidArgumentError: output is an object without a keyword of JSON Schema, and checks nothing. Write { type: 'object', properties: { order: … } } if it describes fields.",
    ],
    [
      'a function as hook',
      () => createAgent(anything({ model, hooks: [() => undefined] })),
      'InvalidArgumentError: hooks[0] is not a hook. Create it with defineHook({ name, … }).',
    ],
    [
      'a hook without a name',
      () => defineHook(anything({ beforeStep: () => undefined })),
      'InvalidArgumentError: A hook needs a name: a non-empty string, not undefined. Give it a stable one: events and explanations refer to it by name.',
    ],
    [
      'a misspelled handler',
      () => defineHook(anything({ name: 'log', onStep: () => undefined })),
      'InvalidArgumentError: Unknown option "onStep" in hook "log". Valid options: name, order, changes, timeoutMs, context, executionStart, beforeStep, beforeInference, afterInference, beforeTool, afterTool, afterStep, onError, executionEnd.',
    ],
    [
      'a guard at an unknown point',
      () => guardHook(new StepsLimit(3, () => 0), anything({ at: ['before_tool'] })),
      'InvalidArgumentError: guardHook(): at must be a list of any of execution_start, before_step, after_step, not "before_tool".',
    ],
    [
      'abortSignal',
      () => createAgent({ model }).run(anything('Hi.'), anything({ abortSignal: AbortSignal.abort() })),
      'InvalidArgumentError: Unknown option "abortSignal" in the options of a run. Use signal.',
    ],
    [
      'run() with a string',
      () => createAgent({ model }).run(anything('Hi.')),
      'InvalidArgumentError: Expected a state of kind "agent-state", not "Hi.". Use agent.start() for a message, agent.states.empty() for a new state, or agent.restore() for stored data.',
    ],
    [
      'start() with stored data',
      () => createAgent({ model }).start(anything({ messages: [] })),
      'InvalidArgumentError: start() needs a string, a message, a list of parts, or a state of kind "agent-state", not an object. Read stored data with agent.restore() first.',
    ],
    [
      'compaction() without a model',
      () => compaction(anything({})),
      'InvalidArgumentError: compaction() needs a model. Pass aiSdk(openai("gpt-5")), for example, with aiSdk from "stepline/ai-sdk" and openai from "@ai-sdk/openai".',
    ],
    [
      'selfCritique() with llm',
      () => selfCritique(anything({ llm: model })),
      'InvalidArgumentError: Unknown option "llm" in selfCritique(). Use model.',
    ],
    [
      'subAgents() with a list',
      () => subAgents(anything({ agents: [createAgent({ model })] })),
      'InvalidArgumentError: subAgents(): agents must be an object with at least one agent by name, such as { researcher: { agent, description } }, not a list.',
    ],
    [
      'a script that is a string',
      () => scriptedModel(anything('Hello.')),
      'InvalidArgumentError: scriptedModel() needs a list of answers, not "Hello.". Put the string in a list.',
    ],
    [
      'a scripted answer with content',
      () => scriptedModel(anything([{ content: 'Hello.' }])),
      'InvalidArgumentError: Unknown option "content" in answer 1 of scriptedModel(). Use text.',
    ],
  ])('%s', async (_mistake, call, sentence) => {
    expect(await readMessage(call)).toBe(sentence);
  });
});

describe('a mistake in a tool', () => {
  test.each<Mistake>([
    [
      'no run',
      () => defineTool(anything({ ...tool, run: undefined })),
      'InvalidToolError: Tool "mail": run must be a function, not undefined. For a tool that runs outside, such as in a browser, use defineClientTool().',
    ],
    [
      'execute',
      () => defineTool(anything({ ...tool, run: undefined, execute: tool.run })),
      'InvalidToolError: Tool "mail": Unknown option "execute" in defineTool(). Use run.',
    ],
    [
      'inputSchema',
      () => defineTool(anything({ ...tool, input: undefined, inputSchema: input })),
      'InvalidToolError: Tool "mail": Unknown option "inputSchema" in defineTool(). Use input.',
    ],
    [
      'no name',
      () => defineTool(anything({ ...tool, name: undefined })),
      'InvalidToolError: Unnamed tool: its name must be a string, not undefined.',
    ],
    [
      'a name with a space',
      () => defineTool({ ...tool, name: 'send mail' }),
      'InvalidToolError: Tool "send mail": its name must have 1 to 64 letters (a-z), digits, "_" or "-". Providers reject other names.',
    ],
    [
      'an empty description',
      () => defineTool({ ...tool, description: '' }),
      'InvalidToolError: Tool "mail": description must be a non-empty string, not "". Say what the tool does, and when to use it: that is all the model knows of it.',
    ],
    [
      'an input that is not a schema',
      () => defineTool(anything({ ...tool, input: 'to: string' })),
      'InvalidToolError: Tool "mail": its input must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not "to: string".',
    ],
    [
      'an input that is a list',
      () => defineTool(anything({ ...tool, input: { type: 'array' } })),
      'InvalidToolError: Tool "mail": its input schema must describe an object, not "array". Models call tools with an object of arguments.',
    ],
    [
      'a bag of zod types as input',
      () => defineTool(anything({ ...tool, input: { order: z.number() } })),
      'InvalidToolError: Tool "mail": its input is a plain object with zod schemas inside (order), which is not a schema and checks nothing. Wrap it in z.object({ … }).',
    ],
    [
      'zod types as the properties of a JSON Schema',
      () => defineTool(anything({ ...tool, input: { type: 'object', properties: { order: z.number(), lines: { items: z.string() } } } })),
      'InvalidToolError: Tool "mail": its input is a plain object with zod schemas inside (properties.order, properties.lines.items), which is not a schema and checks nothing. Wrap it in z.object({ … }).',
    ],
    [
      'a bag of valibot types',
      () => defineTool(anything({ ...tool, input: { order: v.number() } })),
      'InvalidToolError: Tool "mail": its input is a plain object with valibot schemas inside (order), which is not a schema and checks nothing. Wrap it in toStandardJsonSchema(v.object({ … })).',
    ],
    [
      'a bag of arktype types',
      () => defineTool(anything({ ...tool, input: { order: type('number') } })),
      'InvalidToolError: Tool "mail": its input is a plain object with arktype schemas inside (order), which is not a schema and checks nothing. Wrap it in type({ … }).',
    ],
    [
      'a bag of zod types for a client tool',
      () => defineClientTool(anything({ name: 'ask', description: 'Asks.', input: { order: z.number() } })),
      'InvalidToolError: Tool "ask": its input is a plain object with zod schemas inside (order), which is not a schema and checks nothing. Wrap it in z.object({ … }).',
    ],
    [
      'a bag of zod types as output',
      () => defineTool(anything({ ...tool, output: { sent: z.boolean() } })),
      'InvalidToolError: Tool "mail": its output is a plain object with zod schemas inside (sent), which is not a schema and checks nothing. Wrap it in z.object({ … }).',
    ],
    [
      'a bag of zod types in an AI SDK tool',
      () => aiSdkTools(anything({ mail: { inputSchema: { order: z.number() } } })),
      'InvalidToolError: Tool "mail": its input is a plain object with zod schemas inside (order), which is not a schema and checks nothing. Wrap it in z.object({ … }).',
    ],
    [
      'fields in place of a JSON Schema',
      () => defineTool(anything({ ...tool, input: { order: { type: 'number' }, to: { type: 'string' } } })),
      'InvalidToolError: Tool "mail": its input is an object without a keyword of JSON Schema, and checks nothing. Write { type: \'object\', properties: { order: …, to: … } } if it describes fields.',
    ],
    [
      'fields with the names of keywords in place of a JSON Schema',
      () => defineTool(anything({ ...tool, input: { title: { type: 'string' }, items: { type: 'array' } } })),
      'InvalidToolError: Tool "mail": its input is an object without a keyword about objects, and checks nothing. Write { type: \'object\', properties: { title: …, items: … } } if it describes fields.',
    ],
    [
      'fields as output in place of a JSON Schema',
      () => defineTool(anything({ ...tool, output: { sent: { type: 'boolean' } } })),
      'InvalidToolError: Tool "mail": its output is an object without a keyword of JSON Schema, and checks nothing. Write { type: \'object\', properties: { sent: … } } if it describes fields.',
    ],
    [
      'a misspelled keyword',
      () => defineTool(anything({ ...tool, input: { ...input, required: undefined, requried: ['to'] } })),
      'InvalidToolError: Tool "mail": its input schema cannot be checked: requried is not a keyword of JSON Schema: fields go under "properties", and a note of your own begins with "x-". Pass your own `validate`.',
    ],
    [
      'a client tool with run',
      () => defineClientTool(anything(tool)),
      'InvalidToolError: Tool "mail": Unknown option "run" in defineClientTool(). A client tool runs outside. Use defineTool() for a tool that runs here.',
    ],
    [
      'a plain object among the tools',
      () => createAgent(anything({ model, tools: [tool] })),
      'InvalidToolError: Tool "mail": tools[0] is an object, not a tool. Create it with defineTool(), or convert AI SDK tools with aiSdkTools().',
    ],
    [
      'a tool under another key than its name',
      () => createAgent({ model, tools: { letter: defineTool(tool) } }),
      'InvalidToolError: Tool "mail": it stands under the key "letter". Use its name as the key, or rename the tool.',
    ],
    [
      'two tools of one name',
      () => createAgent({ model, tools: [defineTool(tool), defineTool(tool)] }),
      'InvalidToolError: Tool "mail": two tools have this name. Rename one of them.',
    ],
    [
      'an AI SDK tool that is a function',
      () => aiSdkTools(anything({ mail: () => 'sent' })),
      'InvalidToolError: Tool "mail": it is a function, not a tool of the AI SDK. Create it with tool() from "ai".',
    ],
  ])('%s', async (_mistake, call, sentence) => {
    expect(await readMessage(call)).toBe(sentence);
  });
});

describe('a mistake in a chat or a collaboration', () => {
  const writer = scriptedCollaborator({ name: 'writer', says: ['Done.'] });
  test.each<Mistake>([
    [
      'no participants',
      () => createChat(anything({})),
      'InvalidArgumentError: createChat() needs participants: a list of at least one, not undefined.',
    ],
    [
      'agents',
      () => createChat(anything({ agents: [] })),
      'InvalidArgumentError: Unknown option "agents" in createChat(). Use participants.',
    ],
    [
      'an agent as participant',
      () => createChat(anything({ participants: [createAgent({ model })] })),
      'InvalidArgumentError: createChat(): participants[0] is not a participant. Create it with llmParticipant(), agentParticipant() or humanParticipant().',
    ],
    [
      'a participant without a model',
      () => llmParticipant(anything({ name: 'ann' })),
      'InvalidArgumentError: llmParticipant({ name: "ann" }) needs a model. Pass aiSdk(openai("gpt-5")), for example, with aiSdk from "stepline/ai-sdk" and openai from "@ai-sdk/openai".',
    ],
    [
      'two participants of one name',
      () => createChat({ participants: [writer, writer] }),
      'InvalidArgumentError: createChat(): two participants are named "writer" (upper and lower case do not count). Give each a different name.',
    ],
    [
      'a summary at the limit',
      () => createChat(anything({ participants: [writer], limits: { onLimit: 'finalize' } })),
      "InvalidArgumentError: onLimit: 'finalize' is not available for chats: no single participant can write the summary. Use 'stop' or 'pause'.",
    ],
    [
      'a misspelled condition',
      () => createCollaboration(anything({ collaborators: [writer], done: { approvedby: ['writer'] } })),
      'InvalidArgumentError: Unknown option "approvedby" in done of createCollaboration(). Did you mean "approvedBy"?',
    ],
    [
      'a condition that is a bag of zod types',
      () => createCollaboration(anything({ collaborators: [writer], done: { artifact: 'plan', schema: { title: z.string() } } })),
      'InvalidArgumentError: done.schema is a plain object with zod schemas inside (title), which is not a schema and checks nothing. Wrap it in z.object({ … }).',
    ],
    [
      'an approval of a stranger',
      () => createCollaboration({ collaborators: [writer], done: { approvedBy: ['bob'] } }),
      'InvalidArgumentError: createCollaboration(): done has "bob" in approvedBy, who is not a collaborator; the collaborators are writer.',
    ],
  ])('%s', async (_mistake, call, sentence) => {
    expect(await readMessage(call)).toBe(sentence);
  });
});

describe('a mistake in a session runtime', () => {
  const open: EmbeddedRuntime[] = [];
  afterEach(() => Promise.all(open.splice(0).map((runtime) => runtime.drain())));
  const calls = { toolCalls: [{ name: 'mail', args: { to: 'bob' }, id: 'c1' }] };
  const createClerk = () =>
    createAgent({ id: 'clerk', model: scriptedModel([calls]), tools: [defineTool({ ...tool, needsApproval: true })] });
  const start = (options: object = {}): EmbeddedRuntime => {
    const runtime: EmbeddedRuntime = createSessionRuntime(anything({ agents: [createClerk()], store: createMemoryStore(), ...options }));
    open.push(runtime);
    return runtime;
  };
  const startWaiting = async () => {
    const runtime = start();
    await runtime.create({ id: 'one' }, { by });
    await runtime.send('one', 'Send it.', { by });
    const [wait] = (await runtime.get('one')).waitingFor;
    return { runtime, wait: anything(wait) as object };
  };
  test.each<Mistake>([
    [
      'no store',
      () => start({ store: undefined }),
      'InvalidArgumentError: createSessionRuntime() needs a store, not undefined. Use createMemoryStore(), sqliteStore({ path }) from "stepline/sqlite", or postgresStore({ pool }) from "stepline/postgres".',
    ],
    [
      'a path as store',
      () => start({ store: 'sessions.db' }),
      'InvalidArgumentError: createSessionRuntime() needs a store, not "sessions.db". Use createMemoryStore(), sqliteStore({ path }) from "stepline/sqlite", or postgresStore({ pool }) from "stepline/postgres".',
    ],
    ['agent', () => start({ agent: createClerk() }), 'InvalidArgumentError: Unknown option "agent" in createSessionRuntime(). Use agents.'],
    [
      'options of an agent in place of an agent',
      () => start({ agents: [{ model }] }),
      'InvalidArgumentError: createSessionRuntime(): agents[0] must be an agent, not an object. Create it with createAgent() or AgentBuilder.',
    ],
    [
      'a store path in a missing folder',
      () => start({ store: sqliteStore('/no/such/folder/sessions.db') }).ready,
      'StoreUnavailableError: The session store cannot be used: there is no folder "/no/such/folder". Create the folder, or use another path.',
    ],
    [
      'filename',
      () => sqliteStore(anything({ filename: 'sessions.db' })),
      'InvalidArgumentError: Unknown option "filename" in sqliteStore(). Use path.',
    ],
    [
      'connectionString',
      () => postgresStore(anything({ connectionString: 'postgres://localhost' })),
      'InvalidArgumentError: Unknown option "connectionString" in postgresStore(). Use pool: new Pool({ connectionString }).',
    ],
    [
      'an encryption key',
      () => encryptStore(createMemoryStore(), anything({ key: 'secret' })),
      'InvalidArgumentError: Unknown option "key" in encryptStore(). Valid options: encrypt, decrypt, allowsPlain.',
    ],
    [
      'no author',
      () => start().create({}, anything(undefined)),
      'InvalidArgumentError: create() needs the author of the action as by: { id, kind }, not undefined. Pass { by: { id: "ann", kind: "user" } }, for example.',
    ],
    [
      'an author that is a string',
      () => start().create({}, { by: anything('ann') }),
      'InvalidArgumentError: create() needs the author of the action as by: { id, kind }, not "ann". Pass { by: { id: "ann", kind: "user" } }, for example.',
    ],
    [
      'agentId in create()',
      () => start().create(anything({ agentId: 'clerk' }), { by }),
      'InvalidArgumentError: Unknown option "agentId" in create(). Use agent.',
    ],
    [
      'an unknown agent',
      () => start().create({ agent: 'cleric' }, { by }),
      'UnknownAgentError: This runtime has no agent "cleric"; it has clerk. Nothing was changed. Add the agent to agents, or check the id.',
    ],
    [
      'an unknown session',
      () => start().send('two', 'Hi.', { by }),
      'UnknownSessionError: There is no session "two" in this store. Check the id, or create the session with create().',
    ],
    [
      'an empty message',
      async () => (await startWaiting()).runtime.send('one', '', { by }),
      'InvalidArgumentError: The content of send() is empty. Send at least one character or part.',
    ],
    [
      'a session that exists',
      async () => (await startWaiting()).runtime.create({ id: 'one' }, { by }),
      'SessionConflictError: Session "one" already exists. Nothing was written. Use another id, or the existing session.',
    ],
    [
      'an id in place of the wait',
      async () => (await startWaiting()).runtime.approve('one', anything('c1'), { by }),
      'InvalidArgumentError: Expected a wait from session.waitingFor, not "c1". Pass the wait itself: it has an id and a digest.',
    ],
    [
      'a wait without its digest',
      async () => (await startWaiting()).runtime.approve('one', anything({ id: 'c1' }), { by }),
      'InvalidArgumentError: approve() needs the digest of "c1". Pass the wait from session.waitingFor unchanged.',
    ],
    [
      'a wrong digest',
      async () => {
        const { runtime, wait } = await startWaiting();
        return runtime.approve('one', anything({ ...wait, digest: 'abc' }), { by });
      },
      'ForgedApprovalError: The digest for "c1" does not match any arguments that this session asked about. Nothing was run. Pass the wait from session.waitingFor unchanged.',
    ],
    [
      'an answer to an unknown wait',
      async () => (await startWaiting()).runtime.reject('one', { id: 'c9' }, { by }),
      'NotWaitingError: No wait has the id "c9". Answer one of c1.',
    ],
    [
      'a misspelled filter',
      () => start().list(anything({ tenantId: 'acme' })),
      'InvalidArgumentError: Unknown option "tenantId" in list(). Use tenant.',
    ],
    [
      'a made-up cursor',
      () => start().list({ cursor: 'page-2' }),
      'InvalidArgumentError: Unknown cursor "page-2". Pass the cursor of the page before, unchanged.',
    ],
    [
      'a number for events()',
      async () => start().events('one', anything(5)),
      'InvalidArgumentError: The options of events() must be an object, not 5. Use { fromSeq: 5 }.',
    ],
    [
      'deleteAll() without a filter',
      () => start().deleteAll({}, { by }),
      'InvalidArgumentError: deleteAll() needs a filter, so that it does not act on all sessions. Pass at least one of tenant, agentName, owner, status, stopReason, tag, updatedBefore.',
    ],
    [
      'a reason for hold() in the wrong place',
      () => start().hold(anything('maintenance'), 'maintenance'),
      'InvalidArgumentError: hold() needs an object as its first argument, not "maintenance". Pass { tenant } or { agent }, or {} to hold every session.',
    ],
    [
      'a misspelled fork option',
      async () => (await startWaiting()).runtime.fork('one', { execution: 1, step: 1 }, anything({ by, tag: 'x' })),
      'InvalidArgumentError: Unknown option "tag" in fork(). Did you mean "tags"?',
    ],
    [
      'a fork at a step that is not there',
      async () => (await startWaiting()).runtime.fork('one', { execution: 1, step: 9 }, { by }),
      'UnknownStepError: Session "one" has no recorded step 9 in execution 1. Choose a step from session.state.session.executions.',
    ],
    [
      'a closed runtime',
      async () => {
        const runtime = start();
        await runtime.drain();
        return runtime.create({}, { by });
      },
      'RuntimeClosedError: The session runtime did not accept the action: it was drained. Nothing was stored. Repeat the action on the runtime that owns the store now.',
    ],
  ])('%s', async (_mistake, call, sentence) => {
    expect(await readMessage(call)).toBe(sentence);
  });
});
