// Answers that are not what a reader expects: JSON, nothing, half of it.
import { scriptedModel } from '../../src/entry/testing.ts';
import { createTool, say, usage } from '../faults/props.ts';
import type { Scene } from './scene.ts';
import { createShop } from './scene.ts';

/** A model that writes its call as text. */
export async function stageJson(): Promise<Scene> {
  const shop = createShop();
  const agent = shop.agent({
    id: 'support',
    model: scriptedModel([say('{"name":"find_order","arguments":{"order":23}}')]),
    tools: [createTool('find_order', () => 'found')],
  });
  await shop.ask(shop.run(agent), 'order-23', 'Where is order 23?');
  return shop;
}

/** A model that spends all output tokens on reasoning. */
export async function stageNothing(): Promise<Scene> {
  const shop = createShop();
  const agent = shop.agent({
    id: 'support',
    model: scriptedModel(
      [{ reasoning: 'Let me think about it for a while …', finishReason: 'length', usage: { input: 40, output: 500 } }],
      { repeatLast: true },
    ),
    settings: { maxOutputTokens: 500 },
  });
  await shop.ask(shop.run(agent), 'order-24', 'Where is order 24?');
  return shop;
}

/** A model that runs out of output tokens in mid-sentence. */
export async function stageCutOff(): Promise<Scene> {
  const shop = createShop();
  const agent = shop.agent({
    id: 'support',
    model: scriptedModel([{ text: 'Your order left Hamburg on Monday and will', finishReason: 'length', usage }]),
    settings: { maxOutputTokens: 20 },
  });
  await shop.ask(shop.run(agent), 'order-25', 'Where is order 25?');
  return shop;
}
