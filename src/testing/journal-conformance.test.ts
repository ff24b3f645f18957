import { describe, expect, test } from 'vitest';
import type { DurableEngine } from '../journal/index.ts';
import { memoryEngine } from '../journal/index.ts';
import { journalConformance } from './journal-conformance.ts';
import type { JournalWorld } from './journal/journal-world.ts';

const crashed = new Error('crashed');

/** An in-memory engine whose sleeps are recorded and end at once. */
function createWorld(change: (engine: DurableEngine) => DurableEngine = (engine) => engine): JournalWorld {
  const journals = new Map<string, string[]>();
  const toJournal = (id: string): string[] => {
    const journal = journals.get(id) ?? [];
    journals.set(id, journal);
    return journal;
  };
  const toEngine = (id: string): DurableEngine => {
    const engine = memoryEngine(toJournal(id));
    return change({ ...engine, sleep: (ms) => engine.record(() => ms).then(() => undefined) });
  };
  return {
    execute: async (id, body) => {
      for (;;) {
        try {
          return await body({ engine: toEngine(id), crash: () => Promise.reject(crashed) });
        } catch (error) {
          if (error !== crashed) throw error;
        }
      }
    },
  };
}

describe('memoryEngine passes the conformance suite', () => {
  for (const { name, run } of journalConformance(createWorld())) test(name, run);
});

describe('the suite detects an engine', () => {
  const findFailures = async (world: JournalWorld): Promise<readonly string[]> => {
    const failed: string[] = [];
    for (const { name, run } of journalConformance(world)) {
      try {
        await run();
      } catch {
        failed.push(name);
      }
    }
    return failed;
  };

  test('that forgets what it has recorded', async () => {
    const world: JournalWorld = {
      execute: async (_, body) => {
        for (;;) {
          try {
            return await body({ engine: memoryEngine(), crash: () => Promise.reject(crashed) });
          } catch (error) {
            if (error !== crashed) throw error;
          }
        }
      },
    };
    expect(await findFailures(world)).toContain('reaches the same end after a crash at any operation, after it is recorded');
  });

  test('that changes values', async () => {
    const blur = (value: unknown): never => JSON.parse(JSON.stringify(value).replaceAll('note', 'nose')) as never;
    const world = createWorld((engine) => ({ ...engine, record: async (make) => engine.record(() => blur(make())) }));
    expect((await findFailures(world)).length).toBeGreaterThan(0);
  });
});
