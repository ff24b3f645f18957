// Criteria with the same name keep their numbers in a stored session, from one runtime to the next.
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { AgentState } from '../../src/entry/index.ts';
import { createAgent, defineTool, StepsLimit } from '../../src/entry/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { newProcess } from './stage.ts';

const by = { id: 'ann', kind: 'user' };

test('a session that waits for a grant goes on in another runtime, and the numbered limit ends it', async () => {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const database = new DatabaseSync(':memory:');
  const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object' }, run: () => 'seen' });
  const limit = (steps: number) => new StepsLimit<AgentState>(steps, ({ stepCount }) => stepCount);
  const open = () => {
    const agent = createAgent({
      id: 'desk',
      model: scriptedModel([{ toolCalls: [{ name: 'look' }] }], { repeatLast: true, ids }),
      tools: [look],
      limits: { steps: 2, onLimit: 'pause' },
      criteria: [limit(4), limit(9)],
      ports: { clock, ids },
    });
    return createSessionRuntime({ ...newProcess, agents: [agent], store: sqliteStore({ database }), clock, ids });
  };
  const first = open();
  const { id } = await first.create({}, { by });
  expect(await first.send(id, 'Look.', { by })).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'grant', limit: 'steps' }] });
  await first.drain();
  const end = await open().grant(id, { steps: 5 }, { by });
  expect(end).toMatchObject({ status: 'stopped', stopReason: 'steps_limit' });
  expect(end.explain()).toContain('Decided by StepsLimit#2.');
  for (const { outcome } of end.state.stepResults)
    expect(outcome.evaluations.flatMap(({ criterion, limit: kind }) => (kind === 'steps' ? [criterion] : []))).toStrictEqual([
      'StepsLimit',
      'StepsLimit#2',
      'StepsLimit#3',
    ]);
});
