import { defineConfig } from 'vitest/config';
import { closingLine } from './scripts/closing-line.mjs';

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
    setupFiles: ['tests/support/quiet-console.ts'],
    // Loading the sources again for each file took as long as the tests. No module keeps state, so that files can share them.
    isolate: false,
    // Unless told, vitest leaves one processor free, which is half of a machine with two.
    maxWorkers: '100%',
    reporters: ['default', closingLine],
  },
}));
