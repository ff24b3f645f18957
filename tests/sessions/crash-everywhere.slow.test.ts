// The whole product of deaths and failures, of which crash-everywhere.test.ts takes a sample.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { expectCutOffAt, expectSameEnd } from './expect-ten-steps.ts';
import { findMoments, run, storeMoment } from './run-ten-steps.ts';

const quiet = await run();
const all = findMoments(quiet, /./);

describe('a process that dies', () => {
  test.each(all)('at moment %i: %s', async (death) => {
    const { lived, moments } = await run({ deaths: [death] });
    expectCutOffAt(moments.slice(0, death), lived);
    expectSameEnd(quiet.lived, lived);
  });
});

describe('a second process that dies while it takes up what the first one left', () => {
  test.each(all)('the first at moment %i: %s', async (death) => {
    for (let later = 1; later <= 24; later += 1) {
      const { lived } = await run({ deaths: [death, death + later] });
      expect(() => expectSameEnd(quiet.lived, lived), `and ${later} later`).not.toThrow();
    }
  });
});

describe('a process that dies over a file', () => {
  test.each(all)('at moment %i: %s', async (death) => {
    const folder = mkdtempSync(join(tmpdir(), 'stepline-crash-'));
    try {
      const { lived, moments } = await run({ deaths: [death], open: () => sqliteStore({ path: join(folder, 'sessions.db') }) });
      expectCutOffAt(moments.slice(0, death), lived);
      expectSameEnd(quiet.lived, lived);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a store that fails one operation, in a process that lives on', () => {
  test.each(findMoments(quiet, storeMoment))('at moment %i: %s', async (failure) => {
    const { lived } = await run({ failures: [failure] });
    expectSameEnd(quiet.lived, lived);
  });
});

test('any number of deaths at any moments', async () => {
  const deaths = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { minLength: 3, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(deaths, async (given) => {
      expectSameEnd(quiet.lived, (await run({ deaths: given })).lived);
    }),
    { numRuns: 500 },
  );
});
