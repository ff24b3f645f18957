// One limit, three ways to reach it: stop, sum up, or wait until somebody grants more. The model is scripted.
import { createAgent, defineTool } from 'stepline';
import { scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const dig = defineTool({
  name: 'dig',
  description: 'Digs deeper.',
  input: { type: 'object', properties: {} } as const,
  run: () => 'more to dig',
});
const usage = { input: 80, output: 10 };
/** A model that digs in every step, and answers only if it is offered no tools. */
const digger = () =>
  scriptedModel([({ tools }) => (tools === undefined ? { text: 'So far: nothing.', usage } : { toolCalls: [{ name: 'dig' }], usage })], {
    repeatLast: true,
  });

const stopping = createAgent({ model: digger(), tools: { dig }, limits: { steps: 3 } });
print(`stop:\n${(await stopping.start('Dig!').result).explain()}`);

const summing = createAgent({ model: digger(), tools: { dig }, limits: { steps: 3, onLimit: 'finalize' } });
const summed = await summing.start('Dig!').result;
print(`\nfinalize:\n${summed.explain()}\nIt said: ${summed.text}`);

const pausing = createAgent({ model: digger(), tools: { dig }, limits: { steps: 3, onLimit: 'pause' } });
const paused = await pausing.start('Dig!').result;
print(`\npause:\n${paused.explain()}`);
const granted = await pausing.start(paused.state.grant({ steps: 2 })).result;
print(`\nAfter a grant of two steps (${String(granted.state.stepCount)} steps so far):\n${granted.explain()}`);
const ended = await pausing.start(granted.state.reject('grant/steps', 'that is enough')).result;
print(`\nAfter a refusal:\n${ended.explain()}`);
