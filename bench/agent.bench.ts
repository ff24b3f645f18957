// What a step of an agent costs over the same loop written by hand: one model call, one tool call, default criteria, one listener.
import type { Agent, Model } from 'stepline';
import type { ModelOutcome } from 'stepline/inference';
import { AgentState, createAgent, defineTool, Message, Usage } from 'stepline';
import type { Contender } from './measure.ts';

const usage = Usage.of({ input: 100, output: 20 });

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  effect: 'pure',
  run: ({ id }) => ({ id, found: true }),
});

function answer(number: number, last: number): ModelOutcome {
  const parts =
    number < last
      ? [{ type: 'tool-call' as const, toolCallId: `call-${String(number)}`, toolName: 'look', args: { id: number } }]
      : [{ type: 'text' as const, text: 'Done.' }];
  return { ok: true, response: { parts, usage, finishReason: number < last ? 'tool_calls' : 'stop' } };
}

/** A model that calls the tool until the last step; it counts the steps by the messages it is sent, as a real one would read them. */
export function benchModel(last: number): Model {
  const ask = async (messages: readonly Message[]): Promise<ModelOutcome> => Promise.resolve(answer((messages.length + 1) / 2, last));
  return {
    provider: 'bench',
    modelId: 'bench',
    generate: ({ messages }) => ask(messages),
    stream: ({ messages }) => ask(messages),
  };
}

export const benchLimits = { steps: 1_000_000, tokens: 1_000_000_000 };
export const benchTools = { look };
const kept = { events: 0, messages: 0 };

/** An agent with its default criteria, events to one listener, and time tracking. */
export function withAgent(steps: number): Contender {
  const agent = createAgent({ model: benchModel(steps), tools: benchTools, limits: benchLimits });
  agent.wiretap(() => {
    kept.events += 1;
  });
  return {
    name: `agent, ${String(steps)} steps`,
    units: steps,
    work: () => runBench(agent, steps),
  };
}

/** Runs a new conversation to its end. */
export async function runBench(agent: Pick<Agent, 'run'>, steps: number): Promise<void> {
  const state = await agent.run(AgentState.empty().withUserMessage('Go.'));
  if (state.stepCount !== steps) throw new Error(`The bench took ${String(state.stepCount)} steps: ${state.explain()}`);
  kept.messages += state.messages.length;
}

/** A hand-written loop: ask, run the tool, keep the messages, add up the usage, look whether to go on. */
export function agentByHand(steps: number): Contender {
  const model = benchModel(steps);
  return {
    name: `by hand, ${String(steps)} steps`,
    units: steps,
    work: async () => {
      const messages = [Message.user('Go.', { id: 'user' })];
      let total = 0;
      for (let number = 1; ; number += 1) {
        const outcome = await model.generate({ messages });
        if (!outcome.ok) break;
        total += outcome.response.usage.total;
        messages.push(Message.assistant(outcome.response.parts, { id: `assistant-${String(number)}` }));
        const [call] = outcome.response.parts;
        if (call?.type !== 'tool-call' || total > benchLimits.tokens) break;
        const value = { id: (call.args as { readonly id: number }).id, found: true };
        const output = { type: 'json' as const, value };
        messages.push(Message.tool({ toolCallId: call.toolCallId, toolName: 'look', output }, { id: `tool-${String(number)}` }));
      }
      kept.messages += messages.length;
    },
  };
}

/** Many conversations at once on one agent. */
export function sessionsAtOnce(sessions: number, steps: number): Contender {
  const agent = createAgent({ model: benchModel(steps), tools: benchTools, limits: benchLimits });
  agent.wiretap(() => {
    kept.events += 1;
  });
  return {
    name: `${String(sessions)} sessions × ${String(steps)} steps at once`,
    units: sessions * steps,
    work: async () => {
      const results = await Promise.all(Array.from({ length: sessions }, () => agent.start('Go.').result));
      if (results.some(({ status }) => status !== 'completed')) throw new Error('A session of the bench did not end well.');
    },
  };
}

/** As many hand-written loops at once. */
export function sessionsByHand(sessions: number, steps: number): Contender {
  const { work } = agentByHand(steps);
  return {
    name: `by hand, ${String(sessions)} × ${String(steps)} steps at once`,
    units: sessions * steps,
    work: async () => {
      await Promise.all(Array.from({ length: sessions }, () => work()));
    },
  };
}
