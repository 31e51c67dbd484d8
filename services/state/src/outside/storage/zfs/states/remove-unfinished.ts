import { type FileSystem, jsonMarkOf } from '../filesystem.ts';
import type { Booted } from '../layout.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

/** Destroys what an earlier boot began to prepare and did not finish; nobody has ever used it. */
export async function removeUnfinished(
  systems: readonly FileSystem[],
  booted: Booted,
  zfs: ZfsCommands,
): Promise<void> {
  const unfinished = systems.filter((system) => {
    const prepared = jsonMarkOf(system, 'croft:prepared') as { boot?: unknown; head?: unknown } | undefined;
    const head = systems.find(({ name }) => name === prepared?.head);
    const isDone =
      (head && (jsonMarkOf(head, 'croft:boot') as { done?: unknown } | undefined))?.done === true;
    return (
      prepared !== undefined && !isDone && prepared.boot !== booted.bootId && prepared.head !== booted.dataset
    );
  });
  // Each without what lies below or was made from it: where there is something, it was used after all.
  for (const { name, isMounted } of [...unfinished].sort((a, b) => (a.name < b.name ? 1 : -1))) {
    if (!isMounted) await zfs.zfs('destroy', name);
  }
}
