// Slim payloads of a state in which a sub-agent waits for somebody.
import { expect, test } from 'vitest';
import { AgentState, createAgent, SlimAgentStateSerializer, SlimSerializationConfig } from '../agent/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import { subAgents } from './index.ts';

function createSetting(callId = 'call-1') {
  const ports = { clock: createFakeClock(), ids: createCountingIds() };
  const ran: string[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: {} } as const,
    needsApproval: true,
    run: () => {
      ran.push('pay');
      return 'paid';
    },
  });
  const helper = createAgent({
    id: 'helper',
    model: scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]),
    tools: [pay],
    ports,
  });
  const top = createAgent({
    id: 'top',
    model: scriptedModel([
      { toolCalls: [{ id: callId, name: 'spawn_subagent', args: { subagent: 'helper', prompt: 'Pay.' } }] },
      { text: 'Done.' },
    ]),
    capabilities: [subAgents({ agents: { helper: { agent: helper, description: 'Helps.' } } })],
    ports,
  });
  return { top, ran, start: AgentState.empty(ports).withUserMessage('Go.', { ids: ports.ids }) };
}

test('a full payload resumes the sub-agent', async () => {
  const { top, ran, start } = createSetting();
  const waiting = await top.run(start);
  const serializer = new SlimAgentStateSerializer(SlimSerializationConfig.full());
  const payload = serializer.serialize(waiting);
  expect([payload.resumable, JSON.stringify(payload).length <= JSON.stringify(waiting).length]).toEqual([true, true]);
  const restored = serializer.deserialize(JSON.parse(JSON.stringify(payload)));
  const end = await top.run(restored.approve(restored.waitingFor[0]?.id ?? ''));
  expect([end.status, end.text, ran]).toEqual(['completed', 'Done.', ['pay']]);
});

test.each(['call-1', 'a/b'])(
  'a lossy payload does not hold the sub-agent: its wait cannot be answered, and a message closes call %s',
  async (callId) => {
    const { top, ran, start } = createSetting(callId);
    const serializer = new SlimAgentStateSerializer();
    const restored = serializer.deserialize(serializer.serialize(await top.run(start)));
    const id = restored.waitingFor[0]?.id ?? '';
    for (const answer of [() => restored.approve(id), () => restored.approve(id, { args: {} }), () => restored.reject(id)])
      expect(answer).toThrow(expect.objectContaining({ code: 'lost-in-payload', waitId: id }));
    const closed = restored.withUserMessage('Never mind.');
    // Nobody knows what it did until then.
    expect(closed.data.past.last?.results.last?.step.executions[0]?.status).toBe('unknown');
    const end = await top.run(closed);
    expect([end.status, end.text, ran]).toEqual(['completed', 'Done.', []]);
  },
);
