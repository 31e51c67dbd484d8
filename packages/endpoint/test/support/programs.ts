import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

// oxlint-disable-next-line node/no-process-env -- what the machine has
const { PATH = '' } = process.env;

/** Where .ci/run puts the Nodes that Croft itself does not run on: one folder for each major version. */
const cache = join(import.meta.dirname, '../../../../node_modules/.cache/other-nodes');

/** The path of a Node of that major version: this one, one that .ci/run fetched, or one on the PATH. */
export function findNode(major: number): string | undefined {
  const folder = join(cache, `${major}/node_modules`);
  const fetched = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'bin/node')) : [];
  return [process.execPath, ...fetched, ...onPath('node')].find((program) => majorOf(program) === major);
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
