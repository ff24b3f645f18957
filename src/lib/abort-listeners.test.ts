import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { onAbort, shareAbortListener } from './abort-listeners.ts';

function setUp({ isShared }: { readonly isShared: boolean }) {
  const controller = new AbortController();
  if (isShared) shareAbortListener(controller.signal);
  const called: string[] = [];
  const wait = (name: string): (() => void) => onAbort(controller.signal, () => called.push(name));
  return { controller, called, wait, count: () => getEventListeners(controller.signal, 'abort').length };
}

describe.each([true, false])('waiting for a signal to abort (shared: %s)', (isShared) => {
  test('calls everybody who has not left, once', () => {
    const { controller, called, wait } = setUp({ isShared });
    wait('first');
    const leave = wait('second');
    wait('third');
    leave();
    wait('fourth');
    controller.abort();
    controller.abort();
    expect(called.toSorted()).toEqual(['first', 'fourth', 'third']);
  });

  test('leaving twice takes nobody else away', () => {
    const { controller, called, wait } = setUp({ isShared });
    const leave = wait('first');
    leave();
    wait('second');
    leave();
    controller.abort();
    expect(called).toEqual(['second']);
  });

  test('calls at once if the signal has aborted', () => {
    const { controller, called, wait } = setUp({ isShared });
    wait('before');
    controller.abort();
    wait('after')();
    expect(called).toEqual(['before', 'after']);
  });
});

describe('the listeners on the signal', () => {
  test('a shared signal has one, however many wait', () => {
    const { wait, count } = setUp({ isShared: true });
    expect(count()).toBe(0);
    for (let round = 0; round < 20; round += 1) wait(`left ${round}`)();
    wait('stays');
    wait('stays, too');
    expect(count()).toBe(1);
  });

  test('a signal that is not shared has none once everybody has left', () => {
    const { wait, count } = setUp({ isShared: false });
    const leave = [wait('first'), wait('second')];
    expect(count()).toBe(2);
    leave.forEach((each) => each());
    expect(count()).toBe(0);
  });
});
