// Finds the position at which a text stops being JSON, so that a model can correct its own arguments. Engines say it in different
// words, or not at all; what a model reads must not depend on the engine.
import { JsonScanner } from '../lib/index.ts';
import { clipText } from './clip-text.ts';

/** Describes the position at which a text stops being JSON; undefined if it is JSON. */
export function findJsonProblem(text: string): string | undefined {
  const scanner = new JsonScanner();
  scanner.take(text);
  const problem = scanner.end();
  if (problem === undefined) return undefined;
  const { at, expected } = problem;
  const before = text.slice(0, at).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
  const found = at >= text.length ? 'but the text ends' : `found ${JSON.stringify(clipText(text.slice(at, at + 40), 20))}`;
  return `at ${place}: expected ${expected}, ${found}`;
}
