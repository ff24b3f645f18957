// A limit that is reached with work left: sum up, or wait for more.
import { createDirectory } from './partners.ts';
import type { Scene } from './tour-guide.ts';
import { deskWith } from './tour-guide.ts';

// Three steps: search, create, answer.
const question = 'Create a lead for Nordwind in program Growth';

export const finalizing: Scene = async ({ note, code, run }) => {
  note('The request takes three steps, and one is allowed. The model gets one more, in which calls are refused, to say what it has.');
  code("limits: { steps: 1, onLimit: 'finalize' }");
  await run(await deskWith({ limits: { steps: 1, onLimit: 'finalize' } }), question);
};

export const granting: Scene = async ({ note, code, run }) => {
  note('The same request waits for somebody to allow more. It goes on where it was, and nothing is done twice.');
  code("limits: { steps: 1, onLimit: 'pause' }");
  const desk = await deskWith({ limits: { steps: 1, onLimit: 'pause' } });
  const directory = createDirectory();
  const paused = await run(desk, question, directory);
  code('agent.start(state.grant({ steps: 2 }))');
  await run(desk, paused.grant({ steps: 2 }), directory);
};
