import { execFileSync } from 'node:child_process';

/** Whether this user may have mounts that nobody else sees. */
export const canMount = (): boolean => process.getuid?.() === 0 && works('unshare', ['--mount', 'true']);

/** Whether a command ends well. */
export function works(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * The first words of a command that has mounts of its own, which end with it. The pools of other tests are not among them:
 * whatever is mounted in two places stays busy when it is unmounted in one, and could not be mounted again. Of one whose zfs-fuse
 * was killed umount says that it cannot, which is nobody's concern here.
 * @param script of a shell, with the words that follow as its arguments
 */
export function withOwnMounts(script: string): string[] {
  const others = 'umount --lazy --all --types fuse.zfs 2> /dev/null || true';
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', `${others}\n${script}`, 'sh'];
}
