// What a model is sent, request after request of one conversation.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Part } from '../../messages/index.ts';
import { Message, Messages } from '../../messages/index.ts';
import type { Model, ModelNotice, ModelRequest } from '../index.ts';
import { askAbout, Conversation } from '../index.ts';
import { aiSdk } from './index.ts';
import type { PromptMessage, PromptPart } from './prompt.ts';

interface Sent {
  readonly prompt: PromptMessage[];
  readonly tools?: Record<string, unknown>[];
  readonly providerOptions?: Record<string, Record<string, unknown>>;
  readonly headers?: Record<string, string>;
  readonly responseFormat?: { readonly schema: Record<string, unknown> };
}

interface Asked {
  readonly model: Model;
  /** Sends a request. Returns the options of the model call, and the warnings. */
  readonly send: (
    messages: readonly Message[],
    request?: Partial<ModelRequest>,
  ) => Promise<Sent & { readonly warnings: readonly string[] }>;
}

interface Fake {
  readonly provider?: string;
  readonly version?: 'v3' | 'v4';
  /** After a call a conversation goes on; after text it may be over. @default 'text' */
  readonly answersWith?: 'text' | 'call';
  /** Called with what was sent, by the model. */
  readonly onCall?: (sent: Sent) => void;
}

const text = { type: 'text', text: 'Yes.' };
const call = { type: 'tool-call', toolCallId: 'next', toolName: 'look', input: '{}' };

function openModel({ provider = 'fake', version = 'v4', answersWith = 'text', onCall }: Fake = {}): Asked {
  const sent: Sent[] = [];
  const fake = {
    specificationVersion: version,
    provider,
    modelId: 'fake-1',
    doGenerate: async (options: Sent) => {
      sent.push(options);
      onCall?.(options);
      return {
        content: [answersWith === 'text' ? text : call],
        finishReason: { unified: 'stop', raw: undefined },
        usage: {},
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error('It does not stream.')),
  };
  const model = aiSdk(fake);
  return {
    model,
    send: async (messages, request = {}) => {
      const warnings: string[] = [];
      const onNotice = (notice: ModelNotice): void => {
        if (notice.type === 'warning') warnings.push(notice.message);
      };
      await model.generate({ messages, onNotice, ...request });
      const last = sent.at(-1);
      if (last === undefined) throw new Error('The model was not called.');
      return { ...last, warnings };
    },
  };
}

const createCall = (id: string, more: Partial<Extract<Part, { type: 'tool-call' }>> = {}): Message =>
  Message.assistant([{ type: 'tool-call', toolCallId: id, toolName: 'look', args: { at: id }, ...more }]);
const createResult = (id: string, toolName = 'look'): Message =>
  Message.tool({ toolCallId: id, toolName, output: { type: 'json', value: { of: id } } });
const step = (number: number): readonly Message[] => [createCall(`call-${number}`), createResult(`call-${number}`)];
const getParts = ({ prompt }: Sent): readonly PromptPart[] => prompt.flatMap(({ content }) => (typeof content === 'string' ? [] : content));

describe('the prompts of a growing conversation', () => {
  it('begin with the very same converted messages: each is converted once', async () => {
    const { send } = openModel();
    const [two, three] = [[Message.user('Go.'), ...step(1), ...step(2)], step(3)];
    const first = await send([Message.system('Be brief.'), ...two]);
    const second = await send([Message.system('It is noon.'), ...two, ...three]);
    const third = await send([Message.system('It is one.'), ...two, ...three, ...step(4)]);
    // The last message of a request may still grow, so it is kept from the next request on.
    for (const index of [1, 2, 3, 4]) expect(second.prompt[index]).toBe(first.prompt[index]);
    for (const index of [1, 2, 3, 4, 5, 6]) expect(third.prompt[index]).toBe(second.prompt[index]);
    expect(second.prompt[0]).toEqual({ role: 'system', content: 'It is noon.' });
    expect(third.prompt).not.toBe(second.prompt);
  });

  it('keep what was converted if a request ends with messages that the next one has not', async () => {
    const { send } = openModel();
    const conversation = [Message.user('Go.'), ...step(1), ...step(2), ...step(3)];
    const first = await send([...conversation, Message.user('Remember the time.'), Message.user('Hurry up.')]);
    const second = await send([...conversation, ...step(4), Message.user('Remember the time.'), Message.user('Hurry up.')]);
    for (const index of [0, 1, 2, 3, 4, 5, 6]) expect(second.prompt[index]).toBe(first.prompt[index]);
  });

  it('are converted anew only once when compaction has moved its cut', async () => {
    const { send } = openModel();
    const [one, two, three, four] = [step(1), step(2), step(3), step(4)];
    await send([Message.user('Go.'), ...one, ...two]);
    const summary = Message.user('You have looked once.');
    const cut = await send([summary, ...two, ...three]);
    const next = await send([summary, ...two, ...three, ...four]);
    expect(cut.prompt).toHaveLength(5);
    for (const index of [0, 1, 2, 3]) expect(next.prompt[index]).toBe(cut.prompt[index]);
  });

  it('are kept apart for conversations that begin with the same message', async () => {
    const { send } = openModel({ answersWith: 'call' });
    const begin = Message.user('Go.');
    const [left, right] = [
      [begin, ...step(1), ...step(2)],
      [begin, ...step(8), ...step(9)],
    ];
    const before = await send(left);
    await send(right);
    const after = await send([...left, ...step(3)]);
    for (const index of [1, 2, 3]) expect(after.prompt[index]).toBe(before.prompt[index]);
  });

  it('are kept apart for many conversations that begin with the same message', async () => {
    const { send } = openModel({ answersWith: 'call' });
    const begin = Message.user('Go.');
    const conversations = Array.from({ length: 40 }, (_, index) => [begin, ...step(index), ...step(100 + index)]);
    const before: Sent[] = [];
    for (const conversation of conversations) before.push(await send(conversation));
    for (const [index, conversation] of conversations.entries()) {
      const after = await send([...conversation, ...step(200)]);
      for (const place of [0, 1, 2, 3]) expect(after.prompt[place]).toBe(before[index]?.prompt[place]);
    }
  });

  it('are not kept for more than a hundred conversations that begin with the same message', async () => {
    const { send } = openModel({ answersWith: 'call' });
    const begin = Message.user('Go.');
    const conversations = Array.from({ length: 101 }, (_, index) => [begin, ...step(index)]);
    const before: Sent[] = [];
    for (const conversation of conversations) before.push(await send(conversation));
    const isKept = async (index: number): Promise<boolean> =>
      (await send([...(conversations[index] ?? []), ...step(200)])).prompt[1] === before[index]?.prompt[1];
    expect([await isKept(1), await isKept(100), await isKept(0)]).toEqual([true, true, false]);
  });

  it('are kept for the conversation that was answered last, and dropped for others that may be over', async () => {
    const { send } = openModel();
    const [first, second] = [
      [Message.user('Go.'), ...step(1)],
      [Message.user('Go.'), ...step(2)],
    ];
    const before = { first: await send(first), second: await send(second) };
    const after = { second: await send([...second, ...step(3)]), first: await send([...first, ...step(4)]) };
    expect(after.second.prompt[1]).toBe(before.second.prompt[1]);
    expect(after.first.prompt[1]).not.toBe(before.first.prompt[1]);
    expect(after.first.prompt[1]).toEqual(before.first.prompt[1]);
  });

  it('report what was left out with every request', async () => {
    const { send } = openModel();
    const odd = Message.assistant([
      { type: 'provider', provider: 'fake', data: { type: 'brand-new' } },
      { type: 'text', text: 'Hm.' },
    ]);
    const first = await send([Message.user('Go.'), odd]);
    const second = await send([Message.user('Go.'), odd, Message.user('On.')]);
    expect(first.warnings).toHaveLength(1);
    expect(second.warnings).toEqual(first.warnings);
    expect((await send([Message.user('Go.'), odd, Message.user('On.'), ...step(1)])).warnings).toEqual(first.warnings);
  });

  it('have words in the place of an attachment that no model can read, and say so', async () => {
    const { send } = openModel();
    const broken = Message.user([{ type: 'image', url: 'no address' }]);
    const { prompt, warnings } = await send([Message.user('Go.'), ...step(1), broken, ...step(2)]);
    const text = '[attachment image left out: its url is not a URL]';
    expect(prompt).toContainEqual({ role: 'user', content: [{ type: 'text', text }] });
    expect(warnings).toEqual([expect.stringContaining(text)]);
  });

  it('give a result what the nearest earlier call of its id was given', async () => {
    const { send } = openModel();
    const createSignedCall = (signature: string): Message => createCall('same', { providerMetadata: { fake: { signature } } });
    const conversation = [
      Message.user('Go.'),
      createSignedCall('a'),
      createResult('same'),
      createSignedCall('b'),
      createResult('same'),
      createSignedCall('c'),
    ];
    const options = getParts(await send(conversation)).flatMap(({ type, providerOptions }) =>
      type === 'tool-result' ? [providerOptions] : [],
    );
    expect(options).toEqual([{ fake: { signature: 'a' } }, { fake: { signature: 'b' } }]);
  });
});

describe('a model that changes what it was sent', () => {
  const address = 'https://x.org/a.png';
  const conversation = [
    Message.user(
      [
        { type: 'image', url: address },
        { type: 'text', text: 'Look.' },
      ],
      { providerOptions: { fake: { cache: { on: true } } } },
    ),
    ...step(1),
    Message.assistant([{ type: 'text', text: 'So.', providerMetadata: { fake: { id: 'x' } } }]),
    Message.user('And?'),
  ];
  const tools = [
    Object.freeze({ name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: { at: { type: 'string' } } } }),
  ];
  const settings = { providerOptions: { fake: { effort: 'low' } }, headers: { a: 'b' } };
  const output = { schema: { type: 'object', properties: {} } };

  // In the way of code that checks nothing: a frozen object throws, a changed copy is the model's own.
  function spoil(value: unknown): void {
    if (value instanceof URL) value.href = 'https://evil.org/';
    if (typeof value !== 'object' || value === null || value instanceof URL || value instanceof AbortSignal) return;
    for (const key of Reflect.ownKeys(value)) {
      spoil(Reflect.get(value, key));
      if (typeof Reflect.get(value, key) === 'string') Reflect.set(value, key, 'spoilt');
    }
    Reflect.set(value, 'more', 'spoilt');
    if (Array.isArray(value) && !Object.isFrozen(value)) value.length = 0;
  }

  it.each([
    ['v3', 'text'],
    ['v4', 'text'],
    ['v4', 'call'],
  ] as const)('does not change the next request (%s, answers with %s)', async (version, answersWith) => {
    const request = { tools, settings, output };
    const show = (sent: Sent): string => JSON.stringify(sent);
    const clean = show(await openModel({ version, answersWith }).send(conversation, request));
    const { send } = openModel({
      version,
      answersWith,
      onCall: (sent) => {
        seen.push(show(sent));
        spoil(sent);
      },
    });
    const seen: string[] = [];
    await send(conversation, request);
    await send(conversation, request);
    await send([...conversation, Message.user('More.')], request);
    await send(conversation, request);
    expect(seen[0]).toContain(address);
    expect(seen[1]).toBe(seen[0]);
    expect(seen[3]).toBe(seen[0]);
    expect(clean).toContain(address);
    // What is sent is a copy: nothing of the host's own is frozen for it.
    expect(Object.isFrozen(tools[0]?.inputSchema)).toBe(false);
  });

  it('may change its instructions, the last message and the list itself', async () => {
    const { send } = openModel({
      onCall: ({ prompt }) => {
        Object.assign(prompt[0] ?? {}, { content: 'Changed.' });
        Object.assign(prompt.at(-1) ?? {}, { providerOptions: { fake: { cache: true } } });
        prompt.push({ role: 'user', content: [] });
      },
    });
    const { prompt } = await send([Message.system('Be brief.'), ...conversation]);
    expect(prompt[0]?.content).toBe('Changed.');
    expect(prompt.at(-2)?.providerOptions).toEqual({ fake: { cache: true } });
    expect((await send([Message.system('Be brief.'), ...conversation])).prompt).toHaveLength(prompt.length);
  });
});

it('a model may change the last message of a request that is shorter than the one before', async () => {
  const { send } = openModel({
    onCall: ({ prompt }) => void Object.assign(prompt.at(-1) ?? {}, { providerOptions: { fake: { cache: prompt.length } } }),
  });
  const conversation = [Message.user('Go.'), ...step(1), ...step(2), Message.user('And?')];
  await send(conversation);
  for (const length of [5, 4, 3, 1]) {
    const { prompt } = await send(conversation.slice(0, length));
    expect(prompt.map(({ providerOptions }) => providerOptions)).toEqual([
      ...Array.from({ length: length - 1 }, () => undefined),
      { fake: { cache: length } },
    ]);
  }
});

const anyId = fc.constantFrom('a', 'b', 'call_1', 'functions.look:0', 'functions.look:1', 'x~2', 'é', '');
const anyName = fc.constantFrom('look', 'my tool', '', 'functions.echo', 'n'.repeat(80));
const anyFile = fc.constantFrom<Part>(
  { type: 'image', url: 'https://x.org/a.png' },
  { type: 'image', data: 'aGk=', mediaType: 'image/png' },
  { type: 'file', id: 'file-1', mediaType: 'application/pdf' },
);
// A user has none: it is left out, with a warning.
const anyReasoning = fc.constantFrom('Hm.', 'Well.').map((text): Part => ({ type: 'reasoning', text }));
const anyText = fc.constantFrom('', 'Hello.', 'Well?').map((text): Part => ({ type: 'text', text }));
const anyCall = fc
  .record({ toolCallId: anyId, toolName: anyName, isProviders: fc.boolean(), signature: fc.option(fc.constantFrom('s', 't')) })
  .map(({ toolCallId, toolName, isProviders, signature }): Part => ({
    ...({ type: 'tool-call', toolCallId, toolName, args: { x: 1 } } as const),
    ...(isProviders && { providerExecuted: true }),
    ...(signature !== null && { providerMetadata: { fake: { signature } } }),
  }));
const anyResult = fc
  .record({ toolCallId: anyId, toolName: anyName, file: fc.option(fc.constant({ type: 'image', data: 'aGk=' } as const)) })
  .map(({ toolCallId, toolName, file }) =>
    Message.tool({ toolCallId, toolName, output: file === null ? { type: 'text', value: 'x' } : { type: 'content', parts: [file] } }),
  );
const anyMessage = fc.oneof(
  { weight: 2, arbitrary: fc.array(fc.oneof(anyText, anyFile, anyReasoning), { maxLength: 2 }).map((parts) => Message.user(parts)) },
  { weight: 3, arbitrary: fc.array(fc.oneof(anyText, anyCall), { maxLength: 3 }).map((parts) => Message.assistant(parts)) },
  { weight: 3, arbitrary: anyResult },
  { weight: 1, arbitrary: fc.constantFrom('Be brief.', 'Be kind.').map((text) => Message.system(text)) },
);
const anyChange = fc.oneof(
  { weight: 6, arbitrary: fc.array(anyMessage, { minLength: 1, maxLength: 4 }).map((added) => ({ type: 'append', added }) as const) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('compact' as const), dropped: fc.nat(6), summary: anyMessage }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('go-back' as const), dropped: fc.nat(6) }) },
);
const anyReader = fc.record({
  answersWith: fc.constantFrom('text', 'call'),
  provider: fc.constantFrom('openai.responses', 'openai.chat', 'anthropic.messages', 'google.generative-ai', 'mistral.chat', 'fake'),
  version: fc.constantFrom('v3', 'v4'),
});

type Change = typeof anyChange extends fc.Arbitrary<infer Value> ? Value : never;

function apply(conversation: readonly Message[], change: Change): readonly Message[] {
  if (change.type === 'append') return [...conversation, ...change.added];
  if (change.type === 'compact') return [change.summary, ...conversation.slice(change.dropped)];
  return conversation.slice(0, Math.max(0, conversation.length - change.dropped));
}

const isCallPart = ({ type }: PromptPart): boolean => type === 'tool-call' || type === 'tool-result';

describe('whatever the conversation', () => {
  it('is the same prompt, with the same warnings, whether it was converted step by step or in one go', async () => {
    await fc.assert(
      fc.asyncProperty(anyReader, fc.array(anyChange, { maxLength: 8 }), async (reader, changes) => {
        const { send } = openModel(reader);
        let conversation: readonly Message[] = [];
        for (const [index, change] of changes.entries()) {
          conversation = apply(conversation, change);
          const messages = [Message.system(`Request ${index}.`), ...conversation];
          const { prompt, warnings } = await send(messages);
          const fresh = await openModel(reader).send(messages);
          expect(prompt).toEqual(fresh.prompt);
          expect(warnings).toEqual(fresh.warnings);
        }
      }),
    );
  });

  it('is the same prompt if branches of it are continued in turn', async () => {
    const anyBranches = fc.array(fc.record({ branch: fc.nat(3), change: anyChange }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(anyReader, fc.array(anyMessage, { maxLength: 4 }), anyBranches, async (reader, begin, turns) => {
        const { send } = openModel(reader);
        const branches = Array.from({ length: 4 }, (): readonly Message[] => begin);
        for (const { branch, change } of turns) {
          const messages = apply(branches[branch] ?? [], change);
          branches[branch] = messages;
          const { prompt, warnings } = await send(messages);
          const fresh = await openModel(reader).send(messages);
          expect(prompt).toEqual(fresh.prompt);
          expect(warnings).toEqual(fresh.warnings);
        }
      }),
    );
  });

  it('is the same prompt for each version of a list, its branches and what went before, whatever the instructions', async () => {
    const anyVersion = fc.record({ from: fc.nat(9), added: fc.array(anyMessage, { maxLength: 3 }), instructions: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(anyReader, fc.array(anyVersion, { maxLength: 10 }), async (reader, turns) => {
        const prompts: unknown[] = [];
        const { model } = openModel({ ...reader, onCall: ({ prompt }) => prompts.push([...prompt]) });
        const versions = [Messages.empty()];
        for (const { from, added, instructions } of turns) {
          const messages = (versions[from % versions.length] ?? Messages.empty()).concat(added);
          versions.push(messages);
          const first = Array.from({ length: instructions }, (_, index) => Message.system(`Rule ${index}.`));
          await askAbout(model, { messages: new Conversation(messages, first) }, undefined);
          const fresh = await openModel(reader).send([...first, ...messages]);
          expect(prompts.at(-1)).toEqual(fresh.prompt);
        }
      }),
    );
  });

  it('begins with the same bytes as the request before, for as long as messages are only added', async () => {
    await fc.assert(
      fc.asyncProperty(anyReader, fc.array(fc.array(anyMessage, { maxLength: 3 }), { maxLength: 6 }), async (reader, steps) => {
        const { send } = openModel(reader);
        let conversation: readonly Message[] = [Message.user('Go.')];
        let before = (await send(conversation)).prompt.map((message) => JSON.stringify(message));
        for (const added of steps) {
          // Results right after results would join them.
          conversation = [...conversation, Message.assistant('Well.'), ...added];
          const now = (await send(conversation)).prompt.map((message) => JSON.stringify(message));
          expect(now.slice(0, before.length)).toEqual(before);
          before = now;
        }
      }),
    );
  });

  it('names calls and results as the provider accepts them, alike for both, and never two ids as one', async () => {
    await fc.assert(
      fc.asyncProperty(anyReader, fc.array(fc.oneof(anyId, fc.string()), { maxLength: 12 }), async (reader, ids) => {
        const conversation = ids.flatMap((id) => [createCall(id, { toolName: id }), createResult(id, id)]);
        const parts = getParts(await openModel(reader).send([Message.user('Go.'), ...conversation])).filter(isCallPart);
        const sentIds = parts.map(({ toolCallId }) => toolCallId);
        const form = reader.provider === 'mistral.chat' ? /^[a-zA-Z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,64}$/;
        for (const [index, { toolCallId, toolName }] of parts.entries()) {
          expect(toolCallId).toMatch(form);
          expect(toolName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(toolCallId).toBe(sentIds[index - (index % 2)]);
        }
        expect(new Set(sentIds).size).toBe(new Set(ids).size);
      }),
    );
  });
});

describe('a name or an id that providers refuse', () => {
  it.each([
    ['look', 'look'],
    ['my tool', 'my_tool'],
    ['functions.echo', 'functions_echo'],
    ['', 'unnamed'],
    ['n'.repeat(80), 'n'.repeat(64)],
    ['löschen', 'l_schen'],
  ])('the name %j is sent as %j, in call and result', async (name, expected) => {
    const conversation = [Message.user('Go.'), createCall('1', { toolName: name }), createResult('1', name)];
    expect(getParts(await openModel().send(conversation)).filter(isCallPart)).toMatchObject([
      { toolName: expected },
      { toolName: expected },
    ]);
  });

  it.each([
    ['call_1', 'fake', /^call_1$/],
    ['functions.echo:0', 'fake', /^functions_echo_0_[a-z0-9]{8}$/],
    ['call_1~2', 'fake', /^call_1_2_[a-z0-9]{8}$/],
    ['x'.repeat(80), 'fake', /^x{55}_[a-z0-9]{8}$/],
    ['', 'fake', /^_[a-z0-9]{8}$/],
    ['D681PevKs', 'mistral.chat', /^D681PevKs$/],
    ['call_1', 'mistral.chat', /^[a-z0-9]{9}$/],
  ])('the id %j is sent to %s as %s, in call and result', async (id, provider, expected) => {
    const [call, result] = getParts(await openModel({ provider }).send([Message.user('Go.'), createCall(id), createResult(id)])).filter(
      isCallPart,
    );
    expect(call?.['toolCallId']).toMatch(expected);
    expect(result?.['toolCallId']).toBe(call?.['toolCallId']);
  });

  it('is not sent as an id that another call has', async () => {
    const { send } = openModel();
    const odd = [Message.user('Go.'), createCall('a.b'), createResult('a.b')];
    const [first] = getParts(await send(odd)).filter(isCallPart);
    const copied = String(first?.['toolCallId']);
    const ids = getParts(await send([...odd, createCall(copied), createResult(copied)]))
      .filter(isCallPart)
      .map(({ toolCallId }) => toolCallId);
    expect(ids[0]).toBe(copied);
    expect(ids[2]).not.toBe(copied);
    expect(ids[3]).toBe(ids[2]);
  });

  it('stays as it is in a call that the provider itself ran', async () => {
    const call: Part = { type: 'tool-call', toolCallId: 'srv.1', toolName: 'web.search', args: {}, providerExecuted: true };
    const result: Part = {
      type: 'tool-result',
      toolCallId: 'srv.1',
      toolName: 'web.search',
      output: { type: 'text', value: 'x' },
      providerExecuted: true,
    };
    const parts = getParts(await openModel().send([Message.user('Go.'), Message.assistant([call, result])])).filter(isCallPart);
    expect(parts).toMatchObject([
      { toolCallId: 'srv.1', toolName: 'web.search' },
      { toolCallId: 'srv.1', toolName: 'web.search' },
    ]);
  });
});
