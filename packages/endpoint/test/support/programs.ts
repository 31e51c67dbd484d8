import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'vitest';

// oxlint-disable-next-line node/no-process-env -- what the machine has and what CI promises
const { PATH = '', TEST_EVERYTHING } = process.env;

/** Where .ci/run puts the Nodes that Croft itself does not run on: one folder for each major version. */
const cache = join(import.meta.dirname, '../../../../node_modules/.cache/other-nodes');

/** The path of a Node of that major version: this one, one that .ci/run fetched, or one on the PATH. */
export function findNode(major: number): string | undefined {
  const folder = join(cache, `${major}/node_modules`);
  const fetched = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'bin/node')) : [];
  return [process.execPath, ...fetched, ...onPath('node')].find((program) => majorOf(program) === major);
}

/** The path of Debian's or somebody else's Chromium. */
export function findChromium(): string | undefined {
  return [...onPath('chromium'), ...onPath('chromium-browser'), ...onPath('google-chrome')][0];
}

/** Skips a test for want of a program, except where .ci/run has brought it. */
export function skipWithout(context: TestContext, what: string): never {
  if (TEST_EVERYTHING === '1') throw new Error(`${what} is missing`);
  return context.skip(`${what} is missing; .ci/run brings it`);
}

function onPath(name: string): string[] {
  const folders = [...PATH.split(delimiter), '/usr/local/bin', '/usr/bin'];
  return folders.map((folder) => join(folder, name)).filter((path) => existsSync(path));
}

function majorOf(program: string): number | undefined {
  try {
    return Number(/^v(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[1]);
  } catch {
    return undefined; // not there, or not for this machine
  }
}
