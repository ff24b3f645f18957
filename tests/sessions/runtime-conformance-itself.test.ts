// The conformance suite of session runtimes notices runtimes that break a promise.
import { describe, expect, test } from 'vitest';
import { SteplineError } from '../../src/lib/index.ts';
import type { RuntimeWorldFactory, RuntimeWorld } from '../../src/testing/index.ts';
import { sessionRuntimeConformance, WorldAbility } from '../../src/testing/index.ts';
import type { Breaking } from './broken-runtimes.ts';
import { broken } from './broken-runtimes.ts';
import { memoryWorlds } from './worlds.ts';

const [{ make: alone }, { make: parted }] = memoryWorlds;

const breakWorld =
  (make: RuntimeWorldFactory, breaking: Breaking): RuntimeWorldFactory =>
  async (options) => {
    const world = await make(options);
    const broken = breaking(world);
    return new Proxy(world, { get: (target, name) => Reflect.get(name in broken ? broken : target, name) as unknown });
  };

type Abilities = (typeof memoryWorlds)[number]['abilities'];

const findCase = (name: string, make: RuntimeWorldFactory, abilities: Abilities) =>
  sessionRuntimeConformance(make, abilities).find((each) => each.name === name);

const names = sessionRuntimeConformance(parted).map(({ name }) => name);

describe.concurrent('the conformance suite of session runtimes', () => {
  test('is tested with a broken runtime for each of its cases', () => {
    expect(names.filter((name) => broken[name] === undefined)).toStrictEqual([]);
    expect(Object.keys(broken).filter((name) => !names.includes(name))).toStrictEqual([]);
  });

  test.each(Object.entries(broken))(
    'notices a runtime that breaks: %s',
    async (name, breaking) => {
      const needsClient = findCase(name, alone, ['kill', 'drain', 'time', 'workers'])?.missing.includes('client');
      const found = findCase(name, breakWorld(needsClient === true ? parted : alone, breaking), Object.values(WorldAbility));
      await expect(found?.run()).rejects.toBeInstanceOf(SteplineError);
    },
    60_000,
  );

  test('names the abilities that a world lacks, and does not pass a case silently that it cannot run', async () => {
    const all = sessionRuntimeConformance(alone, []);
    const impossible = all.filter(({ missing }) => missing.length > 0);
    expect(impossible.length).toBeGreaterThan(20);
    for (const { run } of impossible) await expect(run()).rejects.toThrow(/lacks .* Skip this case/);
    expect(sessionRuntimeConformance(parted).filter(({ missing }) => missing.length > 0)).toStrictEqual([]);
  });

  test('fails a world that says it has an ability and has not', async () => {
    const name = 'takes an approval after the worker was killed and started again';
    const withoutKill = breakWorld(alone, () => ({ kill: undefined }) as unknown as Partial<RuntimeWorld>);
    const found = findCase(name, withoutKill, ['kill']);
    await expect(found?.run()).rejects.toThrow('has the ability kill, but not the method');
  });
});
