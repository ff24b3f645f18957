import { defineConfig } from 'vitest/config';
import { closingLine } from '../../scripts/closing-line.mjs';

// Started by `npm run test:engines`.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    setupFiles: ['../support/quiet-console.ts'],
    // Each file has servers and processes of its own: one file after the other.
    fileParallelism: false,
    passWithNoTests: true,
    reporters: ['default', closingLine],
  },
});
