// A critic looks at each answer before the run may end with it. Both models play a script: no key is needed.
import { createAgent, defineTool } from 'stepline';
import { selfCritique } from 'stepline/capabilities';
import { scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const stock = defineTool({
  name: 'stock',
  description: 'Says how many of an article are in stock.',
  input: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] } as const,
  run: ({ article }) => ({ article, inStock: 7 }),
});

const says = (text: string) => ({ text, usage: { input: 200, output: 20 } });
const verdict = (approved: boolean, summary: string, weaknesses: readonly string[] = []) =>
  says(JSON.stringify({ approved, summary, strengths: [], weaknesses, suggestions: weaknesses.map(() => 'Say what the tool gave.') }));

const question = 'How many blue lamps do we have?';
const looksUp = { toolCalls: [{ name: 'stock', args: { article: 'blue lamp' } }], usage: { input: 180, output: 15 } };
const refused = verdict(false, 'The number is not the one in the evidence.', ['It says nine; the tool gave seven.']);

print('The critic has the first answer revised, and approves the second:\n');
const careful = createAgent({
  model: scriptedModel([looksUp, says('We have nine blue lamps.'), says('We have seven blue lamps.')]),
  tools: [stock],
  capabilities: [selfCritique({ model: scriptedModel([refused, verdict(true, 'The number is that of the evidence.')]) })],
});
careful.onEvent('HookReported', ({ stepNumber, message }) => print(`  step ${stepNumber}: ${message}`));
const good = await careful.start(question).result;
print(`\n  It said: ${good.text}`);
print(`  Tokens, the critic's included: ${good.usage.total}`);

print('\nThe model does not listen, and one revision is all it has:\n');
const stubborn = createAgent({
  model: scriptedModel([looksUp, says('We have nine blue lamps.'), says('Nine, as I said.')]),
  tools: [stock],
  capabilities: [selfCritique({ model: scriptedModel([refused, refused]), maxRevisions: 1 })],
});
stubborn.onEvent('HookReported', ({ stepNumber, message }) => print(`  step ${stepNumber}: ${message}`));
const bad = await stubborn.start(question).result;
print(`\n${bad.explain({ brief: true })}`);

print('\nA critic that breaks down does not keep the answer from the user, and the record says so:\n');
const unlucky = createAgent({
  model: scriptedModel([says('We have seven blue lamps.')]),
  capabilities: [selfCritique({ model: scriptedModel([{ error: new Error('503: the critic is overloaded') }]) })],
});
const kept = await unlucky.start(question).result;
print(`  ${kept.status}: ${kept.text}`);
print(`  ${JSON.stringify(kept.state.metadata['self_critique'])}`);
