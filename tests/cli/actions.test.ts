import { describe, expect, test } from 'vitest';
import { answer, approve, reject } from '../../src/cli/commands/answer.ts';
import { deleteSession } from '../../src/cli/commands/delete.ts';
import { cancel, grant } from '../../src/cli/commands/execution.ts';
import { hold, listHolds, release } from '../../src/cli/commands/holds.ts';
import { show } from '../../src/cli/commands/show.ts';
import { why } from '../../src/cli/commands/why.ts';
import { toExitCode } from '../../src/cli/failures.ts';
import type { Clock } from '../../src/lib/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import type { SessionWait } from '../../src/sessions/index.ts';
import { newProcess, readActions, refusal, getWait } from '../sessions/stage.ts';
import type { CliStage } from './cli-stage.ts';
import { createCliStage, runSession, getText } from './cli-stage.ts';

/** A clock on which every wait is over at once. */
function createHurriedClock(): Clock {
  const clock = createFakeClock();
  return {
    ...clock,
    schedule: (ms, run, inBackground) => {
      const cancelled = clock.schedule(ms, run, inBackground);
      setImmediate(() => void clock.advance(ms));
      return cancelled;
    },
  };
}

async function parkPayment(words = 'pay 5; say Paid.'): Promise<CliStage & { readonly wait: SessionWait }> {
  const stage = createCliStage();
  await runSession(stage.worker, 's', words);
  return { ...stage, wait: await getWait(stage.worker, 's') };
}

const exitCode = async (work: Promise<unknown>): Promise<number> =>
  work.then(
    (code) => Number(code),
    (error: unknown) => toExitCode(error),
  );

describe('approve', () => {
  test('with the digest lets the worker run the call, under the name of the user', async () => {
    const { connect, wait, ran, place, worker } = await parkPayment();
    const { context, printed } = connect();
    expect(await approve(context, { sessionId: 's', waitId: wait.id }, { digest: wait.digest })).toBe(0);
    expect(getText(printed)).toBe(`Approved ${wait.id} in session s.\n`);
    await expect.poll(async () => (await worker.get('s')).status).toBe('completed');
    expect(ran).toStrictEqual(['pay 5']);
    expect((await readActions(place.open(), 's')).at(-1)).toMatchObject({ type: 'approve', by: { id: 'kim', kind: 'staff' } });
  });

  test('without the digest is refused in a pipe, and nothing is stored', async () => {
    const { connect, wait, ran, place } = await parkPayment();
    const { context } = connect();
    expect(await exitCode(approve(context, { sessionId: 's', waitId: wait.id }, {}))).toBe(2);
    expect(await place.open().inbox.read()).toStrictEqual([]);
    expect(ran).toStrictEqual([]);
  });

  test('shows the whole call in a terminal, and asks', async () => {
    const { connect, wait, ran, worker } = await parkPayment();
    const no = connect({ columns: 80, answers: ['n'] });
    expect(await exitCode(approve(no.context, { sessionId: 's', waitId: wait.id }, {}))).toBe(4);
    expect(getText(no.printed)).toContain('"amount": 5');
    const yes = connect({ columns: 80, answers: ['y'] });
    expect(await approve(yes.context, { sessionId: 's', waitId: wait.id }, {})).toBe(0);
    await expect.poll(async () => (await worker.get('s')).status).toBe('completed');
    expect(ran).toStrictEqual(['pay 5']);
  });

  test('with --yes shows what it approves; edited arguments too', async () => {
    const { connect, wait, ran, worker } = await parkPayment();
    const { context, printed } = connect();
    expect(await approve(context, { sessionId: 's', waitId: wait.id }, { yes: true, args: { amount: 3 } })).toBe(0);
    expect(getText(printed)).toMatch(/"amount": 5[^]*arguments that replace them[^]*"amount": 3/);
    await expect.poll(async () => (await worker.get('s')).status).toBe('completed');
    expect(ran).toStrictEqual(['pay 3']);
  });

  test('does not approve unseen what is hidden as a secret', async () => {
    const { connect, wait, ran } = await parkPayment();
    const { context } = connect();
    const hiding = { ...context, output: { ...context.output, redactor: { text: (text: string) => text, value: () => '[redacted]' } } };
    expect(await exitCode(approve(hiding, { sessionId: 's', waitId: wait.id }, { yes: true }))).toBe(4);
    expect(ran).toStrictEqual([]);
  });

  test('with a digest that was never shown is refused as forged', async () => {
    const { connect, wait } = await parkPayment();
    const error = await refusal(
      approve(connect().context, { sessionId: 's', waitId: wait.id }, { digest: 'f'.repeat(64) }),
      'forged-approval',
    );
    expect(toExitCode(error)).toBe(4);
  });

  test('of an answered wait is refused as late', async () => {
    const { connect, wait, worker } = await parkPayment();
    await reject(connect().context, { sessionId: 's', waitId: wait.id }, { reason: 'no' });
    await expect.poll(async () => (await worker.get('s')).status).toBe('completed');
    const error = await refusal(approve(connect().context, { sessionId: 's', waitId: wait.id }, { digest: wait.digest }), 'late-answer');
    expect(toExitCode(error)).toBe(4);
  });
});

describe('a line break in the name of a person', () => {
  test('starts no line, in errors or elsewhere', async () => {
    const { connect, wait, worker } = await parkPayment();
    const by = { id: 'bob\nFAKE: approved\r\u001b[2J', kind: 'staff\u2028FAKE' };
    await worker.reject('s', wait, { by, reason: 'no\nFAKE reason' });
    const { context, printed } = connect();
    const error = await refusal(approve(context, { sessionId: 's', waitId: wait.id }, { digest: wait.digest }), 'late-answer');
    expect(error.message).toContain('bob\nFAKE');
    context.output.fail(error);
    await why(context, ['s'], {});
    await show(context, 's', {});
    const text = [...printed.out, ...printed.err].join('');
    expect(printed.err.join('')).toContain(String.raw`bob\nFAKE: approved\r\u001b[2J`);
    expect(text.split(/[\n\r\u2028]/).filter((line) => line.trimStart().startsWith('FAKE'))).toEqual([]);
    expect(text).not.toContain('\u001b');
  });
});

describe('reject, answer, grant, cancel and delete', () => {
  test('reject gives the model the reason', async () => {
    const { connect, wait, worker } = await parkPayment();
    expect(await reject(connect().context, { sessionId: 's', waitId: wait.id }, { reason: 'too much' })).toBe(0);
    await expect.poll(async () => (await worker.get('s')).status).toBe('completed');
    expect(JSON.stringify((await worker.get('s')).state.messages)).toContain('too much');
  });

  test('answer gives the output of a client tool', async () => {
    const { connect, wait, worker } = await parkPayment('ask 1; say Thanks.');
    expect(await answer(connect().context, { sessionId: 's', waitId: wait.id }, { value: { ok: true } })).toBe(0);
    await expect.poll(async () => (await worker.get('s')).status).toBe('completed');
  });

  test('an answer of the wrong kind is refused with 4', async () => {
    const { connect, wait } = await parkPayment();
    expect(await exitCode(answer(connect().context, { sessionId: 's', waitId: wait.id }, { value: 1 }))).toBe(4);
  });

  test('grant raises limits, and cancel ends the execution', async () => {
    const { connect, worker } = await parkPayment();
    expect(await grant(connect().context, 's', { steps: 5 })).toBe(0);
    const { context, printed } = connect({ json: true });
    expect(await cancel(context, 's', 'called off')).toBe(0);
    expect(JSON.parse(getText(printed))).toStrictEqual({ action: 'cancel', sessionId: 's', reason: 'called off', state: 'applied' });
    expect(await worker.get('s')).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
  });

  test('delete needs a yes, and then deletes for good', async () => {
    const { connect } = await parkPayment();
    expect(await exitCode(deleteSession(connect().context, 's', {}))).toBe(2);
    const { context } = connect();
    expect(await deleteSession(context, 's', { yes: true })).toBe(0);
    await refusal(context.runtime.get('s'), 'session-deleted');
    expect(await exitCode(deleteSession(context, 's', { yes: true }))).toBe(3);
  });

  test('an unknown session is not found', async () => {
    const { connect } = createCliStage();
    expect(await exitCode(cancel(connect().context, 'nobody', 'x'))).toBe(3);
  });
});

describe('a store without a worker', () => {
  test('keeps the action, and says so', async () => {
    const { connect, worker, wait, place } = await parkPayment();
    await worker.drain();
    const { context, printed } = connect();
    expect(await approve(context, { sessionId: 's', waitId: wait.id }, { digest: wait.digest })).toBe(6);
    expect(getText(printed)).toBe('Stored. No worker is alive now; it will be applied when one is.\n');
    expect(await place.open().inbox.read({ isWaiting: true })).toHaveLength(1);
    const patient = connect({ timeoutMs: undefined });
    expect(await cancel(patient.context, 's', 'no')).toBe(0);
    expect(getText(patient.printed)).toContain('No worker is alive now');
  });

  test('still lets a session be deleted', async () => {
    const { connect, worker } = await parkPayment();
    await worker.drain();
    const { context, printed } = connect();
    expect(await deleteSession(context, 's', { yes: true })).toBe(0);
    expect(getText(printed)).toBe('Deleted session s.\n');
    await refusal(context.runtime.get('s'), 'session-deleted');
  });

  test('does not count one that gives no signs of life any more', async () => {
    const { connect, worker } = await parkPayment();
    await worker.drain();
    const { context, printed } = connect();
    await context.store.leases.join({ id: 'w', joinedAt: 0, agents: ['desk'] }, { room: 1 });
    const workers = async () => (await context.store.leases.workers()).map((each) => ({ ...each, silentMs: 60_000 }));
    const store = { ...context.store, leases: { ...context.store.leases, workers } };
    expect(await cancel({ ...context, store }, 's', 'no')).toBe(6);
    expect(getText(printed)).toContain('No worker is alive now');
  });
});

describe('a store whose workers lack the agent of the session', () => {
  test('keeps the action until one with the agent picks it up, and says so', async () => {
    const { connect, worker, start, agent, place } = await parkPayment();
    await worker.drain();
    const other = start({ agents: [agent({ id: 'billing' })], ...newProcess });
    await other.ready;
    const { context, printed } = connect();
    expect(await cancel(context, 's', 'no')).toBe(6);
    expect(getText(printed)).toBe('Stored. No worker that is alive runs agent "desk"; it will be applied when one does.\n');
    const json = connect({ json: true, timeoutMs: undefined });
    expect(await cancel(json.context, 's', 'no')).toBe(0);
    expect(JSON.parse(getText(json.printed))).toMatchObject({ state: 'no-agent' });
    expect(await place.open().inbox.read({ isWaiting: true })).toHaveLength(2);
    await other.drain();
    await start().ready;
    await expect.poll(async () => (await context.runtime.get('s')).status).toBe('stopped');
  });
});

describe('a worker that is alive but busy', () => {
  test('is waited for until the time is up', async () => {
    const { connect, worker } = await parkPayment();
    await worker.drain();
    const { context, printed } = connect({ clock: createHurriedClock(), timeoutMs: 30_000 });
    await context.store.leases.join({ id: 'w', joinedAt: 0, agents: ['desk'] }, { room: 0 });
    expect(await cancel(context, 's', 'no')).toBe(6);
    expect(getText(printed)).toContain('not applied within 30 s');
  });
});

describe('holds', () => {
  test('are put, listed and released', async () => {
    const { connect } = createCliStage();
    const put = connect({ json: true });
    await hold(put.context, { tenant: 'acme' }, 'unpaid');
    const { id } = JSON.parse(getText(put.printed)) as { readonly id: string };
    const listed = connect();
    await listHolds(listed.context);
    expect(getText(listed.printed)).toMatch(new RegExp(`${id} +tenant acme .* kim +unpaid`));
    expect(await release(connect().context, id)).toBe(0);
    expect(await exitCode(release(connect().context, id))).toBe(3);
  });
});
