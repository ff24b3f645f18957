import { describe, expect, it } from 'vitest';
import { AgentEventEnvelopeAdapter } from '../../src/broadcasting/index.ts';
import type { CanBroadcastAgentEvents } from '../../src/broadcasting/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import type { BaseEvent } from '../../src/entry/index.ts';
import { createAgent, createRedactor, defineTool } from '../../src/entry/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { createKeepingTransport, expectChain } from '../support/envelopes.ts';

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  input: { type: 'object', properties: { query: { type: 'string' } } },
  run: (_args, { report }) => {
    report({ done: 1 });
    return { rows: 2 };
  },
});

const script = () => scriptedModel([{ toolCalls: [{ name: 'search', args: { query: 'rain' } }] }, { chunks: ['It ', 'rains.'] }]);
const createRainAgent = () => createAgent({ id: 'weather', model: script(), tools: [search] });

describe('an adapter on an agent', () => {
  it('sends each event of a run at once with its number, by a method that needs no receiver', async () => {
    const transport = createKeepingTransport();
    const adapter: CanBroadcastAgentEvents = new AgentEventEnvelopeAdapter(transport);
    const agent = createRainAgent();
    const { broadcast } = adapter;
    agent.wiretap(broadcast);
    const { state } = await agent.start('Does it rain?').result;
    expect(transport.events().map(({ event }) => event)).toStrictEqual([
      'agent.status',
      'agent.step.started',
      'agent.tool.started',
      'agent.tool.progress',
      'agent.tool.completed',
      'agent.step.completed',
      'agent.step.started',
      'agent.stream.chunk',
      'agent.stream.chunk',
      'agent.message',
      'agent.step.completed',
      'agent.status',
    ]);
    expect(transport.events().some(({ provisional }) => provisional === true)).toBe(false);
    expectChain(transport.events());
    expect(new Set(transport.events().map(({ session_id }) => session_id))).toStrictEqual(new Set([state.id]));
    expect(new Set(transport.sent.map(({ channel }) => channel))).toStrictEqual(new Set([`agent.${state.id}`]));
    expect(transport.events()[1]?.data).toMatchObject({ tools: ['search'] });
    expect(
      transport
        .events()
        .filter(({ event }) => event === 'agent.stream.chunk')
        .map(({ data }) => data),
    ).toStrictEqual([
      { text: 'It ', step_number: 2, attempt: 1, answer: 1, offset: 0 },
      { text: 'rains.', step_number: 2, attempt: 1, answer: 1, offset: 3 },
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no broker');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no broker'))],
  ])('changes nothing about a run if the transport %s: that is reported', async (_, send) => {
    const problems: unknown[] = [];
    const adapter = new AgentEventEnvelopeAdapter({ send }, { onProblem: (error, where) => problems.push([String(error), where]) });
    const agent = createRainAgent();
    agent.wiretap(adapter.broadcast);
    const result = await agent.start('Does it rain?').result;
    expect(result.text).toBe('It rains.');
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(problems.length).toBeGreaterThan(5);
    expect(problems[0]).toStrictEqual(['Error: no broker', 'the transport of envelopes']);
  });

  it('never waits for a transport', async () => {
    const adapter = new AgentEventEnvelopeAdapter({ send: () => new Promise(() => undefined) });
    const agent = createRainAgent();
    agent.wiretap(adapter.broadcast);
    expect((await agent.start('Does it rain?').result).text).toBe('It rains.');
  });

  it('builds nothing while nobody listens; the next envelope then does not say which one came before', async () => {
    const seen: string[] = [];
    const redactor = {
      ...createRedactor(),
      text: (text: string) => {
        seen.push(text);
        return text;
      },
    };
    let isListening = false;
    const transport = createKeepingTransport({ isListening: () => isListening });
    const adapter = new AgentEventEnvelopeAdapter(transport, { redactor, clock: createFakeClock() });
    const agent = createRainAgent();
    const events: BaseEvent[] = [];
    agent.wiretap((event) => {
      events.push(event);
      isListening = event.type === 'AgentFinished';
      adapter.broadcast(event);
    });
    await agent.start('Does it rain?').result;
    expect(transport.events()).toMatchObject([{ event: 'agent.status', seq: events.at(-1)?.seq }]);
    expect(transport.events()[0]).not.toHaveProperty('prev_seq');
    expect(seen.every((text) => !text.includes('rains'))).toBe(true);
  });

  it('sends a batch with one call for each channel', async () => {
    const transport = createKeepingTransport();
    const adapter = new AgentEventEnvelopeAdapter(transport, { channel: (id) => `private-${id}` });
    const events: BaseEvent[] = [];
    const agent = createRainAgent();
    agent.wiretap((event) => events.push(event));
    const one = await agent.start('Does it rain?').result;
    const other = createRainAgent();
    other.wiretap((event) => events.push(event));
    const two = await other.start('Does it rain?').result;
    adapter.broadcastBatch(events);
    const batches = transport.sent.filter(({ envelopes }) => envelopes[0]?.event !== 'agent.head');
    expect(batches.map(({ channel }) => channel)).toStrictEqual([`private-${one.state.id}`, `private-${two.state.id}`]);
    for (const { envelopes } of batches) expectChain(envelopes as never);
  });

  it('tells sub-agents apart by their ids, under the session of the outermost run', async () => {
    const transport = createKeepingTransport();
    const helper = createAgent({ id: 'helper', model: scriptedModel(['Found it.']) });
    const model = scriptedModel([{ toolCalls: [{ name: 'spawn_subagent', args: { subagent: 'helper', prompt: 'Find it.' } }] }, 'Done.']);
    const agent = createAgent({
      id: 'lead',
      model,
      capabilities: [subAgents({ agents: { helper: { agent: helper, description: 'Finds.' } } })],
    });
    agent.wiretap(new AgentEventEnvelopeAdapter(transport).broadcast);
    const { state } = await agent.start('Find it.').result;
    const inner = transport.events().filter(({ parent_agent_id }) => parent_agent_id !== undefined);
    expect(inner.length).toBeGreaterThan(3);
    for (const { agent_id, parent_agent_id, session_id } of inner) {
      expect(parent_agent_id).toBe(state.agentId);
      expect(agent_id).not.toBe(state.agentId);
      expect(session_id).toBe(state.id);
    }
    expectChain(transport.events());
  });

  it('takes the text of a model that failed back, and counts the next answer from its start', async () => {
    const transport = createKeepingTransport();
    const broken = scriptedModel([{ chunks: ['Half an'], error: new Error('503 no capacity') }], { modelId: 'one' });
    const agent = createAgent({ model: broken, fallback: [scriptedModel([{ chunks: ['Whole.'] }], { modelId: 'two' })] });
    agent.wiretap(new AgentEventEnvelopeAdapter(transport).broadcast);
    await agent.start('Answer.').result;
    const stream = transport.events().filter(({ event }) => /stream|fallback/.test(event));
    expect(stream.map(({ event, data, seq }) => [event, data, typeof seq])).toMatchObject([
      ['agent.stream.chunk', { text: 'Half an', answer: 1, offset: 0 }, 'undefined'],
      ['agent.model_fallback', { from: 'scripted/one', to: 'scripted/two' }, 'number'],
      ['agent.stream.void', { scope: 'text', attempt: 1, answer: 1 }, 'number'],
      ['agent.stream.chunk', { text: 'Whole.', answer: 2, offset: 0 }, 'undefined'],
    ]);
  });

  it('sends no arguments of a call as the text of a message', async () => {
    const transport = createKeepingTransport();
    const leaking = scriptedModel([{ text: '{"query":"rain"}', toolCalls: [{ name: 'search', args: { query: 'rain' } }] }, 'It rains.']);
    const agent = createAgent({ model: leaking, tools: [search] });
    agent.wiretap(new AgentEventEnvelopeAdapter(transport).broadcast);
    await agent.start('Does it rain?').result;
    const texts = transport
      .events()
      .flatMap(({ event, data }) => (event === 'agent.message' || event === 'agent.stream.chunk' ? [data['text']] : []));
    expect(new Set(texts)).toStrictEqual(new Set(['It rains.']));
  });

  it('refuses options that it does not know', () => {
    expect(() => new AgentEventEnvelopeAdapter({ send: () => undefined }, { chanel: () => '' } as never)).toThrow(
      'Did you mean "channel"?',
    );
  });
});

describe('heads', () => {
  const runWith = async (isListening: (() => boolean) | undefined) => {
    const clock = createFakeClock();
    const transport = createKeepingTransport(isListening === undefined ? {} : { isListening });
    const adapter = new AgentEventEnvelopeAdapter(transport, { clock });
    const agent = createRainAgent();
    agent.wiretap(adapter.broadcast);
    await agent.start('Does it rain?').result;
    const heads = (): readonly unknown[] => transport.all().flatMap(({ event, data }) => (event === 'agent.head' ? [data['seq']] : []));
    const newest = Math.max(...transport.events().map(({ seq = 0 }) => seq));
    return { clock, adapter, heads, newest };
  };

  it('come when a run has ended, and every 15 s while anybody listens', async () => {
    let isListening = true;
    const { clock, heads, newest } = await runWith(() => isListening);
    expect(heads()).toStrictEqual([newest]);
    await clock.advance(45_000);
    expect(heads()).toStrictEqual([newest, newest, newest, newest]);
    isListening = false;
    await clock.advance(60_000);
    expect(heads()).toHaveLength(4);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('come once more after the end if nobody can say who listens', async () => {
    const { clock, heads, newest } = await runWith(undefined);
    await clock.advance(60_000);
    expect(heads()).toStrictEqual([newest, newest]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('presence lookup failed');
      },
    ],
    ['rejects', () => Promise.reject(new Error('presence lookup failed'))],
  ])('and events are sent if isListening %s: that is reported', async (_, fail) => {
    const clock = createFakeClock();
    const problems: string[] = [];
    let hasFailed = false;
    // Holds for the test: a transport in JavaScript may return anything.
    const isListening = (() => (hasFailed ? fail() : true)) as () => boolean;
    const transport = createKeepingTransport({ isListening });
    const adapter = new AgentEventEnvelopeAdapter(transport, { clock, onProblem: (error) => problems.push(String(error)) });
    const events: BaseEvent[] = [];
    const agent = createRainAgent();
    agent.wiretap((event) => events.push(event));
    await agent.start('Does it rain?').result;
    for (const event of events.slice(0, -1)) adapter.broadcast(event);
    hasFailed = true;
    const before = transport.all().length;
    await clock.advance(30_000);
    const heads = transport.all().slice(before);
    expect(heads.map(({ event }) => event)).toStrictEqual(['agent.head', 'agent.head']);
    for (const event of events.slice(-1)) adapter.broadcast(event);
    expect(transport.events().at(-1)).toMatchObject({ event: 'agent.status', seq: events.at(-1)?.seq });
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(problems.length).toBeGreaterThan(2);
    expect(new Set(problems)).toStrictEqual(new Set(['Error: presence lookup failed']));
    adapter.close();
  });

  it('end when the adapter is closed', async () => {
    const { clock, adapter, heads } = await runWith(() => true);
    adapter.close();
    await clock.advance(60_000);
    expect(heads()).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });
});
