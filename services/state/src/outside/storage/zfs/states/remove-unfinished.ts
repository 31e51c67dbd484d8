import { type FileSystem, jsonMarkOf } from '../filesystem.ts';
import type { Booted } from '../layout.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

/**
 * Destroys what an earlier boot began to prepare and did not finish, unless somebody wrote there since.
 * @returns what was left alone, one line each
 */
export async function removeUnfinished(
  systems: readonly FileSystem[],
  booted: Booted,
  zfs: ZfsCommands,
): Promise<readonly string[]> {
  const unfinished = systems.filter((system) => {
    const prepared = jsonMarkOf(system, 'croft:prepared') as { boot?: unknown; head?: unknown } | undefined;
    const head = systems.find(({ name }) => name === prepared?.head);
    // Whose head is in a pool that is away may be the home that is in use.
    if (prepared === undefined || head === undefined || system.isMounted) return false;
    const isDone = (jsonMarkOf(head, 'croft:boot') as { done?: unknown } | undefined)?.done === true;
    return !isDone && prepared.boot !== booted.bootId && prepared.head !== booted.dataset;
  });
  const lines: string[] = [];
  // Each without what lies below or was made from it: where there is something, it was used after all.
  for (const { name, origin, path } of [...unfinished].sort((a, b) => (a.name < b.name ? 1 : -1))) {
    // zfs-fuse does not know the property and says nothing.
    const written = (await zfs.properties([name], ['written'])).get(name)?.get('written')?.value;
    // What was never given a place was never used.
    if (origin !== '' && (path === 'none' || written === '0')) await zfs.zfs('destroy', name);
    else
      lines.push(
        `${name} was prepared for a boot that was not finished, and may have been written to: it is kept`,
      );
  }
  return lines;
}
