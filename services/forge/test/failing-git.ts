import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedGit } from './scripted-git.ts';

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
  const failingIn = (folder: string) => join(folder, 'failing');
  const { command, folder, ...scripted } = await scriptedGit((within) => {
    const failing = failingIn(within);
    return `if [ -e ${failing} ]; then
  for word in "$@"; do
    for program in $(cat ${failing}); do [ "$word" = "$program" ] && exit 128; done
  done
fi`;
  });
  return {
    command,
    fail: (...subcommands) => writeFile(failingIn(folder), subcommands.join('\n')),
    recover: () => rm(failingIn(folder), { force: true }),
    ...scripted,
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
