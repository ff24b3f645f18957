// How much of a table is tested: `npm test` takes one subject and fewer random runs, `npm run test:slow` takes all of them.
// A file that uses this has a `.slow.test.ts` beside it that imports it.
const isSlow = process.env['MODE'] === 'slow';

/** Returns the subjects that a table of tests runs for: the first one in `npm test`, all in `npm run test:slow`. */
export function pickSubjects<Subject>(subjects: readonly Subject[]): readonly Subject[] {
  return isSlow ? subjects : subjects.slice(0, 1);
}

/** Returns the number of random runs of a property. */
export function pickRuns({ quick, slow }: { readonly quick: number; readonly slow: number }): number {
  return isSlow ? slow : quick;
}
