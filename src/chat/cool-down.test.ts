import { expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import { withFallback } from '../inference/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedEntry, ScriptedModel } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { agentParticipant, ChatState, coordinator, createChat, llmParticipant } from './index.ts';

const createModel = (modelId: string, entry: ScriptedEntry): ScriptedModel =>
  scriptedModel([entry], { provider: 'p', modelId, repeatLast: true });

test('a model that failed in one turn is skipped in the next ones, whoever has them', async () => {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const down = createModel('down', { error: { type: 'model', code: 'http-503', message: 'no capacity', retryable: true } });
  const up = createModel('up', { text: 'Yes.' });
  const lead = createModel('lead', { text: 'agent' });
  const chat = createChat({
    participants: [
      llmParticipant({ name: 'llm', model: down, fallback: [up] }),
      agentParticipant({ name: 'agent', agent: createAgent({ model: down, fallback: [up], ports: { clock, ids } }) }),
    ],
    selector: coordinator({ model: withFallback(down, lead) }),
    limits: { steps: 3 },
    ports: { clock, ids },
  });
  const end = await chat.run(ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }));
  expect([end.stepCount > 0, down.calls.length]).toStrictEqual([true, 1]);
  expect(end.coolDowns).toStrictEqual({ 'p/down': { failures: 1, until: clock.now() + 30_000 } });
  expect(end.explain()).toContain('Model p/down is skipped until');
});
