// An event that was just emitted and the same event read from a store are described in the same words.
import { expect, it } from 'vitest';
import { entryPoints } from '../scripts/entry-points.mjs';
import { BaseEvent, describeEvent } from '../src/events/index.ts';
import { readEventFields } from './support/event-fields.ts';

const modules = await Promise.all(entryPoints.map(async ({ source }) => (await import(source)) as Record<string, unknown>));
const exported = new Map(modules.flatMap((module) => Object.entries(module)));

it.each([...readEventFields().events.keys()])('%s describes itself the same way after it is stored', (type) => {
  const eventClass = exported.get(type);
  if (typeof eventClass !== 'function') throw new TypeError(`${type} is not exported`);
  // Holds: the prototype of a class is an object. Words read the fields of an event, and work without them.
  const event = Object.assign(Object.create(eventClass.prototype as object) as BaseEvent, { type });
  expect(event).toBeInstanceOf(BaseEvent);
  expect(event.describe()).toBe(describeEvent({ type }));
  // An event without words of its own is described by its type.
  expect(event.describe()).not.toBe(type);
});
