// The agents of the plan: one model that does what the first message says, and limits that differ.
import { setTimeout as pause } from 'node:timers/promises';
import type { Agent, Model } from '../../src/entry/index.ts';
import { createAgent, defineTool, ErrorPolicy, stopWhen } from '../../src/entry/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { PlannedSession } from './plan.ts';
import { Ending, endings, toAgentId, tokensPerStep, toTokenLimit, wallMs } from './plan.ts';

const usage = { input: tokensPerStep - 20, output: 20 };
const input = { type: 'object', properties: { session: { type: 'string' } }, required: ['session'] } as const;

/** Finds what the step of a session does. */
function answer({ ending, size, id }: PlannedSession, step: number): ScriptedAnswer {
  const call = (name: string): ScriptedAnswer => ({ toolCalls: [{ name, id: `${name}-${id}`, args: { session: id } }], usage });
  const isLast = step >= size;
  switch (ending) {
    case Ending.Completed:
      return isLast ? { text: 'Done.', usage } : call('look');
    case Ending.TimeLimit:
      return step === 1 ? call('look') : call('linger');
    case Ending.RetriesUsedUp:
      return call('export');
    case Ending.ModelError:
      return isLast ? { error: { type: 'model', code: 'not-found', message: `404 no model for ${id}`, retryable: false } } : call('look');
    case Ending.Cancelled:
    case Ending.Rejected:
    case Ending.AwaitsApproval:
      return step > size ? { text: 'Then not.', usage } : isLast ? call('pay') : call('look');
    case Ending.FinishReason:
      return isLast ? { text: 'And so on and so', finishReason: 'length', usage } : call('look');
    case Ending.StepsLimit:
    case Ending.TokenLimit:
    case Ending.OwnCriterion:
    case Ending.AwaitsGrant:
      return call('look');
  }
}

const model: Model = scriptedModel(
  [
    ({ messages }) => {
      // Holds: the worker writes the first message.
      const session = JSON.parse(messages.find((message) => message.isUser())?.text ?? '{}') as PlannedSession;
      return answer(session, 1 + messages.filter((message) => message.isAssistant()).length);
    },
  ],
  { repeatLast: true },
);

const tools = [
  defineTool({ name: 'look', description: 'Looks.', input, effect: 'pure', run: () => 'seen' }),
  defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' }),
  defineTool({
    name: 'export',
    description: 'Fails.',
    input,
    run: ({ session }) => {
      throw new Error(`disk ${session} is full`);
    },
  }),
  defineTool({
    name: 'linger',
    description: 'Takes too long.',
    input,
    effect: 'pure',
    run: async (_, { signal }) => {
      await pause(60_000, undefined, { signal });
      return 'late';
    },
  }),
];

function createAgentFor(ending: Ending, size: number): Agent {
  const base = { id: toAgentId(ending, size), model, tools, limits: { steps: 50, tokens: 100_000, wallMs: 600_000 } };
  switch (ending) {
    case Ending.StepsLimit:
      return createAgent({ ...base, limits: { ...base.limits, steps: size } });
    case Ending.AwaitsGrant:
      return createAgent({ ...base, limits: { ...base.limits, steps: size, onLimit: 'pause' } });
    case Ending.TokenLimit:
      return createAgent({ ...base, limits: { ...base.limits, tokens: toTokenLimit(size) } });
    case Ending.TimeLimit:
      return createAgent({ ...base, limits: { ...base.limits, wallMs } });
    case Ending.RetriesUsedUp:
      return createAgent({ ...base, errors: ErrorPolicy.retryToolErrors(size) });
    case Ending.OwnCriterion:
      return createAgent({
        ...base,
        criteria: [
          stopWhen('Reputation', ({ stepCount, messages }) => {
            // Holds: the worker writes the first message.
            const { size: most } = JSON.parse([...messages][0]?.text ?? '{}') as PlannedSession;
            return stepCount >= most && `a score of ${stepCount * 10} after ${stepCount} steps`;
          }),
        ],
      });
    case Ending.FinishReason:
      return createAgent({ ...base, finishReasons: ['length'] });
    case Ending.Completed:
    case Ending.ModelError:
    case Ending.Cancelled:
    case Ending.Rejected:
    case Ending.AwaitsApproval:
      return createAgent(base);
  }
}

/** Creates every agent of the plan. */
export function createAgents(): readonly Agent[] {
  const made = new Map<string, Agent>();
  for (const ending of endings)
    for (let size = 2; size <= 6; size += 1)
      if (!made.has(toAgentId(ending, size))) made.set(toAgentId(ending, size), createAgentFor(ending, size));
  return [...made.values()];
}
