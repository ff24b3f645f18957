import { afterAll, beforeAll, describe, test } from 'vitest';
import type { JournalWorld } from '../../../src/testing/index.ts';
import { journalConformance } from '../../../src/testing/index.ts';
import type { DbosWorld } from './dbos-world.ts';
import { createDbosWorld } from './dbos-world.ts';

let opened: DbosWorld | undefined;
const world: JournalWorld = {
  execute: (id, body) => {
    if (opened === undefined) throw new Error('The world is not open.');
    return opened.execute(id, body);
  },
};

beforeAll(async () => {
  opened = await createDbosWorld();
});
afterAll(() => opened?.dispose());

describe('dbosEngine passes the conformance suite', () => {
  for (const { name, run } of journalConformance(world)) test(name, run);
});
