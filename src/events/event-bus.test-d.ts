import { expectTypeOf, test } from 'vitest';
import { BaseEvent } from './base-event.ts';
import type { EventBus, EventOfType } from './event-bus.ts';
import { createEventBus } from './event-bus.ts';
import type { EventSink } from './event-sink.ts';

class Opened extends BaseEvent {
  readonly type = 'Opened';
  readonly door: string = 'front';
  override describe(): string {
    return this.door;
  }
}

class Counted extends BaseEvent {
  readonly type = 'Counted';
  readonly count: number = 1;
  override describe(): string {
    return String(this.count);
  }
}

const bus = createEventBus<Opened | Counted>();

test('on(type) narrows the event to that type', () => {
  bus.on('Opened', (event) => {
    expectTypeOf(event).toEqualTypeOf<Opened>();
    expectTypeOf(event.door).toBeString();
    // @ts-expect-error -- count belongs to the other event
    event.count;
  });
  bus.on('Counted', (event) => {
    expectTypeOf(event).toEqualTypeOf<Counted>();
  });
  expectTypeOf<EventOfType<Opened | Counted, 'Counted'>>().toEqualTypeOf<Counted>();
});

test('a type that no event has cannot be listened for', () => {
  // @ts-expect-error -- there is no such event
  bus.on('Exploded', () => undefined);
});

test('a wiretap hears the whole union', () => {
  bus.wiretap((event) => {
    expectTypeOf(event).toEqualTypeOf<Opened | Counted>();
  });
});

test('an event outside the union cannot be emitted', () => {
  class Other extends BaseEvent {
    readonly type = 'Other';
    override describe(): string {
      return 'other';
    }
  }
  // @ts-expect-error -- the bus does not know this event
  bus.emit(new Other({ id: '', seq: 0, at: 0, agentId: '', executionId: '', stepNumber: 0 }));
});

test('a listener may return anything, a promise too; leaving takes nothing and gives nothing', () => {
  expectTypeOf(bus.on('Opened', async () => 1)).toEqualTypeOf<() => void>();
});

test('a bus is a sink', () => {
  expectTypeOf<EventBus<Opened>>().toExtend<EventSink<Opened>>();
});
