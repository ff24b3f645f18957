import { describe, test } from 'vitest';
import { sessionRuntimeConformance } from '../../src/testing/index.ts';
import type { WorldKind } from './worlds.ts';

/** Runs the conformance suite of session runtimes in worlds; cases that a world cannot run are shown as skipped. */
export function describeWorlds(worlds: readonly WorldKind[]): void {
  for (const { name: world, make, abilities, isSerial = false } of worlds) {
    // Each case has a world of its own, and mostly waits.
    const describeAll = isSerial ? describe : describe.concurrent;
    describeAll(`session runtime on ${world}`, () => {
      for (const { name, missing, run } of sessionRuntimeConformance(make, abilities))
        test.skipIf(missing.length > 0)(missing.length > 0 ? `${name} (needs ${missing.join(', ')})` : name, run, 60_000);
    });
  }
}
