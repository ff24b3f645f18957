import { describe, expect, test } from 'vitest';
import type { EventHeader } from './base-event.ts';
import { BaseEvent } from './base-event.ts';

class DoorOpened extends BaseEvent {
  readonly type = 'DoorOpened';
  readonly door: string;

  constructor(header: EventHeader, door: string) {
    super(header);
    this.door = door;
  }

  override describe(): string {
    return `opened the ${this.door} door`;
  }
}

const header: EventHeader = { id: 'event-1', seq: 3, at: 1_767_225_600_000, agentId: 'agent-one', executionId: 'run-1', stepNumber: 2 };

describe('an event as text', () => {
  test('says who, which step, and what', () => {
    expect(String(new DoorOpened(header, 'front'))).toBe('Agent [agent-one] step 2: opened the front door');
  });

  test('names no step before the first one', () => {
    expect(String(new DoorOpened({ ...header, stepNumber: 0 }, 'front'))).toBe('Agent [agent-one]: opened the front door');
  });

  test('shortens a UUIDv7 to its end, where agents of the same minute differ', () => {
    const agentId = '019b76da-a800-7c3e-8f00-0123456789ab';
    expect(String(new DoorOpened({ ...header, agentId }, 'back'))).toBe('Agent [456789ab] step 2: opened the back door');
  });
});

describe('an event as data', () => {
  test('is plain JSON: its header, its type and its own fields', () => {
    const event = new DoorOpened({ ...header, parentAgentId: 'parent' }, 'front');
    expect(JSON.parse(JSON.stringify(event))).toStrictEqual({ ...header, parentAgentId: 'parent', type: 'DoorOpened', door: 'front' });
  });

  test('has null for a parent if there is none', () => {
    const event = new DoorOpened(header, 'front');
    expect(structuredClone({ ...event })).toStrictEqual({ ...header, parentAgentId: null, type: 'DoorOpened', door: 'front' });
  });

  test('takes nothing from the header but what belongs there', () => {
    const event = new DoorOpened({ ...header, secret: 'x' } as EventHeader, 'front');
    expect(JSON.stringify(event)).not.toContain('secret');
  });
});
