// A module of an application that has a runtime: loaded more than once by a bundler.
import { createAgent } from '../../src/entry/index.ts';
import { createMemoryPlace, createSessionRuntime, sharedRuntime } from '../../src/entry/sessions.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const agent = createAgent({ id: 'desk', model: scriptedModel([{ text: 'Hi.' }], { repeatLast: true }), tools: [] });
const placeKey = Symbol.for('stepline.test.place');

/** A place that all copies of this module share, as a database is. */
function getPlace(): ReturnType<typeof createMemoryPlace> {
  const known: unknown = Reflect.get(globalThis, placeKey);
  if (known === undefined) Reflect.set(globalThis, placeKey, createMemoryPlace());
  // Holds: it was just set.
  return Reflect.get(globalThis, placeKey) as ReturnType<typeof createMemoryPlace>;
}

/** A new object for each copy of the module. */
export const copy: object = {};
export const runtime = sharedRuntime('shared-module', () => createSessionRuntime({ agents: [agent], store: getPlace().open() }));

/** Returns the number of workers that the place has. */
export async function countWorkers(): Promise<number> {
  await runtime.ready;
  return (await getPlace().open().leases.workers()).length;
}

/** Ends the runtime, and forgets the place. */
export async function end(): Promise<void> {
  await runtime.drain();
  Reflect.deleteProperty(globalThis, placeKey);
}
