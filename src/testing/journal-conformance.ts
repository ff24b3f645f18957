import type { ConformanceCase } from './conformance.ts';
import { crashCases } from './journal/crash-cases.ts';
import type { JournalCases } from './journal/journal-stage.ts';
import { JournalStage } from './journal/journal-stage.ts';
import type { JournalWorld } from './journal/journal-world.ts';
import { outputCases } from './journal/output-cases.ts';
import { runningCases } from './journal/running-cases.ts';

const cases: JournalCases = { ...crashCases, ...runningCases, ...outputCases };

/**
 * Conformance cases for an engine of runDurably(). Runs have four parallel calls in a step and an async hook, because a simple run hides
 * ordering bugs.
 */
export function journalConformance(world: JournalWorld): readonly ConformanceCase[] {
  return Object.entries(cases).map(([name, check]) => ({ name, run: () => check(new JournalStage(world)) }));
}
