import { createServer } from 'vite';
import { afterEach, expect, expectTypeOf, test, vi } from 'vitest';
import { root } from '../../scripts/run.mjs';
import type { EmbeddedRuntime } from '../../src/entry/sessions.ts';
import { sharedRuntime } from '../../src/entry/sessions.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import type * as module from './shared-module.ts';
import { ann, stageOn } from './stage.ts';

type SharedModule = typeof module;

afterEach(() => {
  Reflect.deleteProperty(globalThis, Symbol.for('stepline.runtimes'));
});

/** Makes runtimes on one place. */
function createMaker() {
  const { start } = stageOn(createMemoryPlace());
  return vi.fn(() => start());
}

/** Loads the module once more under another name, as bundlers in development do. */
function loadAgain(query: string): Promise<SharedModule> {
  const path = './shared-module.ts';
  // Holds: the path is that of the module.
  return import(`${path}?${query}`) as Promise<SharedModule>;
}

test('a module that is loaded twice has one runtime, which is one worker', async () => {
  const [one, other] = [await loadAgain('a'), await loadAgain('b')];
  expect(one.copy).not.toBe(other.copy);
  expect(one.runtime).toBe(other.runtime);
  expect(await other.countWorkers()).toBe(1);
  const { id } = await one.runtime.create({}, { by: ann });
  expect(await other.runtime.send(id, 'Hello.', { by: ann })).toMatchObject({ text: 'Hi.' });
  await one.end();
});

test('two copies of sharedRuntime itself share what they know', async () => {
  const path = '../../src/sessions/embedded/shared-runtime.ts';
  // Holds: the path is that of the module.
  const copy = (await import(`${path}?copy`)) as { readonly sharedRuntime: typeof sharedRuntime };
  expect(copy.sharedRuntime).not.toBe(sharedRuntime);
  const make = createMaker();
  expect(copy.sharedRuntime('one', make)).toBe(sharedRuntime('one', make));
  expect(make).toHaveBeenCalledTimes(1);
});

test('a Vite dev server that reloads everything keeps the runtime', { timeout: 60_000 }, async () => {
  const server = await createServer({
    root,
    configFile: false,
    logLevel: 'silent',
    appType: 'custom',
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    const load = (): Promise<SharedModule> => server.ssrLoadModule('/tests/sessions/shared-module.ts') as Promise<SharedModule>;
    const before = await load();
    server.moduleGraph.invalidateAll();
    const after = await load();
    expect(after.copy).not.toBe(before.copy);
    expect(after.runtime).toBe(before.runtime);
    expect(await after.countWorkers()).toBe(1);
    await after.end();
  } finally {
    await server.close();
  }
});

test('each name has a runtime of its own', () => {
  const make = createMaker();
  expect(sharedRuntime('one', make)).not.toBe(sharedRuntime('other', make));
  expect(make).toHaveBeenCalledTimes(2);
});

test('a runtime that is made asynchronously is made once, also for those who ask meanwhile', async () => {
  const make = createMaker();
  const makeLater = async (): Promise<EmbeddedRuntime> => Promise.resolve().then(make);
  const asked = [sharedRuntime('one', makeLater), sharedRuntime('one', makeLater)];
  expectTypeOf(asked).toEqualTypeOf<Promise<EmbeddedRuntime>[]>();
  const [one, other] = await Promise.all(asked);
  expect(one).toBe(other);
  expect(await sharedRuntime('one', makeLater)).toBe(one);
  expect(make).toHaveBeenCalledTimes(1);
});

test('a runtime that could not be made is tried again', async () => {
  const make = createMaker();
  make.mockImplementationOnce(() => {
    throw new Error('no database');
  });
  expect(() => sharedRuntime('one', make)).toThrow('no database');
  expectTypeOf(sharedRuntime('one', make)).toEqualTypeOf<EmbeddedRuntime>();

  const later = createMaker();
  const makeLater = async (): Promise<EmbeddedRuntime> => Promise.resolve().then(later);
  later.mockImplementationOnce(() => {
    throw new Error('no database yet');
  });
  await expect(sharedRuntime('later', makeLater)).rejects.toThrow('no database yet');
  expect(await sharedRuntime('later', makeLater)).toHaveProperty('ready');
});

test('a runtime that was drained is made anew', async () => {
  const make = createMaker();
  const first = sharedRuntime('one', make);
  await first.ready;
  await first.drain();
  const second = sharedRuntime('one', make);
  expect(second).not.toBe(first);
  expect(await second.create({}, { by: ann })).toMatchObject({ status: 'pending' });

  const makeLater = async (): Promise<EmbeddedRuntime> => Promise.resolve().then(make);
  const later = await sharedRuntime('later', makeLater);
  await later.drain();
  expect(await sharedRuntime('later', makeLater)).not.toBe(later);
});

test('a runtime that another has taken for gone is kept, and works on', async () => {
  const { start } = stageOn(createMemoryPlace());
  const make = vi.fn(() => start());
  const first = sharedRuntime('one', make);
  const { id } = await first.create({}, { by: ann });
  await start().ready;
  expect(await first.send(id, 'say Hi', { by: ann })).toMatchObject({ text: 'Hi' });
  expect(sharedRuntime('one', make)).toBe(first);
});

test('a name or a function that is missing is refused', () => {
  expect(() => sharedRuntime('', createMaker())).toThrow(/needs a name/);
  // @ts-expect-error: the function is missing
  expect(() => sharedRuntime('one')).toThrow(/needs a function/);
});
