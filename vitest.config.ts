import { defineConfig } from 'vitest/config';
import ClosingLine from './packages/testing/src/closing-line.ts';

// One embedded PostgreSQL serves the whole run (globalSetup); every test file clones its own database from it.
export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'services/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['packages/testing/src/global-setup.ts'],
    reporters: ['default', new ClosingLine()],
    pool: 'forks',
    // Most of a test's time is spent waiting for other processes: git, PostgreSQL, Croft itself.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What is waited for comes; a busy machine takes longer than the second that is the default.
    expect: { poll: { timeout: 15_000 } },
  },
});
