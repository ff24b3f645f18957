// Messages that come while a run is under way, and processes that die then: none is lost, none is read twice, the order stands.
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../src/entry/index.ts';
import { createAgent, defineHook, defineTool } from '../../src/entry/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import type { MemoryPlace, Session, EmbeddedRuntime, StoredEvent, SessionResult } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime, SessionConflictError } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { readEvents } from './client-of-ten-steps.ts';
import type { Gate } from './gated-session.ts';
import { by, createGate } from './gated-session.ts';
import type { MortalProcess } from './mortal-process.ts';
import { createMortality, mortalStore } from './mortal-process.ts';
import { newProcess } from './stage.ts';

const texts = ['one', 'two', 'three'] as const;

/**
 * End of the first step: with a call, so that messages join the execution; with words, so that they open the next; or with a call
 * that waits for a person, so that they close it and open the next.
 */
type FirstStep = 'calls' | 'ends' | 'waits';
const callOf: Readonly<Record<FirstStep, string | undefined>> = { calls: 'look', ends: undefined, waits: 'pay' };

interface Living {
  readonly process: MortalProcess;
  readonly asked: Gate;
  /** The first answer is given when the others have spoken. */
  readonly released: Gate;
}

const [clock, ids] = [createFakeClock(), createCountingIds()];

function agentIn({ process, asked, released }: Living, firstStep: FirstStep): Agent {
  const model = scriptedModel(
    [
      async ({ messages }) => {
        await process.moment('model');
        const isFirst = messages.length === 1;
        asked.open();
        if (isFirst) await released.passed;
        await process.moment('model answers');
        const name = isFirst ? callOf[firstStep] : undefined;
        return name === undefined ? { text: 'Yes.' } : { toolCalls: [{ name, id: 'c' }] };
      },
    ],
    { repeatLast: true },
  );
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: {} } as const,
    effect: 'pure',
    run: () => process.work('look', () => 'seen'),
  });
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: {} } as const,
    needsApproval: true,
    run: () => process.work('pay', () => 'paid'),
  });
  const reader = defineHook({
    name: 'reader',
    changes: ['metadata'],
    beforeInference: ({ messages, executionId, state }) => {
      const fresh = messages.filter((message) => message.isUser() && !Object.hasOwn(state.metadata, message.text));
      return { metadata: Object.fromEntries(fresh.map(({ text }) => [text, executionId])) };
    },
  });
  return createAgent({ id: 'a', model, tools: [look, pay], hooks: [reader], ports: { clock, ids, onProblem: () => undefined } });
}

async function speak(runtime: EmbeddedRuntime, { asked, released }: Living): Promise<readonly SessionResult[]> {
  await runtime.create({ id: 's' }, { by }).catch((error: unknown) => {
    if (!(error instanceof SessionConflictError)) throw error;
  });
  const first = runtime.send('s', 'one', { by, requestId: 'one' });
  await Promise.race([first, asked.passed]);
  for (const text of ['two', 'three']) await runtime.send('s', text, { by, requestId: text, until: 'accepted' });
  released.open();
  await first;
  return Promise.all(texts.map((text) => runtime.send('s', text, { by, requestId: text })));
}

interface Spoken {
  readonly turns: readonly SessionResult[];
  readonly session: Session;
  readonly events: readonly StoredEvent[];
  readonly moments: readonly string[];
  readonly sends: number;
}

async function run(firstStep: FirstStep, deaths: readonly number[] = []): Promise<Spoken> {
  const place: MemoryPlace = createMemoryPlace();
  const mortality = createMortality({ deaths });
  for (;;) {
    const store = place.open();
    const living: Living = { process: mortality.start(), asked: createGate(), released: createGate() };
    const runtime = createSessionRuntime({
      ...newProcess,
      // Processes die here more often than a step is resumed by default.
      maxRecoveries: Number.POSITIVE_INFINITY,
      agents: [agentIn(living, firstStep)],
      store: mortalStore(store, living.process),
      // A context that takes its time lets messages come before the first step, too.
      context: () => living.process.moment('context'),
      clock,
      ids,
      onProblem: () => undefined,
    });
    const readTypes = async () => {
      const turns = await speak(runtime, living);
      const [session, events] = [await runtime.get('s'), await readEvents(runtime, 's')];
      const actions = (await store.log.entries('s')).filter(({ body }) => body.includes('"type":"send"'));
      return { turns, session, events, moments: mortality.moments, sends: actions.length };
    };
    const end = await Promise.race([readTypes(), living.process.died]);
    if (end !== 'died') return end;
  }
}

function expectAllRead({ turns, session, events, sends }: Spoken): void {
  const said = session.state.messages.toArray().filter((message) => message.isUser());
  expect(said.map(({ text }) => text)).toStrictEqual(texts);
  expect([session.status, sends]).toStrictEqual(['completed', 3]);
  const read = texts.map((text) => session.state.metadata[text]);
  expect(turns.map(({ execution }) => `s/${execution}`)).toStrictEqual(read);
  expect(turns.map(({ isRepeated }) => isRepeated)).toStrictEqual([true, true, true]);
  expect(turns.slice(1).map(({ status }) => status)).toStrictEqual(['completed', 'completed']);
  // Every call has a result, and what nobody agreed to was not done.
  const messages = session.state.messages.toArray();
  expect(messages.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId))).toStrictEqual(
    messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id)),
  );
  expect(JSON.stringify(messages)).not.toContain('paid');
  expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
}

describe.each(['calls', 'ends', 'waits'] as const)('where the first step %s,', (firstStep) => {
  test('messages that came during it are read together, in order', async () => {
    const spoken = await run(firstStep);
    expectAllRead(spoken);
    expect(spoken.turns.map(({ execution }) => execution)).toStrictEqual(firstStep === 'calls' ? [1, 1, 1] : [1, 2, 2]);
  });

  test('no death of the process loses one, at whatever moment', async () => {
    const { moments } = await run(firstStep);
    for (const [index, moment] of moments.entries()) {
      const spoken = await run(firstStep, [index + 1]);
      expect(() => expectAllRead(spoken), `dies at moment ${index + 1}: ${moment}`).not.toThrow();
    }
  });

  test('nor do two deaths', async () => {
    const { moments } = await run(firstStep);
    for (const [index, moment] of moments.entries()) {
      for (const later of index % 2 === 0 ? [3] : [8]) {
        const spoken = await run(firstStep, [index + 1, index + 1 + later]);
        expect(() => expectAllRead(spoken), `dies at moment ${index + 1} (${moment}) and ${later} later`).not.toThrow();
      }
    }
  });
});
