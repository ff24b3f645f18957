import { expect, test } from 'vitest';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { newProcess } from './stage.ts';

const by = { id: 'ann', kind: 'user' };

test('a session runs, waits, is approved and goes on in another runtime', async () => {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const done: string[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { amount: { type: 'number' } } } as const,
    needsApproval: true,
    run: ({ amount }) => (done.push(`paid ${String(amount)}`), 'paid'),
  });
  const agent = () =>
    createAgent({
      id: 'desk',
      model: scriptedModel([
        { toolCalls: [{ name: 'pay', args: { amount: 5 } }] },
        { text: 'Done.' },
        { text: 'Yes?' },
        { text: 'Always.' },
      ]),
      tools: [pay],
      ports: { clock, ids },
    });
  const one = agent();
  const store = createMemoryStore();
  const problems: unknown[] = [];
  const first = createSessionRuntime({ ...newProcess, agents: [one], store, clock, ids, onProblem: (problem) => problems.push(problem) });
  const session = await first.create({ tenant: 't', tags: ['a'] }, { by });
  const turn = await first.send(session.id, 'Pay 5.', { by, requestId: 'r1' });
  expect(turn.status).toBe('waiting');
  const again = await first.send(session.id, 'Pay 5.', { by, requestId: 'r1' });
  expect(again).toMatchObject({ isRepeated: true, status: 'waiting', execution: 1 });
  const second = createSessionRuntime({ ...newProcess, agents: [one], store, clock, ids });
  const [wait] = (await second.get(session.id)).waitingFor;
  if (wait === undefined) throw new Error('nothing waits');
  const end = await second.approve(session.id, wait, { by });
  expect(end).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(done).toStrictEqual(['paid 5']);
  const types = [];
  for await (const event of second.events(session.id)) types.push(`${event.seq} ${event.type}`);
  expect(types).toMatchInlineSnapshot(`
    [
      "1 UserMessageReceived",
      "2 AgentExecutionStarted",
      "3 AgentStepStarted",
      "4 InferenceStarted",
      "5 ToolApprovalRequested",
      "6 AgentStateUpdated",
      "7 AgentFinished",
      "8 WaitResolved",
      "9 AgentExecutionStarted",
      "10 ToolCallStarted",
      "11 ToolCallCompleted",
      "12 ContinuationEvaluated",
      "13 AgentStateUpdated",
      "14 AgentStepCompleted",
      "15 TokenUsageReported",
      "16 AgentStepStarted",
      "17 InferenceStarted",
      "18 ContinuationEvaluated",
      "19 AgentStateUpdated",
      "20 AgentStepCompleted",
      "21 TokenUsageReported",
      "22 AgentFinished",
    ]
  `);
  const next = await second.send(session.id, 'Thanks.', { by });
  expect(next).toMatchObject({ status: 'completed', text: 'Yes?', execution: 2 });
  const listed = await second.list({ tenant: 't', tag: 'a' });
  expect(listed).toMatchInlineSnapshot(`
    {
      "sessions": [
        {
          "agent": {
            "fingerprint": "d630933acbde37ef",
            "id": "desk",
          },
          "createdAt": 1767225600000,
          "executions": 2,
          "id": "id-1",
          "lastSeq": 31,
          "status": "completed",
          "stepCount": 3,
          "stopReason": "completed",
          "tags": [
            "a",
          ],
          "tenant": "t",
          "updatedAt": 1767225600000,
          "waitingFor": [],
        },
      ],
    }
  `);
  // Both are workers of the store.
  expect(await first.send(session.id, 'Still there?', { by })).toMatchObject({ status: 'completed', text: 'Always.', execution: 3 });
  expect(problems).toStrictEqual([]);
});
