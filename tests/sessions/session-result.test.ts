// The result of an action on a session: a RunResult with the agent's typed output, and what a session adds to it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { AgentState, RunResult } from '../../src/entry/index.ts';
import { createAgent, ToolUse } from '../../src/entry/index.ts';
import { createChat, scriptedParticipant } from '../../src/chat/index.ts';
import type { SessionResult, SessionStore, SessionWait } from '../../src/sessions/index.ts';
import { createMemoryPlace, createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { ann, newProcess, obedientModel } from './stage.ts';

const by = ann;
const Day = z.object({ day: z.string().transform((text) => new Date(text)) });
const day = { day: new Date('2026-03-01') };
const createPlanner = (answer = '{"day":"2026-03-01"}') =>
  createAgent({ id: 'planner', model: scriptedModel([{ text: answer }], { repeatLast: true }), output: Day });

const reopened: readonly (readonly [string, (use: (open: () => SessionStore) => Promise<void>) => Promise<void>])[] = [
  [
    'in memory',
    async (use) => {
      const place = createMemoryPlace();
      await use(() => place.open());
    },
  ],
  [
    'on SQLite',
    async (use) => {
      const folder = mkdtempSync(join(tmpdir(), 'stepline-result-'));
      try {
        await use(() => sqliteStore({ path: join(folder, 'sessions.db') }));
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  ],
];

describe.each(reopened)('the output of an agent, %s', (_, withStore) => {
  test('is parsed in the result of a send, and again for the same request after a restart', () =>
    withStore(async (open) => {
      const first = createSessionRuntime({ ...newProcess, agents: [createPlanner()], store: open() });
      await first.create({ id: 's' }, { by });
      const sent = await first.send('s', 'When?', { by, requestId: 'one' });
      expect(sent).toMatchObject({ status: 'completed', output: day, sessionId: 's', execution: 1, waitingFor: [] });
      await first.send('s', 'And now?', { by });
      await first.drain();

      const second = createSessionRuntime({ ...newProcess, agents: [createPlanner('"never asked"')], store: open() });
      const again = await second.send('s', 'When?', { by, requestId: 'one' });
      expect(again).toMatchObject({ status: 'completed', output: day, execution: 1, isRepeated: true });
      await second.drain();
    }));
});

describe('a result of a session', () => {
  test('has the types of its agent', async () => {
    const runtime = createSessionRuntime({ agents: [createPlanner()], store: createMemoryStore() });
    const { id } = await runtime.create({}, { by });
    const result = await runtime.send(id, 'When?', { by });
    expectTypeOf(result).toEqualTypeOf<SessionResult<AgentState, { day: Date }>>();
    expectTypeOf(result.waitingFor).toEqualTypeOf<readonly SessionWait[]>();
    expectTypeOf(result.state).toEqualTypeOf<AgentState>();
    expectTypeOf<'output' extends keyof typeof result ? true : false>().toEqualTypeOf<false>();
    if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<{ day: Date }>();
    if (result.status === 'pending' || result.status === 'in_progress') return;
    const plain: RunResult<AgentState, { day: Date }> = result;
    expect(plain.status).toBe('completed');
  });

  test('has one of the outputs if there are several agents, of whatever kind', async () => {
    const counter = createAgent({
      id: 'counter',
      model: scriptedModel([{ text: '{"count":3}' }]),
      output: z.object({ count: z.number() }),
    });
    const chat = createChat({ participants: [scriptedParticipant({ name: 'a', says: ['Hello.'] })] });
    const toolUse = new ToolUse({ model: scriptedModel([{ text: 'Plain.' }]) });
    const runtime = createSessionRuntime({ agents: [createPlanner(), counter, chat, toolUse], store: createMemoryStore() });
    const outputs: unknown[] = [];
    for (const agent of ['planner', 'counter', 'chat', 'tool-use']) {
      const { id } = await runtime.create({ agent }, { by });
      const result = await runtime.send(id, 'Go.', { by });
      if (result.status !== 'completed') throw new Error(result.explain());
      expectTypeOf(result.output).toEqualTypeOf<{ day: Date } | { count: number } | undefined>();
      outputs.push([result.text, result.output]);
    }
    expect(outputs).toStrictEqual([
      ['{"day":"2026-03-01"}', day],
      ['{"count":3}', { count: 3 }],
      ['Hello.', undefined],
      ['Plain.', undefined],
    ]);
  });

  test('says that it is in progress if nobody waited for the end', async () => {
    const runtime = createSessionRuntime({ agents: [createAgent({ model: obedientModel() })], store: createMemoryStore() });
    const { id } = await runtime.create({}, { by });
    const result = await runtime.send(id, 'say Hello', { by, until: 'accepted' });
    expect([result.status, result.stopReason, result.text]).toStrictEqual(['in_progress', undefined, '']);
    expect(result.explain()).toContain('In progress');
  });

  test('fails without an answer that fits the output schema', async () => {
    const agent = createAgent({
      model: scriptedModel([{ text: '{"day":"2026-03-01"}' }]),
      output: Day.refine(() => parsings++ === 0, 'it may be parsed once'),
    });
    let parsings = 0;
    const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
    const { id } = await runtime.create({}, { by });
    const result = await runtime.send(id, 'When?', { by });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'no-output' } });
  });

  test('is written as JSON without its state', async () => {
    const runtime = createSessionRuntime({ agents: [createPlanner()], store: createMemoryStore() });
    const { id } = await runtime.create({}, { by });
    const result = await runtime.send(id, 'When?', { by });
    expect(Object.keys(JSON.parse(JSON.stringify(result)) as object)).not.toContain('state');
    expect(result.state.text).toBe('{"day":"2026-03-01"}');
  });
});
