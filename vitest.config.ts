import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { closingLine } from './scripts/closing-line.mjs';
import { LongestFirst } from './scripts/longest-first.mjs';

const slow = '**/*.slow.test.ts';
// Need packages of their own: `npm run test:postgres`, `npm run test:engines`, `npm run test:browser`.
const apart = ['tests/postgres/**', 'tests/engines/**', 'tests/browser/**'];

// `vitest run` leaves the slow tests out; `vitest run --mode slow` runs only them.
export default defineConfig(({ mode }) => ({
  test: {
    include:
      mode === 'slow'
        ? ['src/**/*.slow.test.ts', 'tests/**/*.slow.test.ts']
        : ['src/**/*.test.ts', 'tests/**/*.test.ts', 'page/**/*.test.{ts,tsx}', 'bench/*.test.ts', 'bench/peers/*.test.ts'],
    exclude: mode === 'slow' ? apart : [slow, ...apart],
    passWithNoTests: mode === 'slow',
    testTimeout: mode === 'slow' ? 300_000 : 20_000,
    // Processes that tests start read the compiled sources from here, which halves the time that a start takes.
    env: mode === 'slow' ? { NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/compile', import.meta.url)) } : {},
    setupFiles: ['tests/support/quiet-console.ts'],
    // Loading the sources again for each file took as long as the tests. No module keeps state, so that files can share them.
    isolate: false,
    // Unless told, vitest leaves one processor free, which is half of a machine with two.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    reporters: ['default', closingLine],
  },
}));
