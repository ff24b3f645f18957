import type { Agent as AiAgent, InferAgentUIMessage, ToolLoopAgent } from 'ai';
import { createAgentUIStreamResponse } from 'ai';
import { expectTypeOf, it } from 'vitest';
import { createAgent } from '../../../agent/index.ts';
import { scriptedModel } from '../../../testing/index.ts';
import { defineContext, defineTool } from '../../../tools/index.ts';
import { asAiSdkAgent } from './as-ai-sdk-agent.ts';

const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather.',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  run: ({ city }) => ({ city, celsius: 20 }),
});
const model = scriptedModel([]);

it('is an agent of the AI SDK, with the types of its tools', () => {
  const agent = asAiSdkAgent(createAgent({ model, tools: { weather } }));
  expectTypeOf(agent).toExtend<AiAgent<never, typeof agent.tools>>();
  type Part = InferAgentUIMessage<typeof agent>['parts'][number];
  type WeatherPart = Extract<Part, { type: 'tool-weather'; state: 'output-available' }>;
  expectTypeOf<WeatherPart['output']>().toEqualTypeOf<{ readonly city: string; readonly celsius: number }>();
  expectTypeOf<WeatherPart['input']['city']>().toEqualTypeOf<string>();
  // @ts-expect-error -- there is no such tool
  type Unknown = Extract<Part, { type: 'tool-weather' }>['nothing'];
  expectTypeOf<Unknown>().toBeAny();
});

it('goes where a ToolLoopAgent goes', () => {
  const agent = asAiSdkAgent(createAgent({ model, tools: { weather } }));
  expectTypeOf(createAgentUIStreamResponse({ agent, uiMessages: [] })).resolves.toEqualTypeOf<Response>();
  const listed = asAiSdkAgent(createAgent({ model, tools: [weather] }));
  expectTypeOf(createAgentUIStreamResponse({ agent: listed, uiMessages: [] })).resolves.toEqualTypeOf<Response>();
  expectTypeOf<ToolLoopAgent['version']>().toEqualTypeOf<typeof agent.version>();
});

it('asks for the context that the tools need', () => {
  const tool = defineTool({
    ...{ name: 'find', description: 'Finds.' },
    input: { type: 'object' },
    context: defineContext<{ db: string }>(),
    run: () => 1,
  });
  const agent = createAgent({ model, tools: { tool } });
  asAiSdkAgent(agent, { context: { db: 'x' } });
  // @ts-expect-error -- the tool needs a database
  asAiSdkAgent(agent);
});
