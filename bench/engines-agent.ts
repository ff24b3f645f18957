// The agent whose steps are measured: one model call and one tool call that must not happen twice.
import { createAgent, defineTool } from 'stepline';
import { benchLimits, benchModel } from './agent.bench.ts';

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  effect: 'once',
  run: ({ id }) => ({ id, found: true }),
});

export const createBenchAgent = (steps: number) =>
  createAgent({ id: 'bench', model: benchModel(steps), tools: [look], limits: benchLimits });
