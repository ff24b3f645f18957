import { existsSync } from 'node:fs';
import { createAgent } from 'stepline';
import { createSessionRuntime, sharedRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import { scriptedModel } from 'stepline/testing';
import { chatRoutes } from 'stepline/ui-message-stream';

// A test changes this line while the server runs.
export const maxDuration = 60;

async function* writeSlowly() {
  yield 'The first half';
  while (!existsSync(process.env.CHAT_GATE ?? '')) await new Promise((resolve) => setTimeout(resolve, 20));
  yield ' and the second.';
}

let answers = 0;
const answer = ({ messages }) => (messages.at(-1).text === 'slow' ? { chunks: writeSlowly() } : `Answer ${(answers += 1)}.`);

const runtime = sharedRuntime('chats', () =>
  createSessionRuntime({
    agents: [createAgent({ model: scriptedModel([answer], { repeatLast: true }) })],
    store: sqliteStore({ path: process.env.CHAT_DB ?? '' }),
  }),
);

export const { GET, POST, DELETE } = chatRoutes(runtime, {
  authenticate: () => ({ id: 'ann', kind: 'user' }),
  authorize: () => true,
  newSession: () => ({ owner: 'ann' }),
});
