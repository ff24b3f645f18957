// What hooks, critics, summaries and sub-agents do is journaled like any other effect: a run that died comes to the same end.
import type { EffectResult, Effects } from '../effects/index.ts';
import { expect, test } from 'vitest';
import { AgentState, createAgent } from '../agent/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { ScriptedEntry, ScriptedModel } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineHook } from '../tool-use/index.ts';
import { defineTool } from '../tools/index.ts';
import { compaction, selfCritique, subAgents } from './index.ts';

const usage = { input: 10, output: 1 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const verdict = (approved: boolean): ScriptedEntry =>
  says(JSON.stringify({ approved, summary: 'so', strengths: [], weaknesses: ['x'], suggestions: [] }));

/** One process: its models and tools count what is really done. */
function world() {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const ports = { clock, ids, random: () => 0.5, onProblem: () => undefined };
  const models: ScriptedModel[] = [];
  const done: string[] = [];
  const setUpModel = (...script: readonly ScriptedEntry[]): ScriptedModel => {
    const model = scriptedModel(script);
    models.push(model);
    return model;
  };
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    input: { type: 'object', properties: {} },
    run: () => (done.push('work'), 'worked'),
  });
  const looksUp = defineHook({
    name: 'looks-up',
    changes: ['metadata', 'votes'],
    beforeTool: async ({ effects, call }) => {
      const found = await effects.run('found', () => (done.push(`found ${call.id}`), 7));
      return { metadata: { [call.id]: found.ok ? found.value : null } };
    },
    afterStep: async ({ ask, stepNumber }) => {
      const answered = stepNumber === 1 ? await ask(second, { messages: [Message.user('Well?')] }) : undefined;
      return answered?.ok === false ? { votes: { decision: 'forbid', reason: 'nobody answered' } } : undefined;
    },
  });
  const second = setUpModel(says('well'), says('well'));
  const leaf = createAgent({
    id: 'leaf',
    model: setUpModel({ toolCalls: [{ name: 'work' }], usage }, says('leaf done')),
    tools: [work],
    hooks: [looksUp],
    ports,
  });
  const task = { name: 'spawn_subagent', args: { subagent: 'leaf', prompt: 'A long task, in many words, for the leaf.' } };
  const top = createAgent({
    id: 'top',
    model: setUpModel(
      { toolCalls: [{ name: 'work' }, task], usage },
      { toolCalls: [{ name: 'work' }], usage },
      says('A draft.'),
      says('The answer.'),
    ),
    tools: [work],
    hooks: [looksUp],
    capabilities: [
      subAgents({ agents: { leaf: { agent: leaf, description: 'Leaf.' } } }),
      selfCritique({ model: setUpModel(verdict(false), verdict(true)) }),
      compaction({
        model: setUpModel(says('first summary'), says('second summary'), says('third summary')),
        maxTokens: 30,
        maxBufferTokens: 20,
      }),
    ],
    ports,
  });
  const start = AgentState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { top, start, done, asked: () => models.reduce((sum, { calls }) => sum + calls.length, 0) };
}

/** Keeps each result under its key, and gives it again to whoever asks under the same. */
const withJournal =
  (journal: Map<string, EffectResult<unknown>>, ran: string[]) =>
  (direct: Effects): Effects => ({
    ...direct,
    run: async <Value>(key: string, work: (signal: AbortSignal) => Value | Promise<Value>, options?: Parameters<Effects['run']>[2]) => {
      const known = journal.get(key);
      // Holds: the same key stands for the same work.
      if (known !== undefined) return known as EffectResult<Value>;
      ran.push(key);
      const result = await direct.run(key, work, options);
      journal.set(key, JSON.parse(JSON.stringify(result)) as EffectResult<unknown>);
      return result;
    },
  });

test('a run comes to the same from its journal, and does nothing twice', async () => {
  const first = world();
  const journal = new Map<string, EffectResult<unknown>>();
  const ran: string[] = [];
  const end = await first.top.run(first.start, { effects: withJournal(journal, ran) });
  expect([end.status, end.text]).toStrictEqual(['completed', 'The answer.']);
  // Every key names one piece of work, and hooks, critic, summaries and the leaf are among them.
  expect(new Set(ran).size).toBe(ran.length);
  for (const part of ['hook/', 'hook-model/', '/self-critique', '/compaction', 'nested/1/1/1/tool/', 'nested/1/1/1/hook/'])
    expect(ran.filter((key) => key.includes(part))).not.toStrictEqual([]);
  const whole = world();
  const again = await whole.top.run(whole.start, { effects: withJournal(new Map(journal), []) });
  expect([whole.done, whole.asked()]).toStrictEqual([[], 0]);
  expect(JSON.stringify(again)).toBe(JSON.stringify(end));
});
