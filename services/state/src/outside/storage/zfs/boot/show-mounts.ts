import { storageRefused } from '../../../../failures.ts';
import { isBelow } from '../../../mounts.ts';
import type { FileSystem } from '../filesystem.ts';
import { textOf } from '../homes/home-place.ts';
import { isShownAt, shownOf } from '../shown-at.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

/** What is to be seen where. */
interface Wanted {
  /** What this boot uses. */
  readonly used: readonly FileSystem[];
  /** Those of them that are mounted whatever is there now. */
  readonly due: readonly FileSystem[];
  /** What other heads use, or homes that the machine went back from. */
  readonly unused: readonly FileSystem[];
}

/** What came of that. */
export interface Shown {
  readonly changed: boolean;
  /** What is not seen where it is to be, one line each. */
  readonly problems: readonly string[];
}

/**
 * Has this boot show what the next one will mount: what was mounted before it was known what this boot uses is unmounted, and what
 * it uses is mounted there. What somebody uses stays, with all that lies in it, and is told.
 * @throws FAILED_PRECONDITION when all else is done, and nothing is left at a place where something was; asked again it goes on
 */
export async function showMounts({ used, due, unused }: Wanted, zfs: ZfsCommands): Promise<Shown> {
  const wrong = await shownOf(unused);
  const stuck = await unmountAll(wrong, zfs);
  const isIn = ({ path }: FileSystem, others: readonly FileSystem[]) =>
    others.some((other) => isBelow(path, other.path));
  const wanted = used.filter(
    (one) =>
      one.path.startsWith('/') &&
      !isIn(one, stuck) &&
      (due.includes(one) || (one.canmount !== 'off' && wrong.some(({ path }) => path === one.path))),
  );
  let changed = wrong.some((one) => !isIn(one, stuck));
  const problems = stuck.map(
    ({ name, path }) =>
      `${textOf(path)} still shows ${name}, which is in use, and not what belongs to this boot: end what uses it and call PrepareBoot again, or restart, before anybody works there`,
  );
  const lost: string[] = [];
  for (const { name, path, isMounted } of byPath(wanted)) {
    if (await isShownAt(name, path)) continue;
    const { why } = await zfs.zfs('mount', name);
    const isShown = await isShownAt(name, path);
    changed ||= isShown;
    if (isShown) continue;
    const line = `${name} is not mounted (${why || `it is not what ${textOf(path)} shows`}): mount it with \`zfs mount ${name}\`, as the next boot does by itself`;
    const isLost = wrong.some((other) => other.path === path) || (isMounted && !(await zfs.isMounted(name)));
    (isLost ? lost : problems).push(line);
  }
  if (lost.length > 0) throw storageRefused('something was unmounted', [...lost, ...problems].join('; '));
  return { changed, problems };
}

/** Unmounts them, or leaves what is in use as it was. @returns those that are */
async function unmountAll(systems: readonly FileSystem[], zfs: ZfsCommands): Promise<readonly FileSystem[]> {
  const stuck: FileSystem[] = [];
  const gone: FileSystem[] = [];
  for (const one of byPath(systems).toReversed()) {
    await zfs.zfs('unmount', one.name);
    ((await isShownAt(one.name, one.path)) ? stuck : gone).push(one);
  }
  // Half of one and half of the other is neither.
  for (const { name, path } of gone.toReversed())
    if (stuck.some((other) => isBelow(path, other.path))) await zfs.zfs('mount', name);
  return stuck;
}

/** What others lie in before them. */
function byPath(systems: readonly FileSystem[]): readonly FileSystem[] {
  return [...systems].sort((a, b) => a.path.length - b.path.length);
}
