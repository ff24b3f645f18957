// What a page offers, in every situation: Send is offered exactly where the table of actions takes a message.
import { expect, onTestFinished, test } from 'vitest';
import { describeRefusal } from '../../page/src/conversation/describe-effect.ts';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import { createAgentView } from '../../src/ui/index.ts';
import { authenticate, authorize } from '../http/stage.ts';
import { isRefusal, listCells, reach } from '../sessions/conditions.ts';
import { until } from '../sessions/stage.ts';

// A session that cannot be shown has no field for a message.
const shown = listCells(['send']).filter(([situation]) => !['unknown', 'deleted', 'damaged'].includes(situation));

test.each(shown)('%s: Send, where the table says that %s is %s', async (situation, _, answer) => {
  const { client } = await reach(situation);
  const handle = createSessionHandler(client, { authenticate, authorize, newSession: () => ({ agent: 'desk' }), onProblem: () => undefined });
  const view = createAgentView({
    url: 'http://desk.test',
    sessionId: 's',
    fetch: (url, init) => {
      const request = new Request(url, init);
      request.headers.set('x-caller', 'bob staff north');
      return handle(request);
    },
  });
  onTestFinished(() => view.close());
  await until(() => expect(view.current.connection).toBe('live'));
  const { lastSeq } = await client.get('s');
  await until(() => expect(view.current.view.known_seq).toBeGreaterThanOrEqual(lastSeq));
  expect(describeRefusal(view.current.view.waits) !== undefined).toBe(isRefusal(answer));
});
