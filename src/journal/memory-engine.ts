import type { Json } from '../lib/index.ts';
import { sleep, systemClock } from '../lib/index.ts';
import type { Clock } from '../lib/index.ts';
import type { DurableEngine } from './durable-engine.ts';

/**
 * Creates an engine with an in-memory journal, a list of JSON texts. Use it in tests, and to inspect what is recorded. Another engine with
 * the same list replays it.
 */
export function memoryEngine(journal: string[] = [], clock: Clock = systemClock): DurableEngine {
  let place = 0;
  const replay = (make: () => Json): Json => {
    const text = (journal[place] ??= JSON.stringify(make()));
    place += 1;
    return JSON.parse(text) as Json;
  };
  return {
    // Holds: this function wrote the value that it reads.
    record: async <Value extends Json>(make: () => Value) => replay(make) as Value,
    sleep: async (ms) => {
      const until = replay(() => clock.now() + ms);
      await sleep(clock, Math.max(0, Number(until) - clock.now()));
    },
  };
}
