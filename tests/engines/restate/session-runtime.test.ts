import { afterAll, describe, test } from 'vitest';
import { sessionRuntimeConformance } from '../../../src/testing/index.ts';
import type { RuntimeWorldFactory } from '../../../src/testing/index.ts';
import { startRestate } from './server.ts';
import { createRestateWorlds } from './worlds.ts';

const server = await startRestate();
afterAll(() => server.dispose());

describe('session runtime on Restate', () => {
  const make: RuntimeWorldFactory = createRestateWorlds(server);
  for (const { name, missing, run } of sessionRuntimeConformance(make, ['kill', 'drain', 'client']))
    test.skipIf(missing.length > 0)(missing.length > 0 ? `${name} (needs ${missing.join(', ')})` : name, run, 60_000);
});
