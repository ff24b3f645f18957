import { defineConfig } from 'vitest/config';
import { closingLine } from '../../scripts/closing-line.mjs';

// Started by `npm run test:browser`.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    globalSetup: ['shared-browser.ts'],
    setupFiles: ['../support/quiet-console.ts'],
    isolate: false,
    // One browser, and one file at a time: a test measures how soon a page is up to date.
    fileParallelism: false,
    reporters: ['default', closingLine],
  },
});
