// What a page offers, in every situation: Send is offered exactly where the table of actions takes a message.
import { expect, onTestFinished, test } from 'vitest';
import { describeRefusal } from '../../page/src/conversation/describe-effect.ts';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import type { LiveAgentView } from '../../src/ui/index.ts';
import { createAgentView } from '../../src/ui/index.ts';
import { authenticate, authorize } from '../http/stage.ts';
import type { ReachedSession } from '../sessions/conditions.ts';
import { isRefusal, listCells, reach } from '../sessions/conditions.ts';
import { ann, until } from '../sessions/stage.ts';

// A session that cannot be shown has no field for a message.
const shown = listCells(['send']).filter(([situation]) => !['unknown', 'deleted', 'damaged'].includes(situation));

/** Opens the view of a session over a runtime. */
function open({ client, stage }: ReachedSession, sessionId: string): LiveAgentView {
  const handle = createSessionHandler(client, {
    authenticate,
    authorize,
    newSession: () => ({ agent: 'desk' }),
    onProblem: () => undefined,
  });
  const view = createAgentView({
    url: 'http://desk.test',
    sessionId,
    clock: stage.clock,
    fetch: (url, init) => {
      const request = new Request(url, init);
      request.headers.set('x-caller', 'bob staff north');
      return handle(request);
    },
  });
  onTestFinished(() => view.close());
  return view;
}

test.each(shown)('%s: Send, where the table says that %s is %s', async (situation, _, answer) => {
  const session = await reach(situation);
  const view = open(session, 's');
  await until(() => expect(view.current.connection).toBe('live'));
  const { lastSeq } = await session.client.get('s');
  await until(() => expect(view.current.view.known_seq).toBeGreaterThanOrEqual(lastSeq));
  expect(describeRefusal(view.current.view.waits) !== undefined).toBe(isRefusal(answer));
});

test('a message that is refused after it was accepted rejects whenSettled(), and so does the same message again', async () => {
  const session = await reach('new');
  const { worker, stage } = session;
  await worker.create({ id: 't', agent: 'short', tenant: 'north', owner: 'ann' }, { by: ann });
  await worker.send('t', 'slow 1; look 2', { by: ann, until: 'accepted' });
  await stage.gate.current.reached;
  const view = open(session, 't');
  const receipt = await view.send('say More');
  expect(receipt.isPending).toBe(true);
  let refused: unknown;
  receipt.whenSettled().catch((error: unknown) => (refused = error));
  await until(async () => expect(await worker.actions('t')).toHaveLength(3));
  await session.release();
  await until(async () => {
    await stage.clock.advance(2_000);
    expect(refused).toMatchObject({ code: 'request-failed', serverCode: 'message-refused', status: 409 });
  });
  await expect(view.send('say More', { requestId: receipt.requestId })).rejects.toMatchObject({ serverCode: 'message-refused' });
});
