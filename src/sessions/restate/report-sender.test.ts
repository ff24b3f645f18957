import { describe, expect, test } from 'vitest';
import { SessionConflictError, toWire } from '../index.ts';
import type { ReportReply, TurnReport } from './protocol.ts';
import { ReportSender } from './report-sender.ts';

const toReport = (sessionId: string): TurnReport => ({ sessionId, changes: [] });
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A desk that answers each batch when the test says so. */
function openDesk() {
  const batches: {
    readonly ids: readonly string[];
    readonly answer: (replies?: readonly ReportReply[]) => void;
    readonly fail: () => void;
  }[] = [];
  const mails: string[] = [];
  const sender = new ReportSender({
    send: (reports) =>
      new Promise((resolve, reject) => {
        const stored = reports.map((): ReportReply => ({ isWhole: true, hasMail: false }));
        const ids = reports.map(({ sessionId }) => sessionId);
        batches.push({ ids, answer: (replies = stored) => resolve(replies), fail: () => reject(new Error('The desk is down.')) });
      }),
    onMail: (sessionId) => void mails.push(sessionId),
  });
  const { signal } = new AbortController();
  const send = (id: string, until: AbortSignal = signal): Promise<string> =>
    sender.send(toReport(id), until).then(
      (isStored) => `${id} ${isStored ? 'stored' : 'left out'}`,
      (error: unknown) => `${id} failed: ${error instanceof Error ? error.message : String(error)}`,
    );
  return { batches, mails, send };
}

describe('the sender of reports', () => {
  test('sends the reports of one turn of the event loop together, and the next ones once these are stored', async () => {
    const { batches, send } = openDesk();
    const first = [send('a'), send('b')];
    await tick();
    const later = [send('a'), send('c')];
    await tick();
    expect(batches.map(({ ids }) => ids)).toStrictEqual([['a', 'b']]);
    batches[0]?.answer();
    expect(await Promise.all(first)).toStrictEqual(['a stored', 'b stored']);
    await tick();
    expect(batches.map(({ ids }) => ids)).toStrictEqual([
      ['a', 'b'],
      ['a', 'c'],
    ]);
    batches[1]?.answer();
    expect(await Promise.all(later)).toStrictEqual(['a stored', 'c stored']);
  });

  test('rejects only the report that the desk could not store, and says whether mails wait for the others', async () => {
    const { batches, mails, send } = openDesk();
    const sent = [send('a'), send('b')];
    await tick();
    const error = toWire(new SessionConflictError('b', { expected: 1, found: 2 }));
    batches[0]?.answer([{ isWhole: true, hasMail: true }, { error }]);
    expect(await Promise.all(sent)).toStrictEqual(['a stored', expect.stringContaining('b failed')]);
    expect(mails).toStrictEqual(['a']);
  });

  test('rejects all reports of a batch that failed, and sends the next batch', async () => {
    const { batches, send } = openDesk();
    const lost = send('a');
    await tick();
    const next = send('b');
    batches[0]?.fail();
    expect(await lost).toBe('a failed: The desk is down.');
    await tick();
    batches[1]?.answer();
    expect(await next).toBe('b stored');
  });

  test('does not send a report that was withdrawn', async () => {
    const { batches, send } = openDesk();
    const first = send('a');
    await tick();
    const leaving = new AbortController();
    const withdrawn = send('b', leaving.signal);
    leaving.abort(new Error('The turn is over.'));
    expect(await withdrawn).toBe('b failed: The turn is over.');
    expect(await send('c', leaving.signal)).toBe('c failed: The turn is over.');
    batches[0]?.answer();
    await first;
    await tick();
    expect(batches).toHaveLength(1);
  });

  test('says that the desk lacks what comes before a report', async () => {
    const { batches, send } = openDesk();
    const sent = send('a');
    await tick();
    batches[0]?.answer([{ isWhole: false, hasMail: false }]);
    expect(await sent).toBe('a left out');
  });
});
