import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../lib/index.ts';
import type { LogEntry, SessionHeader } from '../index.ts';
import type { TurnChange, TurnReport } from './protocol.ts';
import { SessionImage } from './session-image.ts';
import { TurnReporter } from './turn-reporter.ts';

const header: SessionHeader = {
  ...{ id: 'a', agentName: 'desk', tags: [], createdAt: 0, updatedAt: 0, details: '{}' },
  ...{ status: 'in_progress', isOpen: true },
};
const toEntry = (n: number): LogEntry => ({ n, at: n, isSnapshot: false, body: '{}' });
const toStep = (n: number, takesMail: readonly number[] = []): TurnChange => ({
  type: 'write',
  after: n - 1,
  header,
  entries: [toEntry(n)],
  takesMail,
});

/** A turn whose desk can be down. */
function openTurn({ isResumed = false, turns = 1 } = {}) {
  const clock = createFakeClock();
  const image = new SessionImage(isResumed ? { head: 1, header, chunks: [], taken: [], effects: [] } : undefined, []);
  const sent: TurnReport[] = [];
  const problems: unknown[] = [];
  const desk = { isDown: false, hangs: false, isLacking: false };
  const reporter = new TurnReporter({
    ...{ clock, image, sessionId: 'a', worker: 'one', countTurns: () => turns, onProblem: (error) => void problems.push(error) },
    send: (report, signal) => {
      if (desk.isDown) return Promise.reject(new Error('The desk is down.'));
      sent.push(report);
      if (!desk.hangs) return Promise.resolve(!desk.isLacking);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    },
  });
  const apply = async (change: TurnChange): Promise<void> => {
    const isUrgent = reporter.isUrgent([change]);
    image.apply(change);
    void reporter.note(isUrgent);
    await clock.advance(0);
  };
  const listEntries = (): readonly (readonly number[])[] =>
    sent.map(({ changes }) => changes.flatMap((change) => (change.type === 'write' ? (change.entries ?? []) : [])).map(({ n }) => n));
  return { clock, image, sent, problems, desk, reporter, apply, listEntries };
}

describe('the reports of a turn', () => {
  test('an action that was taken is reported at once, steps later and together', async () => {
    const { clock, apply, listEntries } = openTurn();
    await apply(toStep(1, [7]));
    expect(listEntries()).toStrictEqual([[1]]);
    await apply(toStep(2));
    await apply(toStep(3));
    await clock.advance(199);
    expect(listEntries()).toStrictEqual([[1]]);
    await clock.advance(1);
    expect(listEntries()).toStrictEqual([[1], [2, 3]]);
  });

  test('a worker with many sessions reports the steps of each less often', async () => {
    const { clock, apply, listEntries } = openTurn({ turns: 500 });
    await apply(toStep(1, [7]));
    await apply(toStep(2));
    await clock.advance(999);
    expect(listEntries()).toStrictEqual([[1]]);
    await clock.advance(1);
    expect(listEntries()).toStrictEqual([[1], [2]]);
  });

  test('a worker that resumes a session says so before anything has changed', async () => {
    const { clock, sent, apply } = openTurn({ isResumed: true });
    await clock.advance(0);
    expect(sent).toStrictEqual([{ sessionId: 'a', changes: [{ type: 'write', after: 1 }], worker: 'one', isKnown: false }]);
    await apply(toStep(2, [7]));
    expect(sent.at(-1)).toMatchObject({ worker: 'one', isKnown: true });
  });

  test('a report that failed is sent again with what has happened since, and the problem is reported', async () => {
    const { clock, desk, problems, apply, listEntries } = openTurn();
    desk.isDown = true;
    await apply(toStep(1, [7]));
    expect(problems).toHaveLength(1);
    desk.isDown = false;
    await apply(toStep(2));
    await clock.advance(200);
    expect(listEntries()).toStrictEqual([[1, 2]]);
  });

  test('the end waits until everything is confirmed', async () => {
    const { clock, reporter, apply, listEntries } = openTurn();
    await apply(toStep(1, [7]));
    await apply(toStep(2));
    expect(await reporter.finish()).toBe(true);
    expect(listEntries()).toStrictEqual([[1], [2]]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('the end does not wait longer than a second for a desk that hangs, and all of the turn is left to report', async () => {
    const { clock, desk, image, reporter, apply } = openTurn();
    await apply(toStep(1, [7]));
    desk.hangs = true;
    await apply(toStep(2));
    const finishing = reporter.finish();
    await clock.advance(1000);
    expect(await finishing).toBe(false);
    const left = image.listReports().flat();
    expect(left).toMatchObject([{ entries: [{ n: 1 }, { n: 2 }] }]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a turn that was stopped reports nothing more', async () => {
    const { clock, reporter, apply, listEntries } = openTurn();
    await apply(toStep(1, [7]));
    await apply(toStep(2));
    reporter.stop();
    await clock.advance(1000);
    expect(listEntries()).toStrictEqual([[1]]);
  });

  test('a session continues after an action once the desk has confirmed it, or after a second', async () => {
    const { clock, desk, image, reporter } = openTurn();
    desk.hangs = true;
    let canContinue = false;
    image.apply(toStep(1, [7]));
    void reporter.note(true).then(() => (canContinue = true));
    await clock.advance(999);
    expect(canContinue).toBe(false);
    await clock.advance(1);
    expect(canContinue).toBe(true);
    // A desk that answers is not waited for.
    const other = openTurn();
    other.image.apply(toStep(1, [7]));
    await other.reporter.note(true);
    expect(other.clock.pendingTimers()).toBe(0);
    expect(other.image.hasUnreported).toBe(false);
  });

  test('what the desk has left out is not confirmed, and the worker stays unknown until it is', async () => {
    const { clock, desk, sent, image, reporter, apply, listEntries } = openTurn();
    desk.isLacking = true;
    await apply(toStep(1, [7]));
    expect(image.hasUnreported).toBe(true);
    await apply(toStep(2));
    await clock.advance(200);
    expect(listEntries()).toStrictEqual([[1], [1, 2]]);
    expect(sent.map(({ isKnown }) => isKnown)).toStrictEqual([false, false]);
    expect(await reporter.finish()).toBe(false);
  });
});
