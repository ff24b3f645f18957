// Results of actions: of repeated ones, of accepted ones, and of those that a drain cuts off.
import { expect, test } from 'vitest';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { createMemoryPlace, createSessionRuntime, RuntimeClosedError } from '../../src/sessions/index.ts';
import type { ScriptedEntry } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const by = { id: 'ann', kind: 'user' };
const dig = defineTool({ name: 'dig', description: 'Digs.', input: { type: 'object', properties: {} }, run: () => 'more' });
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object', properties: {} },
  needsApproval: true,
  run: () => 'paid',
});

function start(script: readonly ScriptedEntry[], limits = {}) {
  const agent = createAgent({ id: 'desk', model: scriptedModel(script, { repeatLast: true }), tools: [dig, pay], limits });
  return createSessionRuntime({ agents: [agent], store: createMemoryPlace().open(), onProblem: () => undefined });
}

test('a request that is repeated gives its own execution, also where nobody waits for the end', async () => {
  const runtime = start([{ text: 'ONE' }, { text: 'TWO' }]);
  const { id } = await runtime.create({}, { by });
  await runtime.send(id, 'first', { by, requestId: 'a' });
  await runtime.send(id, 'second', { by, requestId: 'b' });
  for (const until of ['rest', 'accepted'] as const) {
    const again = await runtime.send(id, 'first', { by, requestId: 'a', until });
    expect(again).toMatchObject({ execution: 1, text: 'ONE', isRepeated: true });
  }
});

test('what was just accepted is under way, and says so', async () => {
  const runtime = start([{ toolCalls: [{ name: 'dig' }] }], { steps: 2, onLimit: 'pause' });
  const { id } = await runtime.create({}, { by });
  const accepted = await runtime.send(id, 'Dig!', { by, until: 'accepted' });
  expect([accepted.status, accepted.explain()]).toStrictEqual(['in_progress', 'In progress: no step has ended yet.']);
  const paused = await runtime.resume(id, { by });
  expect(paused.status).toBe('waiting');
  const granted = await runtime.grant(id, { steps: 1 }, { by, until: 'accepted' });
  expect([granted.status, granted.explain()]).toStrictEqual(['in_progress', 'Ready to continue after step 2: more was granted.']);
});

test('cancelling what waits for a grant is a stop that somebody asked for', async () => {
  const runtime = start([{ toolCalls: [{ name: 'dig' }] }], { steps: 2, onLimit: 'pause' });
  const { id } = await runtime.create({}, { by });
  await runtime.send(id, 'Dig!', { by });
  const turn = await runtime.cancel(id, 'enough', { by });
  expect([turn.status, turn.stopReason]).toStrictEqual(['stopped', 'user_requested']);
  expect(turn.explain()).toMatch(/^Cancelled by ann after step 2: enough\.\nDecided by StopRequested\./);
  expect((await runtime.list({ stopReason: 'user_requested' })).sessions.map((session) => session.id)).toStrictEqual([id]);
  const types: string[] = [];
  for await (const { type } of runtime.events(id)) types.push(type);
  expect(types.slice(-2)).toStrictEqual(['ContinuationEvaluated', 'AgentFinished']);
});

test('the log tells who did what, and what could not be used', async () => {
  const runtime = start([{ toolCalls: [{ name: 'pay' }] }, { text: 'Done.' }]);
  const { id } = await runtime.create({}, { by });
  const { waitingFor } = await runtime.send(id, 'Pay.', { by, requestId: 'r' });
  const [wait] = waitingFor;
  if (wait === undefined) throw new Error('nothing waits');
  await runtime.approve(id, wait, { by: { id: 'bob', kind: 'staff' } });
  expect((await runtime.actions(id)).map(({ type, by: { id: who }, requestId }) => [type, who, requestId])).toStrictEqual([
    ['create', 'ann', undefined],
    ['send', 'ann', 'r'],
    ['approve', 'bob', undefined],
  ]);
});

test('who is cut off by a drain hears that the action is stored; who comes too late hears that it is not', async () => {
  let begin: (() => void) | undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const hangs = defineTool({
    name: 'hang',
    description: 'Hangs.',
    input: { type: 'object', properties: {} },
    run: () => {
      begin?.();
      return new Promise<string>(() => undefined);
    },
  });
  const agent = createAgent({ id: 'desk', model: scriptedModel([{ toolCalls: [{ name: 'hang' }] }]), tools: [hangs] });
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryPlace().open(), onProblem: () => undefined });
  const { id } = await runtime.create({}, { by });
  const sent = runtime.send(id, 'Go.', { by }).catch((error: unknown) => error);
  await begun;
  await runtime.drain({ timeoutMs: 0 });
  const late = await runtime.send(id, 'Still there?', { by }).catch((error: unknown) => error);
  for (const [error, isStored] of [[await sent, true] as const, [late, false] as const]) {
    expect(error).toBeInstanceOf(RuntimeClosedError);
    expect((error as RuntimeClosedError).isStored).toBe(isStored);
  }
});
