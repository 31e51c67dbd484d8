import type { Entry } from '../../model/entry.ts';
import { pathBytes } from '../../model/path-text.ts';

/**
 * Whether an entry lies where a tree may have one: it is the tree's own folder, or something with a name of its own in a
 * folder that came before. So it never leads through a link and never outside.
 * @param folders paths of the folders before it
 */
export function isInPlace(
  { path, type }: Pick<Entry, 'path' | 'type'>,
  folders: ReadonlySet<string>,
): boolean {
  if (path === '.') return type === 'folder';
  const slash = path.lastIndexOf('/');
  const parent = slash < 0 ? '.' : path.slice(0, slash);
  const name = pathBytes(path.slice(slash + 1));
  return folders.has(parent) && name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}
