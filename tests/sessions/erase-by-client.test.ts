import { expect, test } from 'vitest';
import type { SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { ann, bob, createGate, stageOn } from './stage.ts';

test('a client that erases a message waits until the log is rewritten', async () => {
  const place = createMemoryPlace();
  const stage = stageOn(place);
  const rewriting = createGate();
  const store = place.open();
  const slow: SessionStore = {
    ...store,
    log: {
      ...store.log,
      write: async (write) => {
        if (write.rewrites !== undefined) {
          rewriting.reach();
          await rewriting.passed;
        }
        return store.log.write(write);
      },
    },
  };
  await stage.start({ store: slow, role: 'worker' }).ready;
  const client = stage.start({ role: 'client' });
  await client.create({ id: 's' }, { by: ann });
  await client.send('s', 'say Fine; my number is 4711', { by: ann });
  const [message] = (await client.get('s')).state.messages.toArray();
  let isErased = false;
  const erasing = client.eraseMessage('s', message!.id, { by: bob }).then(() => (isErased = true));
  await rewriting.reached;
  expect((await client.actions('s')).some(({ type }) => type === 'erase')).toBe(true);
  // Longer than a client takes to notice that something was stored.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isErased).toBe(false);
  rewriting.open();
  await erasing;
  expect(JSON.stringify(await place.open().log.entries('s'))).not.toContain('4711');
});
