import { statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import ClosingLine from './packages/testing/src/closing-line.ts';

// They keep a daemon for each write, and a pool for each on ZFS, and kill them again and again: beside other tests zfs-fuse, of which
// there is one on a machine, gets stuck for a minute. All at once, as they wait for each other's processes most of the time.
const steps = ['services/state/test/*step*.test.ts'];

/**
 * Those that take two minutes to five, of which one that begins last keeps the steps waiting. Others begin by the length of their
 * files, so that a short one with much in it, such as the scenarios of all drivers, would be that one.
 */
const LONG =
  /(first-light|drivers|drivers-transfer|chromium|merging-differential|git-memory|hostile-homes)\.test\.ts$/;

/** In bytes: a whole run had 2.2 GB of files at once, and its processes want the rest. */
const ROOM = 12 * 2 ** 30;

// Git, PostgreSQL and the pools make and remove hundreds of thousands of small files, for each of which ext4 looks through what was
// removed in the last minutes. In memory, where there is room, the file with most of them took 64 s instead of 77.
/* oxlint-disable node/no-process-env -- every process of the tests takes its temporary folder from there */
process.env['CROFT_TEST_DISK'] ??= tmpdir();
process.env['TMPDIR'] ??= memoryFolder() ?? tmpdir();
/* oxlint-enable node/no-process-env */

function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return Math.min(bavail * bsize, freemem(), process.availableMemory()) < ROOM ? undefined : '/dev/shm';
  } catch {
    return undefined;
  }
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const [long, others] = [true, false].map((isLong) =>
      files.filter(({ moduleId }) => LONG.test(moduleId) === isLong),
    );
    return [...(long ?? []), ...(await super.sort(others ?? []))];
  }
}

const common = {
  pool: 'forks',
  // Most of a test's time is spent waiting for other processes: git, PostgreSQL, Croft itself.
  maxWorkers: 3,
  setupFiles: 'packages/testing/src/start-elsewhere.ts',
  // Several times what the slowest takes: an hour in which the machine is a third as fast is no defect. What takes longer says so.
  testTimeout: 150_000,
  hookTimeout: 150_000,
  // Where mkfs and losetup are, which root has not on its path after `su`.
  // oxlint-disable-next-line node/no-process-env -- it is added to, for every process of the tests
  env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  // What is waited for comes; a busy machine takes longer than the second that is the default.
  expect: { poll: { timeout: 40_000 } },
} as const;

export default defineConfig({
  test: {
    reporters: ['default', new ClosingLine()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'all',
          include: ['packages/**/*.test.ts', 'services/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...steps],
          // Files share processes, whose code is compiled and warm: 22 files of the forge took 117 s of the processor instead of 152.
          // So what a helper wants before and after the tests of a file it says in a function that the file calls; at its top it
          // would be for the first file only.
          isolate: false,
          // One embedded PostgreSQL serves the whole run; every test file clones its own database from it.
          globalSetup: ['packages/testing/src/global-setup.ts'],
        },
      },
      // When all others have ended.
      { test: { ...common, name: 'steps', maxWorkers: 6, include: steps, sequence: { groupOrder: 1 } } },
    ],
  },
});
