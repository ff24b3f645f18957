import { defineConfig } from 'vitest/config';
import { closingLine } from '../../scripts/closing-line.mjs';

// Started by `npm run test:postgres`.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: ['shared-server.ts'],
    setupFiles: ['../support/quiet-console.ts'],
    isolate: false,
    reporters: ['default', closingLine],
  },
});
