import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SessionHeader } from '../index.ts';
import type { TurnInput } from './protocol.ts';
import { planEnd, planSkip } from './turn-end.ts';

const toHeader = (more: Partial<SessionHeader> = {}): SessionHeader => ({
  id: 'one',
  agentName: 'desk',
  tags: [],
  status: 'waiting',
  isOpen: false,
  createdAt: 0,
  updatedAt: 0,
  details: '{}',
  ...more,
});

type ImageParts = Partial<Record<'keepsMails' | 'hasUnreported', boolean>> & { failedTurns?: number; header?: SessionHeader };

const toImage = (wakeAt: number | undefined, more: ImageParts = {}) => ({
  header: toHeader(),
  wakeAt,
  taken: [],
  failedTurns: 0,
  keepsMails: false,
  hasUnreported: false,
  ...more,
});

describe('the end of a turn', () => {
  test('schedules one wake-up for the time at which the session needs attention', () => {
    const image = toImage(undefined, { header: toHeader({ wakeAt: 5000 }) });
    expect(planEnd(image, { now: 1000, input: {} })).toStrictEqual({ goesOn: false, wake: { inMs: 4000, at: 5000 } });
    expect(planEnd({ ...image, wakeAt: 5000 }, { now: 2000, input: {} })).toStrictEqual({ goesOn: false });
  });

  test('schedules the wake-up again if it came before this clock reached its time', () => {
    const image = toImage(5000, { header: toHeader({ wakeAt: 5000 }) });
    const turn = { now: 4900, input: { wakeAt: 5000 } };
    expect(planSkip(image, turn, 0)).toBeUndefined();
    expect(planEnd(image, turn)).toStrictEqual({ goesOn: false, wake: { inMs: 100, at: 5000 } });
  });

  test('waits twice as long after each turn that failed, up to a minute', () => {
    let image = toImage(1000, { header: toHeader({ wakeAt: 1000 }) });
    const delays: (number | undefined)[] = [];
    let [now, input]: [number, TurnInput] = [1000, { wakeAt: 1000 }];
    for (let turn = 0; turn < 8; turn += 1) {
      const { wake, failedTurns = 0 } = planEnd(image, { now, input, hasFailed: true });
      delays.push(wake?.inMs);
      const wakeAt = wake?.at ?? 0;
      [image, now, input] = [{ ...image, wakeAt, failedTurns }, wakeAt, { wakeAt }];
    }
    expect(delays).toStrictEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  test('leaves the pending wake-up alone if another turn fails before it', () => {
    const image = toImage(9000, { header: toHeader({ wakeAt: 1000 }), failedTurns: 4 });
    expect(planEnd(image, { now: 2000, input: {}, hasFailed: true })).toStrictEqual({ goesOn: false, failedTurns: 4 });
  });

  test('keeps in mind that mails wait for another worker if a turn has nothing to do', () => {
    const image = toImage(9000, { failedTurns: 3, keepsMails: true });
    expect(planSkip(image, { now: 2000, input: { wakeAt: 1000 } }, 0)).toStrictEqual({ goesOn: false, failedTurns: 3, keepsMails: true });
    expect(planSkip(image, { now: 9000, input: { wakeAt: 9000 } }, 0)).toBeUndefined();
  });

  test('gives mails that it had no time for to another worker at once', () => {
    const image = toImage(undefined);
    const end = planEnd(image, { now: 0, input: {}, leavesMails: true });
    expect(end).toStrictEqual({ goesOn: true, keepsMails: true });
    expect(planSkip({ ...image, keepsMails: true }, { now: 0, input: {} }, 0)).toBeUndefined();
  });

  test('reports late what an earlier attempt has recorded but not reported, if there is nothing else to do', () => {
    const image = toImage(undefined, { hasUnreported: true });
    expect(planSkip(image, { now: 0, input: {} }, 1)).toStrictEqual({ goesOn: false, reportsLate: true });
    const open = { ...image, header: toHeader({ isOpen: true }) };
    expect(planSkip(open, { now: 0, input: {} }, 10)).toMatchObject({ repeatInMs: 1000, reportsLate: true });
  });

  test('moves to a fresh invocation after ten attempts', () => {
    const image = toImage(undefined, { header: toHeader({ isOpen: true }) });
    expect([0, 9, 10].map((attempts) => planSkip(image, { now: 0, input: {} }, attempts)?.repeatInMs)).toStrictEqual([
      undefined,
      undefined,
      1000,
    ]);
  });

  test('always leaves a wake-up pending in time, whichever turns come and whatever their clocks show', () => {
    const turn = fc.record({
      skewMs: fc.integer({ min: -3000, max: 3000 }),
      hasFailed: fc.boolean(),
      /** The first of these is the wake-up that comes next; others are turns of mails in between. */
      isWakeUp: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20_000 }), fc.array(turn, { maxLength: 20 }), (due, turns) => {
        let image = toImage(undefined, { header: toHeader({ wakeAt: due }) });
        let [now, pending]: [number, { at: number; wakeAt: number }[]] = [0, []];
        for (const { skewMs, hasFailed, isWakeUp } of [{ skewMs: 0, hasFailed: false, isWakeUp: false }, ...turns]) {
          const next = pending.toSorted((one, other) => one.at - other.at)[0];
          const isNext = isWakeUp && next !== undefined;
          if (isNext) [now, pending] = [Math.max(now, next.at), pending.filter((each) => each !== next)];
          const facts = { now: now + skewMs, input: isNext ? { wakeAt: next.wakeAt } : {} };
          const end = planSkip(image, facts, 0) ?? planEnd(image, { ...facts, hasFailed });
          image = { ...image, wakeAt: end.wake?.at ?? image.wakeAt, failedTurns: end.failedTurns ?? 0 };
          if (end.wake !== undefined) pending.push({ at: now + end.wake.inMs, wakeAt: end.wake.at });
          expect(pending.filter(({ wakeAt }) => wakeAt === image.wakeAt).length).toBeGreaterThan(0);
        }
      }),
    );
  });
});
