import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'vitest';

// oxlint-disable-next-line node/no-process-env -- what the machine has and what CI promises
const { PATH = '', TEST_EVERYTHING } = process.env;

/** Whether a program of the system is there: tests have those of root on their path, too (vitest.config.ts). */
export function hasProgram(name: string): boolean {
  return PATH.split(delimiter).some((folder) => existsSync(join(folder, name)));
}

/** The path of the first of these programs that is there. */
export function findProgram(...names: string[]): string | undefined {
  return names
    .flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** The path of Debian's or somebody else's Chromium. */
export const findChromium = () => findProgram('chromium', 'chromium-browser', 'google-chrome');

/** Skips a test for want of something, except where .ci/run has brought it. */
export function skipWithout(context: TestContext, what: string): never {
  if (TEST_EVERYTHING === '1') throw new Error(`${what} is missing`);
  return context.skip(`${what} is missing; .ci/run brings it`);
}
