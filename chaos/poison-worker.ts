// One worker of the scene in poison.ts: runs all sessions until none is left with something to do. One of these kills the process.
// Two of them run side by side; the parent starts one again after each kill. Arguments: the folder, and `cured` if the tool of that session
// does no harm any more.
import { setTimeout as pause } from 'node:timers/promises';
import type { Model } from '../src/entry/index.ts';
import { createAgent, defineTool, Usage } from '../src/entry/index.ts';
import { createSessionRuntime } from '../src/sessions/index.ts';
import { sqliteStore } from '../src/sessions/sqlite/index.ts';
import { filesIn } from './orders.ts';
import type { PoisonReport } from './poison.ts';
import { killAfterMs, longMs, poisonSessions } from './poison.ts';

const [, , folder = '', mode] = process.argv;
const by = { id: 'chaos', kind: 'service' };
const input = { type: 'object', properties: {} } as const;

const tools = [
  defineTool({ name: 'look', description: 'Looks.', input, effect: 'pure', run: () => 'seen' }),
  defineTool({ name: 'long', description: 'Takes longer than a process lives.', input, effect: 'pure', run: () => pause(longMs, 'seen') }),
  defineTool({
    name: 'poison',
    description: 'Kills the process.',
    input,
    effect: 'idempotent',
    run: async () => {
      if (mode === 'cured') return 'harmless';
      await pause(killAfterMs);
      process.kill(process.pid, 'SIGKILL');
      return new Promise<never>(() => undefined);
    },
  }),
];

/** Calls the tool that the user names, three times; then it is done. */
const ask: Model['generate'] = ({ messages }) => {
  const calls = messages.filter((message) => message.isTool()).length;
  const usage = Usage.of({ input: 10, output: 5 });
  const toolName = messages.find((message) => message.isUser())?.text ?? '';
  return Promise.resolve({
    ok: true,
    response:
      calls < 3
        ? { parts: [{ type: 'tool-call', toolCallId: `call-${String(calls)}`, toolName, args: {} }], usage, finishReason: 'tool_calls' }
        : { parts: [{ type: 'text', text: 'Done.' }], usage, finishReason: 'stop' },
  });
};

const agent = createAgent({ id: 'chaos', model: { provider: 'chaos', modelId: 'chaos', generate: ask, stream: ask }, tools });
const store = sqliteStore({ path: filesIn(folder).store });
const runtime = createSessionRuntime({ agents: [agent], store, onProblem: () => undefined });
await runtime.ready;
for (const [id, tool] of poisonSessions) {
  await runtime.create({ id }, { by, requestId: `create ${id}` });
  await runtime.send(id, tool, { by, requestId: `send ${id}`, until: 'accepted' });
}
if (mode === 'cured') await runtime.resume('poisoned', { by, requestId: 'resume' });
while ((await runtime.list({ isOpen: true, limit: 1 })).sessions.length > 0) await pause(10);
const sessions = await Promise.all(poisonSessions.map(([id]) => runtime.get(id)));
const report: PoisonReport = sessions.map((session) => ({
  id: session.id,
  status: session.status,
  waitingFor: session.waitingFor.map((wait) => ('attempts' in wait ? `${wait.reason} after ${String(wait.attempts)} attempts` : wait.type)),
  explanation: session.explain(),
}));
process.stdout.write(`${JSON.stringify(report)}\n`);
await runtime.drain();
await store.close();
