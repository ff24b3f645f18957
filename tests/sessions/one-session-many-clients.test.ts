// Many clients speak to one session at once. It does one thing at a time, loses nothing and does nothing twice.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { LateResultError } from '../../src/effects/index.ts';
import { createAgent, defineHook, defineTool } from '../../src/entry/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import type { EmbeddedRuntime, SessionStore, SessionResult } from '../../src/sessions/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { readEvents } from './client-of-ten-steps.ts';
import { newProcess } from './stage.ts';

const clients = 50;
const sendsEach = 20;
const folder = mkdtempSync(join(tmpdir(), 'stepline-clients-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Chance that repeats itself. */
function createChance(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) / 4_294_967_296;
}

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

interface Reading {
  /** The execution in which the model first read each message. */
  readonly firstRead: Map<string, number>;
  /** The messages in the order in which the model first read them. */
  readonly order: string[];
  atWork: number;
  mostAtWork: number;
}

function createReader(chance: () => number) {
  const reading: Reading = { firstRead: new Map(), order: [], atWork: 0, mostAtWork: 0 };
  // Counts who is at work; whoever is cut off has left.
  const alone = async <Value>(signal: AbortSignal | undefined, work: () => Value): Promise<Value> => {
    let isHere = true;
    const leave = (): void => {
      if (isHere) reading.atWork -= 1;
      isHere = false;
    };
    reading.atWork += 1;
    reading.mostAtWork = Math.max(reading.mostAtWork, reading.atWork);
    signal?.addEventListener('abort', leave);
    for (let turns = Math.floor(chance() * 4); turns > 0; turns -= 1) await turnOfTheLoop();
    leave();
    signal?.throwIfAborted();
    return work();
  };
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: {} } as const,
    effect: 'idempotent',
    run: (_, { signal }) => alone(signal, () => 'seen'),
  });
  const model = scriptedModel(
    [({ signal }) => alone(signal, () => (chance() < 0.3 ? { text: 'Wait.', toolCalls: [{ name: 'look' }] } : { text: 'Yes.' }))],
    { repeatLast: true },
  );
  const reader = defineHook({
    name: 'reader',
    changes: ['metadata'],
    beforeInference: ({ messages, executionId }) => {
      for (const message of messages) {
        if (!message.isUser() || reading.firstRead.has(message.text)) continue;
        reading.firstRead.set(message.text, Number(executionId.split('/').at(-1)));
        reading.order.push(message.text);
      }
    },
  });
  return { reading, look, model, reader };
}

interface Sent {
  readonly text: string;
  readonly turn: SessionResult;
}

/** One client: says something, waits for what comes of it, and now and then asks twice, cancels or resumes. */
async function speak(runtime: EmbeddedRuntime, name: string, chance: () => number): Promise<readonly Sent[]> {
  const by = { id: name, kind: 'user' };
  const sent: Sent[] = [];
  for (let number = 1; number <= sendsEach; number += 1) {
    const text = `${name} says ${number}`;
    const say = (): Promise<SessionResult> => runtime.send('s', text, { by, requestId: text });
    if (chance() < 0.5) await turnOfTheLoop();
    const first = say();
    const again = chance() < 0.1 ? say() : undefined;
    if (chance() < 0.02) await runtime.cancel('s', `${name} is impatient`, { by });
    if (chance() < 0.05) await runtime.resume('s', { by });
    const turn = await first;
    sent.push({ text, turn });
    const repeated = await again;
    if (repeated !== undefined) expect([repeated.isRepeated, repeated.execution]).toStrictEqual([true, turn.execution]);
    if (chance() < 0.1) {
      const late = await say();
      expect([late.isRepeated, late.execution]).toStrictEqual([true, turn.execution]);
    }
  }
  return sent;
}

/** Messages sent, in the order in which they were accepted. */
async function listAccepted(store: SessionStore): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let from = 1; ;) {
    const page = await store.log.entries('s', { from });
    if (page.length === 0) return texts;
    for (const { body } of page) {
      // Holds: this is what the log of a session is written as.
      const { action } = JSON.parse(body) as {
        readonly action?: { readonly type: string; readonly message?: { readonly content: string } };
      };
      if (action?.type === 'send') texts.push(action.message!.content);
    }
    from += page.length;
  }
}

// A thousand commits to a disk take their time on a busy machine.
const timeout = 60_000;

const stores = [
  ['memory', () => createMemoryStore()],
  ['SQLite', () => sqliteStore({ path: join(folder, 'sessions.db') })],
] as const;

test.each(stores)(
  'fifty clients with a thousand sends to one session over %s: serial, none lost, none twice, each settled with its reader',
  async (_, open) => {
    const chance = createChance(7);
    const { reading, look, model, reader } = createReader(chance);
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const problems: unknown[] = [];
    const agent = createAgent({
      id: 'a',
      model,
      tools: [look],
      hooks: [reader],
      limits: { steps: 10_000 },
      ports: { clock, ids },
    });
    const store = open();
    const runtime = createSessionRuntime({
      ...newProcess,
      agents: [agent],
      store,
      clock,
      ids,
      onProblem: (error) => problems.push(error),
    });
    await runtime.create({ id: 's' }, { by: { id: 'host', kind: 'service' } });
    const names = Array.from({ length: clients }, (__, index) => `client ${index + 1}`);
    const sent = (await Promise.all(names.map((name) => speak(runtime, name, chance)))).flat();
    // Whatever a cancelled execution left unread is read now.
    await runtime.send('s', 'the end', { by: { id: 'host', kind: 'service' } });

    const session = await runtime.get('s');
    const said = session.state.messages
      .toArray()
      .filter((message) => message.isUser())
      .map(({ text }) => text);
    expect(sent).toHaveLength(clients * sendsEach);
    expect(reading.mostAtWork).toBe(1);
    expect(new Set(said).size).toBe(said.length);
    expect(said).toStrictEqual(await listAccepted(store));
    expect(said).toHaveLength(clients * sendsEach + 1);
    expect(reading.order).toStrictEqual(said);
    const wrong = sent.filter(({ text, turn }) => {
      const read = reading.firstRead.get(text);
      // A message whose execution was cancelled before the model was asked is read by a later one.
      return turn.stopReason === 'user_requested' ? read === undefined || read < turn.execution : read !== turn.execution;
    });
    expect(wrong.map(({ text, turn }) => [text, turn.execution, turn.status, reading.firstRead.get(text)])).toStrictEqual([]);
    expect(sent.filter(({ turn }) => !['completed', 'stopped'].includes(turn.status))).toStrictEqual([]);
    const events = await readEvents(runtime, 's');
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((__, index) => index + 1));
    // A look that was just about to end when somebody cancelled is reported, and harms nothing.
    expect(problems.filter((problem) => !(problem instanceof LateResultError))).toStrictEqual([]);
    // The case is worth its time only if messages did meet running executions, and executions were cancelled.
    expect(session.executions).toBeLessThan(clients * sendsEach);
    expect(sent.some(({ turn }) => turn.stopReason === 'user_requested')).toBe(true);
    await store.close();
  },
  timeout,
);
