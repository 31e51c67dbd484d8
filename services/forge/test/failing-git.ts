import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A git that can be made to fail without a word, as one does for which the machine has no memory or no process left. */
export interface FailingGit {
  /** What to run as git. */
  command: string;
  /** Lets these subcommands fail from now on. */
  fail(...subcommands: readonly string[]): Promise<void>;
  /** Lets all work again. */
  recover(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes one. */
export async function failingGit(): Promise<FailingGit> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-failing-git-'));
  const [command, failing] = [join(folder, 'git'), join(folder, 'failing')];
  const script = `#!/bin/sh
if [ -e ${failing} ]; then
  for word in "$@"; do
    for program in $(cat ${failing}); do [ "$word" = "$program" ] && exit 128; done
  done
fi
exec git "$@"
`;
  await writeFile(command, script);
  await chmod(command, 0o755);
  return {
    command,
    fail: (...subcommands) => writeFile(failing, subcommands.join('\n')),
    recover: () => rm(failing, { force: true }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Every subcommand that reads refs or objects. */
export const READING = [
  'cat-file',
  'show-ref',
  'for-each-ref',
  'rev-list',
  'ls-tree',
  'merge-base',
  'diff-tree',
];
