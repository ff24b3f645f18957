import { describe, expect, test } from 'vitest';
import type { DurableEngine } from '../journal/index.ts';
import { memoryEngine } from '../journal/index.ts';
import { journalConformance } from './journal-conformance.ts';
import type { JournalWorld } from './journal/journal-world.ts';

const crashed = new Error('crashed');

/** An engine in memory whose time is its own: a sleep is recorded, and over at once. */
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

describe('an engine in memory keeps the promises of an engine', () => {
  for (const { name, run } of journalConformance(createWorld())) test(name, run);
});

describe('the suite notices an engine', () => {
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
    expect(await findFailures(world)).toContain('comes to the same end after a crash behind any operation that was recorded');
  });

  test('that changes values', async () => {
    const blur = (value: unknown): never => JSON.parse(JSON.stringify(value).replaceAll('note', 'nose')) as never;
    const world = createWorld((engine) => ({ ...engine, record: async (make) => engine.record(() => blur(make())) }));
    expect((await findFailures(world)).length).toBeGreaterThan(0);
  });
});
