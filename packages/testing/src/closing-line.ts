import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line, `N passed, N failed, N skipped`, which every CI can read. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      // A file that fails outside its tests, at its imports for instance, has no test to count.
      if (module.errors().length > 0) count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    // After the summary of the default reporter, which prints at the same event.
    process.once('exit', () =>
      process.stdout.write(
        `${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped\n`,
      ),
    );
  }
}
