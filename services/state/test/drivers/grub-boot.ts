import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { run } from './zfs-programs.ts';

/** What grub-mkconfig writes of an entry that is booted once, and what our script adds. */
export const GRUB_CFG = `if [ -s $prefix/grubenv ]; then
  load_env
fi
if [ "\${next_entry}" ] ; then
  set default="\${next_entry}"
  set next_entry=
  save_env next_entry
fi
${readFileSync(join(import.meta.dirname, '../../packaging/grub.d/42_croft'), 'utf8')
  .split('\n')
  .slice(4)
  .join('\n')}`;

/** Fills a folder as `/boot` is, with GRUB and an environment that holds something else already. */
export function fillBoot(folder: string): string {
  mkdirSync(join(folder, 'grub'));
  writeFileSync(join(folder, 'vmlinuz-6.1.0'), 'kernel');
  writeFileSync(join(folder, 'grub/grub.cfg'), GRUB_CFG);
  run('grub-editenv', join(folder, 'grub/grubenv'), 'create');
  run('grub-editenv', join(folder, 'grub/grubenv'), 'set', 'saved_entry=0');
  return folder;
}

/** Mounts a partition that GRUB can write to, until the test ends. @param folder is made; the partition's file lies beside it */
export function bootPartition(folder: string): string {
  mkdirSync(folder);
  const image = `${folder}.img`;
  writeFileSync(image, '');
  truncateSync(image, 8 * 1024 * 1024);
  run('mkfs.ext4', '-q', image);
  run('mount', '-o', 'loop', image, folder);
  onTestFinished(() => void run('umount', folder));
  return fillBoot(folder);
}

/** What GRUB remembers. */
export const environment = (folder: string) =>
  run('grub-editenv', join(folder, 'grub/grubenv'), 'list').trim().split('\n');
