// Runs that stopped by a decision: after one step, by a rule of one's own, after failures of a tool.
import { AgentBuilder, ErrorPolicy, stopWhen } from '../../src/entry/index.ts';
import { scriptedModel } from '../../src/entry/testing.ts';
import { call, createBrokenTool, createTool, say } from '../faults/props.ts';
import type { Scene } from './scene.ts';
import { createShop } from './scene.ts';

const findOrder = (order: number) => call({ name: 'find_order', id: `call-${order}`, args: { order } });

/** The builder's default: any failure ends the run. */
export async function stageOneStep(): Promise<Scene> {
  const shop = createShop();
  const agent = AgentBuilder.base()
    .withId('support')
    .withModel(scriptedModel([findOrder(17), say('Order 17 is on its way.')]))
    .withTools(createBrokenTool('find_order', new Error('connection refused')))
    .withPorts(shop.ports)
    .build();
  await shop.ask(shop.run(agent), 'order-17', 'Where is order 17?');
  return shop;
}

/** A rule of the application's own ends the run. */
export async function stageOwnRule(): Promise<Scene> {
  const shop = createShop();
  const agent = shop.agent({
    id: 'support',
    model: scriptedModel([findOrder(1), findOrder(2), findOrder(3), say('Found.')]),
    tools: [createTool('find_order', () => 'no match')],
    criteria: [stopWhen('EnoughSearches', ({ stepCount }) => stepCount >= 3 && `searched ${stepCount} times without a match`)],
  });
  await shop.ask(shop.run(agent), 'order-18', 'Find the order of Mr. Smith.');
  return shop;
}

/** A tool that fails until the policy gives up. */
export async function stageFlakyTool(): Promise<Scene> {
  const shop = createShop();
  const agent = shop.agent({
    id: 'support',
    model: scriptedModel([findOrder(19)], { repeatLast: true }),
    tools: [createBrokenTool('find_order', new Error('index offline'))],
    errors: ErrorPolicy.retryToolErrors(3),
  });
  await shop.ask(shop.run(agent), 'order-19', 'Where is order 19?');
  return shop;
}
