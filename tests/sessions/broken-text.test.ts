// Text with broken surrogates and NUL, by every road into what is stored.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAgent, defineClientTool, defineHook, defineTool, Message, when } from '../../src/entry/index.ts';
import type { Agent } from '../../src/entry/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import type { RecordedAction, Session, EmbeddedRuntime, SessionStore, StoredEvent } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { pickRuns } from '../support/test-scale.ts';
import type { Place } from './stage.ts';
import { ann, dump, readEvents, newProcess, places, getWait } from './stage.ts';

const brokenText = fc
  .array(fc.constantFrom('a', 'é', '😀', '\0', '\uD83D', '\uDE00', '\uD800', '\uFFFD', '"', '/', '\n'), { minLength: 1, maxLength: 12 })
  .map((units) => `x${units.join('')}`);

const input = { type: 'object', properties: {}, additionalProperties: true } as const;

/** Calls the tool that the last message names; then says the text. */
function answerWith(text: string) {
  return ({ messages }: ModelRequest): ScriptedAnswer => {
    const last = messages.findLastIndex((message) => message.isUser());
    const isAnswered = messages.slice(last + 1).some((message) => message.isAssistant());
    const name = /^call (\w+)/.exec(messages[last]?.text ?? '')?.[1];
    if (name === undefined || name === 'error' || isAnswered)
      return name === 'error'
        ? { text, error: { type: 'model', code: text, message: text, retryable: false } }
        : { text, reasoning: text, finishReason: text };
    return { text, toolCalls: [{ name, id: `${text}-${messages.length}`, args: { [text]: text } }] };
  };
}

function createTalker(text: string): Agent {
  const error = (): Error => Object.assign(new Error(text), { code: text, name: text });
  const described = { description: 'A tool.', input } as const;
  return createAgent({
    id: 'talker',
    model: scriptedModel([answerWith(text)], { repeatLast: true }),
    tools: [
      defineTool({ ...described, name: 'echo', run: (args) => ({ [text]: text, list: [text], args }) }),
      defineTool({ ...described, name: 'show', run: () => text, toModelOutput: () => [{ type: 'text', text }] }),
      defineTool({
        ...described,
        name: 'fail',
        run: () => {
          throw error();
        },
      }),
      defineTool({ ...described, name: 'blocked', run: () => 'never' }),
      defineTool({ ...described, name: 'gated', needsApproval: true, run: () => text }),
      defineClientTool({ ...described, name: 'ask' }),
    ],
    criteria: [when('Reputation', () => ({ decision: 'allow', reason: text, context: { [text]: text } }))],
    hooks: [
      defineHook({
        name: 'notes',
        changes: ['metadata', 'votes', 'block', 'output'],
        beforeStep: () => ({ metadata: { [text]: text }, votes: [{ decision: 'allow', reason: text, context: { [text]: [text] } }] }),
        beforeTool: ({ call }) => (call.name === 'blocked' ? { block: text } : undefined),
        afterStep: ({ step }) => (step.toolCalls.length === 0 ? { output: `${text}!` } : undefined),
      }),
      defineHook({
        name: 'careless',
        afterTool: ({ call }) => {
          if (call.name === 'show') throw error();
        },
      }),
    ],
    ports: { clock: createFakeClock(), ids: createCountingIds(), onProblem: () => undefined },
  });
}

const start = (store: SessionStore, text: string): EmbeddedRuntime =>
  createSessionRuntime({
    ...newProcess,
    agents: [createTalker(text)],
    store,
    clock: createFakeClock(),
    ids: createCountingIds('r'),
    onProblem: () => undefined,
  });

/** Uses every method that takes text. */
async function useEveryMethod(runtime: EmbeddedRuntime, text: string): Promise<void> {
  const options = { by: { id: text, kind: text } };
  await runtime.create({ id: text, tenant: text, owner: text, tags: [text, `${text}2`] }, { ...options, requestId: text });
  const message = Message.user([{ type: 'text', text, providerMetadata: { [text]: text } }], {
    id: text,
    name: text,
    metadata: { [text]: text },
    providerOptions: { [text]: text },
  });
  await runtime.send(text, message, { ...options, requestId: `${text} send` });
  for (const tool of ['echo', 'show', 'fail', 'blocked', 'error', text]) await runtime.send(text, `call ${tool}`, options);
  await runtime.send(text, 'call gated', options);
  await runtime.approve(text, await getWait(runtime, text), { ...options, args: { [text]: text } });
  await runtime.send(text, 'call gated', options);
  await runtime.reject(text, await getWait(runtime, text), { ...options, reason: text });
  await runtime.send(text, 'call ask', options);
  await runtime.answer(text, await getWait(runtime, text), { ...options, value: { [text]: text } });
  await runtime.send(text, 'call ask', options);
  await runtime.cancel(text, text, options);
  await runtime.fork(text, { execution: 1, step: 1 }, { ...options, id: `${text} fork`, tags: [text], requestId: `${text} fork` });
  await runtime.resume(`${text} fork`, options);
}

interface Seen {
  readonly session: Session;
  readonly state: unknown;
  readonly listed: unknown;
  readonly actions: readonly RecordedAction[];
  readonly events: readonly StoredEvent[];
}

async function look(runtime: EmbeddedRuntime, id: string, text: string): Promise<Seen> {
  const session = await runtime.get(id);
  const { states } = createTalker(text);
  // Holds: it is a state of this agent.
  const state: unknown = JSON.parse(states.stringify(session.state as ReturnType<typeof states.empty>));
  const listed = await runtime.list({ tenant: text, owner: text, tag: text });
  return {
    session: { ...session, explain: () => '' },
    state,
    listed,
    actions: await runtime.actions(id),
    events: await readEvents(runtime, id),
  };
}

describe.each(places)('over %s, text with broken surrogates and NUL', (_, makePlace) => {
  async function check(place: Place, text: string): Promise<void> {
    const runtime = start(place.open(), text);
    await useEveryMethod(runtime, text);
    const ids = [text, `${text} fork`];
    const before = await Promise.all(ids.map((id) => look(runtime, id, text)));
    await runtime.drain();
    const next = start(place.open(), text);
    const after = await Promise.all(ids.map((id) => look(next, id, text)));
    expect(JSON.parse(JSON.stringify(after))).toStrictEqual(JSON.parse(JSON.stringify(before)));
    // Escapes within a text that is itself JSON begin with two backslashes.
    expect(JSON.stringify(await dump(place.open()))).not.toMatch(/\\u(?:d[89a-f][0-9a-f]{2}|0000)/);
    // A repeated request is recognized, before a restart and after it.
    const again = await next.send(text, Message.user(text), { by: ann, requestId: `${text} send` }).catch((error: unknown) => error);
    expect(again).toMatchObject({ code: 'request-reused' });
    await next.drain();
  }

  test('goes through every method and hook, and is the same after a restart', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(brokenText, (text) => check(makePlace(), text)),
      { numRuns: pickRuns({ quick: 8, slow: 200 }), examples: [['Best 😀'.slice(0, 6)], ['a\0b'], ['\uDE00\uD83D']] },
    );
  });
});

test('broken text in a state without a session is the same after it is written and read', async () => {
  const text = 'Best 😀'.slice(0, 6);
  const agent = createTalker(text);
  const { states } = agent;
  const restore = (state: ReturnType<typeof states.empty>) => states.parse(states.stringify(state));
  const begun = states.empty({ agentId: text, parentAgentId: text, metadata: { [text]: text } }).withMetadata(`${text}2`, text);
  const waiting = await agent.run(begun.withUserMessage('call gated'));
  const wait = waiting.waitingFor[0]?.id ?? '';
  const stopped = new AbortController();
  stopped.abort(text);
  const ended = [
    waiting.reject(wait, text),
    waiting.cancel(text),
    await agent.run(begun.withUserMessage(text), { signal: stopped.signal }),
  ];
  for (const state of [begun, waiting, ...ended]) {
    const written = states.stringify(state);
    expect(written).not.toMatch(/\\u(?:d[89a-f][0-9a-f]{2}|0000)/);
    expect(JSON.parse(states.stringify(restore(state)))).toStrictEqual(JSON.parse(written));
  }
});

test.each([
  ['an agent', () => createAgent({ id: 'a\0', model: scriptedModel([]) })],
  ['a hook', () => defineHook({ name: 'h\uD83D', beforeStep: () => undefined })],
  ['a criterion', () => createAgent({ model: scriptedModel([]), criteria: [when('c\uD83D', () => 'allow')] })],
])('the name of %s must be text that can be stored', (_, make) => {
  expect(make).toThrow(/NUL characters or lone surrogates|cannot be stored/);
});
