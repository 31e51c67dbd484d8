import { defineConfig } from 'vitest/config';

// One embedded PostgreSQL serves the whole run (globalSetup); every test file clones its own database from it.
export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'services/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['packages/testing/src/global-setup.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
