// What a page offers, in every situation: Send is offered exactly where the table of actions takes a message, and no other button is
// offered where the table refuses what it does.
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { FunctionComponent } from 'react';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { describeRefusal } from '../../page/src/conversation/describe-effect.ts';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import type { ActionType, SessionCondition } from '../../src/sessions/core/action-table.ts';
import { actionTable } from '../../src/sessions/core/action-table.ts';
import type { LiveAgentView } from '../../src/ui/index.ts';
import { createAgentView } from '../../src/ui/index.ts';
import { authenticate, authorize } from '../http/stage.ts';
import type { ReachedSession, Situation } from '../sessions/conditions.ts';
import { isRefusal, listCells, reach, situations } from '../sessions/conditions.ts';
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

async function openLive(situation: Situation): Promise<LiveAgentView> {
  const session = await reach(situation);
  const view = open(session, 's');
  await until(() => expect(view.current.connection).toBe('live'));
  const { lastSeq } = await session.client.get('s');
  await until(() => expect(view.current.view.known_seq).toBeGreaterThanOrEqual(lastSeq));
  return view;
}

type Shown = FunctionComponent<Record<string, unknown>>;

let [Composer, WaitList]: readonly Shown[] = [];

// Components are compiled by the project of the page; they read their configuration from the document when they are loaded.
beforeAll(async () => {
  vi.stubGlobal('document', { getElementById: () => null });
  const load = async (file: string, name: string): Promise<Shown> => {
    // Holds: that is the component which the file is named for.
    const module = (await import(new URL(`../../page/src/${file}`, import.meta.url).href)) as Record<string, Shown>;
    return module[name] ?? (() => null);
  };
  [Composer, WaitList] = [await load('conversation/composer.tsx', 'Composer'), await load('waits/wait-list.tsx', 'WaitList')];
  vi.unstubAllGlobals();
});

/** Lists the buttons that the page shows for a view. */
function listButtons(view: LiveAgentView): readonly string[] {
  const { waits, status } = view.current.view;
  const doNothing = async (): Promise<void> => undefined;
  const composer = { draft: 's', isRunning: status === 'in_progress', send: doNothing, stop: doNothing, placeholder: '' };
  const [cards, field] = [createElement(WaitList ?? '', { waits, actions: view }), createElement(Composer ?? '', composer)];
  const html = renderToStaticMarkup(cards) + renderToStaticMarkup(field);
  return [...html.matchAll(/<button[^>]*>(.*?)<\/button>/g)].map(([, inner = '']) => inner.replace(/<[^>]*>/g, ''));
}

/** Actions behind the buttons of the page. */
const buttons: Readonly<Record<string, ActionType>> = {
  ...{ Stop: 'cancel', Approve: 'approve', Edit: 'approve', Reject: 'reject', 'Send answer': 'answer' },
  ...{ 'Grant more': 'grant', 'Try again': 'resume' },
};
const byCondition: Readonly<Partial<Record<SessionCondition, readonly string[]>>> = {
  running: ['Stop'],
  approval: ['Approve', 'Edit', 'Reject'],
  'client-tool': ['Send answer'],
  'unknown-call': ['Send answer'],
  person: ['Send answer'],
  grant: ['Grant more', 'End here'],
  'crash-loop': ['Try again', 'End here'],
};

test.each(shown.map(([situation]) => situation))('%s: the other buttons, each where the table does not refuse it', async (situation) => {
  const condition = situations[situation];
  const offered = listButtons(await openLive(situation)).filter((name) => name !== 'Send');
  expect(offered).toStrictEqual(byCondition[condition] ?? []);
  // The card of a limit ends the run by rejecting it, that of a crash loop by cancelling.
  const done = offered.map((name) => buttons[name] ?? (condition === 'grant' ? 'reject' : 'cancel'));
  expect(done.filter((type) => isRefusal(actionTable[type][condition]) || actionTable[type][condition] === 'ignored')).toStrictEqual([]);
});

test.each(shown)('%s: Send, where the table says that %s is %s', async (situation, _, answer) => {
  const view = await openLive(situation);
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
