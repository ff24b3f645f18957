import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EventHeader } from './base-event.ts';
import { BaseEvent } from './base-event.ts';
import type { EventBus, Unsubscribe } from './event-bus.ts';
import { createEventBus } from './event-bus.ts';
import { reportToConsole } from './event-sink.ts';

class Opened extends BaseEvent {
  readonly type = 'Opened';
  override describe(): string {
    return 'opened';
  }
}

class Closed extends BaseEvent {
  readonly type = 'Closed';
  override describe(): string {
    return 'closed';
  }
}

type TestEvent = Opened | Closed;

const header: EventHeader = { id: 'e', seq: 1, at: 0, agentId: 'a', executionId: 'x', stepNumber: 1 };
const opened = new Opened(header);
const closed = new Closed(header);

interface Problem {
  readonly error: unknown;
  readonly where: string;
}

function createHouse(): { readonly bus: EventBus<TestEvent>; readonly heard: string[]; readonly problems: Problem[] } {
  const problems: Problem[] = [];
  return { bus: createEventBus<TestEvent>((error, where) => problems.push({ error, where })), heard: [], problems };
}

const rejectWith = (error: unknown): Promise<never> => Promise.reject(error);
const waitForTimers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

afterEach(() => {
  vi.restoreAllMocks();
});

describe('who hears what', () => {
  test('a listener hears the events of its type, the very same object', () => {
    const { bus } = createHouse();
    const heard: TestEvent[] = [];
    bus.on('Opened', (event) => heard.push(event));
    bus.emit(opened);
    bus.emit(closed);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toBe(opened);
  });

  test('a wiretap hears everything', () => {
    const { bus, heard } = createHouse();
    bus.wiretap((event) => heard.push(event.type));
    bus.emit(opened);
    bus.emit(closed);
    expect(heard).toStrictEqual(['Opened', 'Closed']);
  });

  test('an event that nobody listens for is no problem', () => {
    const { bus, problems } = createHouse();
    bus.emit(opened);
    expect(problems).toStrictEqual([]);
  });

  test('two buses share nothing', () => {
    const [first, second] = [createHouse(), createHouse()];
    first.bus.wiretap(() => first.heard.push('first'));
    second.bus.emit(opened);
    expect(first.heard).toStrictEqual([]);
  });
});

describe('B1: listeners of a type hear in the order they joined; wiretaps hear after them', () => {
  test('also when the wiretap joined first', () => {
    const { bus, heard } = createHouse();
    bus.wiretap(() => heard.push('tap 1'));
    bus.on('Opened', () => heard.push('typed 1'));
    bus.wiretap(() => heard.push('tap 2'));
    bus.on('Opened', () => heard.push('typed 2'));
    bus.emit(opened);
    expect(heard).toStrictEqual(['typed 1', 'typed 2', 'tap 1', 'tap 2']);
  });
});

describe('B2: a listener that throws or rejects is reported and changes nothing', () => {
  test('the others hear, and emit does not throw', () => {
    const { bus, heard, problems } = createHouse();
    const error = new Error('typed listener broke');
    bus.on('Opened', () => {
      throw error;
    });
    bus.on('Opened', () => heard.push('typed'));
    bus.wiretap(() => {
      throw 'tap broke' as unknown;
    });
    bus.wiretap(() => heard.push('tap'));
    bus.emit(opened);
    expect(heard).toStrictEqual(['typed', 'tap']);
    expect(problems).toStrictEqual([
      { error, where: 'a listener of Opened' },
      { error: 'tap broke', where: 'a listener of Opened' },
    ]);
  });

  test('a rejected promise is reported', async () => {
    const { bus, heard, problems } = createHouse();
    const error = new Error('later');
    bus.on('Closed', () => rejectWith(error));
    bus.on('Closed', () => heard.push('typed'));
    bus.emit(closed);
    expect(heard).toStrictEqual(['typed']);
    await waitForTimers();
    expect(problems).toStrictEqual([{ error, where: 'a listener of Closed' }]);
  });

  test('a listener that threw hears the next event', () => {
    const { bus, problems } = createHouse();
    bus.on('Opened', () => {
      throw new Error('again');
    });
    bus.emit(opened);
    bus.emit(opened);
    expect(problems).toHaveLength(2);
  });

  test('a reporter that throws changes nothing either', async () => {
    const heard: string[] = [];
    const bus = createEventBus<TestEvent>(() => {
      throw new Error('the reporter broke');
    });
    bus.on('Opened', () => {
      throw new Error('the listener broke');
    });
    bus.on('Opened', () => rejectWith(new Error('later')));
    bus.on('Opened', () => heard.push('typed'));
    bus.emit(opened);
    await waitForTimers();
    expect(heard).toStrictEqual(['typed']);
  });

  test('without a reporter the problem goes to the console', () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const bus = createEventBus<TestEvent>();
    const error = new Error('broke');
    bus.wiretap(() => {
      throw error;
    });
    bus.emit(opened);
    expect(written).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('stepline: a listener of Opened failed; nothing else was disturbed. Error: broke'),
    );
  });

  test('what goes to the console tells the cause, and what an object says', () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    reportToConsole(new Error('outer', { cause: new Error('the real reason') }), 'x');
    reportToConsole({ code: 42 }, 'x');
    expect(String(written.mock.calls[0])).toContain('because of Error: the real reason');
    expect(String(written.mock.calls[1])).toContain('{"code":42}');
  });

  test('what goes to the console has no secrets in it', () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const bus = createEventBus<TestEvent>();
    bus.wiretap(() => {
      throw new Error('401 for Bearer abcdefghijklmnopqrstuvwxyz0123456789');
    });
    bus.emit(opened);
    expect(String(written.mock.calls)).not.toContain('abcdefghijklmnop');
  });
});

describe('B3: a listener that joins or leaves while an event is told takes effect with the next event', () => {
  test('joining', () => {
    const { bus, heard } = createHouse();
    const first = bus.on('Opened', () => {
      first();
      bus.on('Opened', () => heard.push('typed'));
      bus.wiretap(() => heard.push('tap'));
    });
    bus.emit(opened);
    expect(heard).toStrictEqual([]);
    bus.emit(opened);
    expect(heard).toStrictEqual(['typed', 'tap']);
  });

  test('leaving', () => {
    const { bus, heard } = createHouse();
    const leaving: Unsubscribe[] = [];
    bus.on('Opened', () => {
      for (const leave of leaving) leave();
    });
    leaving.push(bus.on('Opened', () => heard.push('typed')));
    leaving.push(bus.wiretap(() => heard.push('tap')));
    bus.emit(opened);
    expect(heard).toStrictEqual(['typed', 'tap']);
    bus.emit(opened);
    expect(heard).toStrictEqual(['typed', 'tap']);
  });
});

describe("B4: a listener's promise is never awaited", () => {
  test('the next listener hears before it settles', async () => {
    const { bus, heard } = createHouse();
    bus.on('Opened', async () => {
      heard.push('slow begins');
      await waitForTimers();
      heard.push('slow ends');
    });
    bus.on('Opened', () => heard.push('quick'));
    bus.emit(opened);
    heard.push('emit returned');
    await waitForTimers();
    await waitForTimers();
    expect(heard).toStrictEqual(['slow begins', 'quick', 'emit returned', 'slow ends']);
  });
});

describe('leaving', () => {
  test('a listener that left hears nothing more; leaving twice is harmless', () => {
    const { bus, heard } = createHouse();
    const leaveTyped = bus.on('Opened', () => heard.push('typed'));
    const leaveTap = bus.wiretap(() => heard.push('tap'));
    bus.on('Opened', () => heard.push('stays'));
    leaveTyped();
    leaveTyped();
    leaveTap();
    leaveTap();
    bus.emit(opened);
    expect(heard).toStrictEqual(['stays']);
  });

  test('a function that joined twice hears twice and leaves one place at a time', () => {
    const { bus, heard } = createHouse();
    const listener = (): unknown => heard.push('heard');
    const leave = bus.on('Opened', listener);
    bus.on('Opened', listener);
    const leaveTap = bus.wiretap(listener);
    bus.wiretap(listener);
    bus.emit(opened);
    leave();
    leaveTap();
    bus.emit(opened);
    expect(heard).toHaveLength(4 + 2);
  });
});
