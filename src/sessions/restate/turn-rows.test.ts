import { describe, expect, test } from 'vitest';
import type { LogEntry, SessionHeader } from '../index.ts';
import type { TurnChange } from './protocol.ts';
import { TurnWriter } from './turn-rows.ts';

const header = { isOpen: true } as SessionHeader;
const toEntry = (n: number): LogEntry => ({ n, at: 0, isSnapshot: false, execution: 1, step: n, body: '{}' });
const toStep = (n: number, isOpen = true): TurnChange => ({
  type: 'write',
  after: n - 1,
  header: { ...header, isOpen },
  entries: [toEntry(n)],
  clearsEffects: true,
});
const toIntent = (key: string): TurnChange => ({ type: 'write', after: 0, effects: [{ key, phase: 'intent', body: '{}' }] });

/** Adds a change; returns whether its caller may continue. */
function add(writer: TurnWriter, change: TurnChange): { isSettled: boolean } {
  const caller = { isSettled: false };
  void writer.write(change).then(
    () => (caller.isSettled = true),
    () => undefined,
  );
  return caller;
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the writer of a turn', () => {
  test('lets a step begin before the one before it is safe, but no effect of it', async () => {
    const writer = new TurnWriter(1000);
    const [step, intent] = [add(writer, toStep(1)), add(writer, toIntent('tool'))];
    await tick();
    expect([step.isSettled, intent.isSettled]).toStrictEqual([true, false]);
    const { changes, settle } = writer.take();
    // Both share a row, and the effect survives the end of the step before it.
    expect(changes).toMatchObject([{ entries: [{ n: 1 }], clearsEffects: true, effects: [{ key: 'tool' }] }]);
    settle();
    await tick();
    expect(intent.isSettled).toBe(true);
  });

  test('lets at most one step be ahead', async () => {
    const writer = new TurnWriter(1000);
    const [one, two] = [add(writer, toStep(1)), add(writer, toStep(2))];
    await tick();
    expect([one.isSettled, two.isSettled]).toStrictEqual([true, false]);
    writer.take().settle();
    await tick();
    expect(two.isSettled).toBe(true);
  });

  test('waits for a step with which the session comes to rest', async () => {
    const writer = new TurnWriter(1000);
    const last = add(writer, toStep(1, false));
    await tick();
    expect(last.isSettled).toBe(false);
    writer.take().settle();
    await tick();
    expect(last.isSettled).toBe(true);
  });
});
