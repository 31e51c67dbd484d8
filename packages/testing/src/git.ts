import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './small-process.ts';

/** Nothing of the developer's own configuration reaches git in a test. */
export const gitEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.test',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.test',
};

/** Runs the git program a developer would run; rejects with its standard error in the message. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const stdout = await runProgram({ file: 'git', args, folder, environment: gitEnvironment });
  return stdout.trim();
}

/** Where folders are on a disk, when temporary ones are in memory: for what asks something of the disk. */
export const diskFolder: string = process.env['CROFT_TEST_DISK'] ?? tmpdir();

/** An empty folder of the test's own, removed when disposed. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'croft-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}
