import { describe, expect, test } from 'vitest';
import { createRunControl } from './run-control.ts';

/** A signal that counts who listens. */
function createWatchedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  return { controller, signal, listeners: () => listeners };
}

describe('R1: the first interruption stands', () => {
  test('later ones change neither kind, reason nor signal', () => {
    const control = createRunControl();
    let heard = 0;
    control.onInterrupt(() => (heard += 1));
    control.interrupt('deadline', 'time is up');
    control.interrupt('signal', 'enough');
    expect([control.interruption, control.ending, control.signal.reason as unknown, heard]).toStrictEqual([
      'deadline',
      'deadline',
      'time is up',
      1,
    ]);
    // A host that gives up is heard all the same.
    expect(control.stopRequest).toStrictEqual({ by: 'signal', reason: 'enough' });
  });

  test('the host’s signal interrupts, and is a request to stop in its words', () => {
    const { controller, signal } = createWatchedSignal();
    const control = createRunControl(signal);
    controller.abort('closed the tab');
    expect([control.interruption, control.stopRequest]).toStrictEqual(['signal', { by: 'signal', reason: 'closed the tab' }]);
  });

  test('a signal that fired before counts at once', () => {
    const control = createRunControl(AbortSignal.abort('too late'));
    expect([control.interruption, control.signal.aborted, control.signal.reason as unknown]).toStrictEqual(['signal', true, 'too late']);
  });

  test.each([
    ['a string', 'closed the tab', 'closed the tab'],
    ['an empty string', '', 'aborted by the signal'],
    ['an error', new Error('the user left'), 'the user left'],
    ['what abort() gives', undefined, 'aborted by the signal'],
    ['something else', { code: 7 }, 'aborted by the signal'],
  ])('the reason in words, from %s', (_, reason, words) => {
    expect(createRunControl(AbortSignal.abort(reason)).stopRequest?.reason).toBe(words);
  });
});

describe('a request to stop', () => {
  test('ends at the next boundary: nothing in flight hears of it', () => {
    const control = createRunControl();
    const heard: string[] = [];
    control.onInterrupt(() => heard.push('interrupt'));
    control.onEnding(() => heard.push('ending'));
    control.requestStop('that will do');
    expect([control.ending, control.interruption, control.signal.aborted, heard]).toStrictEqual(['request', undefined, false, ['ending']]);
  });

  test('the first one stands, also before a signal', () => {
    const control = createRunControl();
    control.requestStop('first');
    control.requestStop('second');
    control.interrupt('signal', 'third');
    expect([control.stopRequest, control.ending]).toStrictEqual([{ by: 'request', reason: 'first' }, 'signal']);
  });

  test('without words gets some', () => {
    const control = createRunControl();
    control.requestStop('');
    expect(control.stopRequest?.reason).toBe('stop was requested');
  });
});

describe('listening', () => {
  test('after the fact is called at once', () => {
    const control = createRunControl();
    control.interrupt('deadline', 'x');
    const heard: string[] = [];
    control.onInterrupt(() => heard.push('interrupt'));
    control.onEnding(() => heard.push('ending'));
    expect(heard).toStrictEqual(['interrupt', 'ending']);
  });

  test('whoever has left is not called', () => {
    const control = createRunControl();
    const leave = control.onInterrupt(() => expect.unreachable());
    const leaveEnding = control.onEnding(() => expect.unreachable());
    leave();
    leaveEnding();
    control.interrupt('signal', 'x');
  });

  test('the signal that was asked for before aborts, and so does one asked for after', () => {
    const control = createRunControl();
    const before = control.signal;
    control.interrupt('signal', 'x');
    expect([before.aborted, control.signal === before]).toStrictEqual([true, true]);
    const late = createRunControl();
    late.interrupt('signal', 'y');
    expect([late.signal.aborted, late.signal.reason as unknown]).toStrictEqual([true, 'y']);
  });
});

describe('R2: after close no listener of ours is left on the host’s signal', () => {
  test('where it never fired', () => {
    const { signal, controller, listeners } = createWatchedSignal();
    const control = createRunControl(signal);
    expect(listeners()).toBe(1);
    control.onInterrupt(() => expect.unreachable());
    control.close();
    expect(listeners()).toBe(0);
    controller.abort();
    expect(control.interruption).toBeUndefined();
  });

  test('where it had fired before none was added', () => {
    const { signal, controller, listeners } = createWatchedSignal();
    controller.abort();
    createRunControl(signal);
    expect(listeners()).toBe(0);
  });
});
