// An agent with two tools. The host passes its own objects with each run; a tool that fails is retried by the model. The model is scripted.
import { defineContext, createAgent, defineTool } from 'stepline';
import { scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

/** Objects of the host. They are passed with each run and never stored. */
interface Shop {
  readonly stock: ReadonlyMap<string, number>;
  readonly ordered: string[];
}

const input = { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] } as const;
const findStock = defineTool({
  name: 'find_stock',
  description: 'Returns how many of an article are in stock.',
  context: defineContext<Shop>(),
  input, // or a schema of zod, valibot or arktype
  effect: 'pure', // may run again after a crash
  run: ({ article }, { context }) => {
    const inStock = context.stock.get(article);
    if (inStock === undefined) throw new Error(`There is no article "${article}". Known: ${[...context.stock.keys()].join(', ')}.`);
    return { article, inStock };
  },
});
const order = defineTool({
  name: 'order',
  description: 'Orders an article.',
  context: defineContext<Shop>(),
  input,
  run: ({ article }, { context, idempotencyKey }) => {
    context.ordered.push(article);
    return { article, order: idempotencyKey };
  },
});

const usage = { input: 120, output: 15 };
const agent = createAgent({
  model: scriptedModel([
    { toolCalls: [{ name: 'find_stock', args: { article: 'lamps' } }], usage },
    { toolCalls: [{ name: 'find_stock', args: { article: 'lamp' } }], usage },
    { toolCalls: [{ name: 'order', args: { article: 'lamp' } }], usage },
    { text: 'Only two lamps were left, so I ordered more.', usage },
  ]),
  tools: { find_stock: findStock, order },
});

const shop: Shop = { stock: new Map([['lamp', 2]]), ordered: [] };
const run = agent.start('Order lamps if there are fewer than five.', { context: shop });
for await (const event of run) {
  if (event.type === 'ToolCallStarted') print(`${event.tool} ${JSON.stringify(event.args)}`);
  if (event.type === 'ToolCallCompleted') print(`  ${event.success ? JSON.stringify(event.result) : event.error}`);
}
const result = await run.result;
print(`\n${result.text}\nOrdered: ${shop.ordered.join(', ')}\n\n${result.explain()}`);
