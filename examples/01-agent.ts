// An agent in its smallest form: a model, a question, the answer as it is written, and why the run ended. The model is scripted.
import { createAgent } from 'stepline';
import { scriptedModel } from 'stepline/testing';

const print = (text: string): void => {
  process.stdout.write(text);
};

const agent = createAgent({
  // A real model: aiSdk(openai('gpt-5')), with aiSdk from 'stepline/ai-sdk'.
  model: scriptedModel([
    { chunks: ['Acme makes robots. ', 'Its office is in Berlin.'], usage: { input: 40, output: 12 } },
    { chunks: ['The phone number ', 'is not known to me.'], usage: { input: 70, output: 9 } },
  ]),
  instructions: 'You answer in one or two sentences.',
});

const run = agent.start('What is Acme?'); // starts at once
for await (const event of run) if (event.type === 'TextDelta') print(event.text);
const first = await run.result;
print(`\n\n${first.status}: ${String(first.usage.total)} tokens\n${first.explain()}\n`);

// The next message continues the conversation. It starts a new execution, with fresh limits.
const second = await agent.start(first.state.withUserMessage('And its phone number?')).result;
print(`\n${second.text}\n`);
print(`${String(second.state.messages.length)} messages, ${String(second.state.session.usage.total)} tokens in all\n`);
