// Processes that end, providers that are down, stores that somebody else has, approvals that nobody sees.
import { subAgents } from '../../src/entry/capabilities.ts';
import type { Failure } from '../../src/entry/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../src/entry/sessions.ts';
import { createSessionRuntime } from '../../src/entry/sessions.ts';
import { sqliteStore } from '../../src/entry/sqlite.ts';
import { scriptedModel } from '../../src/entry/testing.ts';
import { ann, waitForStatus } from '../faults/desk.ts';
import { anyInput, call, createTool, fail, say } from '../faults/props.ts';
import { newPath } from '../sessions/stage.ts';
import type { Scene, Shop } from './scene.ts';
import { createShop, createSignal, skipRetryWaits } from './scene.ts';

/** An agent whose tool `charge` hangs the first times, so that its process can end meanwhile. */
function createCharging(shop: Shop, hangs: number) {
  let calls = 0;
  let signal = createSignal();
  const charge = defineTool({
    name: 'charge',
    description: 'Charges a card.',
    input: anyInput,
    effect: 'idempotent',
    run: () => {
      calls += 1;
      signal.reach();
      return calls > hangs ? 'charged' : new Promise<string>(() => undefined);
    },
  });
  const createClerk = () =>
    shop.agent({
      id: 'billing',
      model: scriptedModel(
        [
          ({ messages }) =>
            messages.some((message) => message.isTool()) ? say('Charged.') : call({ name: 'charge', id: 'call-1', args: { euros: 20 } }),
        ],
        { repeatLast: true },
      ),
      tools: [charge],
    });
  /** Starts a process, and returns when it has called the tool. */
  const crash = async (id?: string): Promise<void> => {
    signal = createSignal();
    const runtime = shop.run(createClerk());
    // On a clock that stands still: the process ends before time passes.
    if (id !== undefined)
      void runtime
        .create({ id, tenant: 'acme' }, { by: ann })
        .then(() => runtime.send(id, 'Charge the card.', { by: ann }))
        .catch(() => undefined);
    await signal.reached;
  };
  return { createClerk, crash };
}

/** A process that ended while an idempotent tool ran: the tool runs again. */
export async function stageTwice(): Promise<Scene> {
  const shop = createShop();
  const { createClerk, crash } = createCharging(shop, 1);
  await crash('order-26');
  const runtime = shop.run(createClerk());
  await runtime.ready;
  await waitForStatus(runtime, 'completed', 'order-26');
  return shop;
}

/** A step that ends its process each time. */
export async function stageStuck(): Promise<Scene> {
  const shop = createShop();
  const { createClerk, crash } = createCharging(shop, Infinity);
  await crash('order-27');
  for (let time = 0; time < 3; time += 1) await crash();
  const runtime = shop.run(createClerk());
  await runtime.ready;
  await waitForStatus(runtime, 'waiting', 'order-27');
  return shop;
}

const down: Failure = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true };

/** A provider that is down for longer than the retries last. */
export async function stageOutage(): Promise<Scene> {
  const shop = createShop();
  const clock = skipRetryWaits(shop.clock);
  const run = (options: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime => {
    const model = scriptedModel([fail(down)], { repeatLast: true });
    return shop.run(createAgent({ id: 'support', model, ports: { ...shop.ports, clock } }), { clock, ...options });
  };
  await shop.ask(run(), 'order-28', 'Where is order 28?');
  await shop.ask(run({ onOutage: 'park' }), 'order-29', 'Where is order 29?');
  return shop;
}

/** An action that waits for a worker, and there is none. */
export async function stageNobody(): Promise<Scene> {
  const path = newPath();
  const store = sqliteStore({ path });
  const agent = createAgent({ id: 'support', model: scriptedModel([]) });
  const client = createSessionRuntime({ agents: [agent], store, role: 'client' });
  const by = { id: 'ann', kind: 'user' };
  await client.create({ id: 'order-31' }, { by });
  await client.send('order-31', 'Where is order 31?', { by, until: 'accepted' });
  await client.drain();
  await store.close();
  return { path, now: () => Date.now() };
}

/** An approval that a sub-agent asks for. */
export async function stageMissedApproval(): Promise<Scene> {
  const shop = createShop();
  const refund = createTool('refund', () => 'refunded', { needsApproval: true });
  const billing = createAgent({
    id: 'billing',
    model: scriptedModel([call({ name: 'refund', id: 'call-1', args: { order: 30 } }), say('Refunded.')]),
    tools: [refund],
  });
  const desk = shop.agent({
    id: 'desk',
    model: scriptedModel([
      call({ name: 'spawn_subagent', id: 'call-1', args: { subagent: 'billing', prompt: 'Refund order 30.' } }),
      say('Your money is on its way.'),
    ]),
    capabilities: [subAgents({ agents: { billing: { agent: billing, description: 'Refunds.' } } })],
  });
  await shop.ask(shop.run(desk), 'order-30', 'I want my money back.');
  return shop;
}
