// A process may die at any moment of a run, and a store may fail; the run comes to the same end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { listInterrupted, expectCutOffAt, expectSameEnd } from './expect-ten-steps.ts';
import type { Moment } from './run-ten-steps.ts';
import { findMoments, run, storeMoment } from './run-ten-steps.ts';

const quiet = await run();

const momentsLike = (label: RegExp): readonly Moment[] => findMoments(quiet, label);

test('a run in which nobody dies does each piece of work once and has two hundred moments to die at', () => {
  expect(new Set(quiet.lived.world.done.values())).toStrictEqual(new Set([1]));
  expect(quiet.moments.length).toBeGreaterThan(200);
  expect(listInterrupted(quiet.lived.open)).toStrictEqual(new Set());
  expectSameEnd(quiet.lived, quiet.lived);
});

// Every third moment; crash-everywhere.slow.test.ts has them all.
describe('a process that dies', () => {
  test.each(momentsLike(/./).filter((_, index) => index % 3 === 1))('at moment %i: %s', async (death) => {
    const { lived, moments } = await run({ deaths: [death] });
    expect(moments.length).toBeGreaterThan(death);
    expectCutOffAt(moments.slice(0, death), lived);
    expectSameEnd(quiet.lived, lived);
  });
});

describe('a second process that dies while it takes up what the first one left', () => {
  const first = momentsLike(/^after (work|write intent \S*tool|write entry (9|10)\b)/).filter((_, index) => index % 6 === 0);
  const pairs = first.flatMap(([death, moment]) => [1, 4, 7, 10].map((later) => [death, later, moment] as const));
  test.each(pairs)('at moment %i and %i later: %s', async (death, later) => {
    const { lived } = await run({ deaths: [death, death + later] });
    expectSameEnd(quiet.lived, lived);
  });
});

describe('a process that dies over a file', () => {
  const sample = momentsLike(/tool\/3\/|work (pay|book)|entry (2|9)\b/);
  test.each(sample)('at moment %i: %s', async (death) => {
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
  const sample = momentsLike(storeMoment).filter((_, index) => index % 8 === 3);
  test.each(sample)('at moment %i: %s', async (failure) => {
    const { lived } = await run({ failures: [failure] });
    expectSameEnd(quiet.lived, lived);
  });
});
