import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { storageRefused } from '../../../failures.ts';
import type { RunProgram } from '../../programs.ts';
import { syncFolder } from '../../sync-folder.ts';

/** The number of renameat2 on each kind of processor. */
const RENAMEAT2: Readonly<Record<string, number>> = {
  x64: 316,
  arm64: 276,
  riscv64: 276,
  loong64: 276,
  arm: 382,
  ia32: 353,
  ppc64: 357,
  s390x: 347,
};
const AT_FDCWD = '-100';
const RENAME_EXCHANGE = '2';
/** Perl makes numbers of arguments that look like them only when they are used as numbers. */
const PERL =
  'exit(syscall($ARGV[0]+0, $ARGV[1]+0, $ARGV[2], $ARGV[1]+0, $ARGV[3], $ARGV[4]+0) == 0 ? 0 : $!+0)';

/**
 * Gives each of two subvolumes the name of the other, at one instant: whoever boots at any moment finds one of them. Node has
 * no call for that; `mv` has since coreutils 9.5, and Perl, which every Debian has, makes any call.
 * @throws FAILED_PRECONDITION when neither is there; the caller looks which is where
 */
export async function exchange(one: string, other: string, run: RunProgram): Promise<void> {
  const moved = await run('mv', ['--exchange', '--no-target-directory', '--', one, other]);
  if (!moved.ok) {
    const number = String(RENAMEAT2[process.arch] ?? '');
    const args = ['-e', PERL, number, AT_FDCWD, one, other, RENAME_EXCHANGE];
    const called = number === '' ? moved : await run('perl', args);
    if (!called.ok)
      throw storageRefused(
        `${one} could not be exchanged with ${other}`,
        `${moved.why}; ${called.why}. This needs mv of coreutils 9.5 or newer, or perl`,
      );
  }
  for (const each of [one, other]) await syncFolder(dirname(each));
}

/** Renames a subvolume so that a crash does not undo it. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  for (const each of [from, to]) await syncFolder(dirname(each));
}
