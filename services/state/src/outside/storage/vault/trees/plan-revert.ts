import type { Entry } from '../../../../model/entry.ts';
import { sameAttributes } from '../../../../rules/contents/compare-entries.ts';

/** One step of making a tree what another one was. Paths are path texts below the tree. */
export type RevertStep =
  /** Takes an entry away; a folder is empty by then. */
  | { readonly do: 'remove'; readonly path: string; readonly folder: boolean }
  | { readonly do: 'folder'; readonly entry: Entry }
  | { readonly do: 'file'; readonly entry: Entry }
  | { readonly do: 'link'; readonly entry: Entry }
  /** Another name of a file that is there by then. */
  | { readonly do: 'name'; readonly entry: Entry; readonly of: string }
  /** Owner, mode and time of a folder; last, because its time changes with what is put into it. */
  | { readonly do: 'facts'; readonly entry: Entry };

/** What is to be done, and what cannot be, one line each. */
interface RevertPlan {
  readonly steps: readonly RevertStep[];
  readonly problems: readonly string[];
}

/**
 * The steps that lead from the entries of a tree to those of another one, and touch nothing that is the same. What could not
 * be read when the state was saved stays as it is now; so does what could not be saved now, as do other file systems and the
 * place where states are kept.
 * @param saved the entries of the tree as they are now
 */
export function planRevert(saved: readonly Entry[], wanted: readonly Entry[]): RevertPlan {
  const present = withoutVanished(saved);
  const now = new Map(present.map((entry) => [entry.path, entry]));
  const then = new Map(wanted.map((entry) => [entry.path, entry]));
  const problems: string[] = [];
  const same = sameFactsIn(present, wanted);
  const isBelowUnseen = isBelowOneOf(present.filter(isUnseen));
  const kept = stayingPaths(present, then);
  const removed = removals(present, then, kept, problems);
  const staying = (path: string) => (removed.has(path) ? undefined : now.get(path));
  const linked = new Map<string, { path: string; isNew: boolean }>();
  /** Files that stay, by what they are now, each with the file it was. */
  const taken = new Map<string, string>();
  const made: RevertStep[] = [];
  const folders: RevertStep[] = [];
  for (const entry of wanted) {
    const before = staying(entry.path);
    // Its folder, or what stays in its place, was told already.
    if (isBelowUnseen(entry.path) || (before !== undefined && !areOneKind(before, entry))) continue;
    const reason = whyNotMade(entry, before);
    if (reason !== undefined) {
      problems.push(`${entry.path} ${reason}`);
      continue;
    }
    // What is mounted has an owner and a mode of its own.
    if (entry.leftOut !== undefined || before?.leftOut !== undefined) continue;
    if (entry.type === 'folder') {
      if (before === undefined) made.push({ do: 'folder', entry });
      folders.push({ do: 'facts', entry });
      continue;
    }
    const first = entry.inode === undefined ? undefined : linked.get(entry.inode);
    const wasAnother =
      before?.inode !== undefined && (taken.get(before.inode) ?? entry.inode) !== entry.inode;
    const step = stepFor(entry, wasAnother ? undefined : before, first, (path) => now.get(path), same);
    if (step !== undefined) made.push(step);
    else if (before?.inode !== undefined && entry.inode !== undefined) taken.set(before.inode, entry.inode);
    if (entry.inode !== undefined && first === undefined)
      linked.set(entry.inode, { path: entry.path, isNew: step !== undefined });
  }
  const gone = [...removed].reverse().map((path) => ({
    do: 'remove' as const,
    path,
    folder: now.get(path)?.type === 'folder',
  }));
  const touched = changedFolders([...gone.map(({ path }) => path), ...made.map(stepPath)]);
  const facts = folders.filter(
    (step) => touched.has(stepPath(step)) || !same(staying(stepPath(step)), then.get(stepPath(step))),
  );
  return { steps: [...gone, ...made, ...facts.reverse()], problems };
}

/** What a step is about. */
export function stepPath(step: RevertStep): string {
  return step.do === 'remove' ? step.path : step.entry.path;
}

/** What stays, and the folders that it is in: they stay, too. */
function stayingPaths(present: readonly Entry[], then: ReadonlyMap<string, Entry>): ReadonlySet<string> {
  const staying = new Set<string>();
  const keep = (path: string) => {
    for (let at = path; at !== '.'; at = parentOf(at)) staying.add(at);
  };
  for (const entry of present) if (isUnseen(entry)) keep(entry.path);
  // What is below a folder whose content could not be read then is not known to be too much.
  for (const entry of then.values()) if (entry.type === 'folder' && isUnknown(entry)) keep(entry.path);
  return staying;
}

function removals(
  present: readonly Entry[],
  then: ReadonlyMap<string, Entry>,
  kept: ReadonlySet<string>,
  problems: string[],
): ReadonlySet<string> {
  const removed = new Set<string>();
  const isBelowUnknown = isBelowOneOf(
    [...then.values()].filter((entry) => entry.type === 'folder' && isUnknown(entry)),
  );
  for (const entry of present) {
    const { path } = entry;
    const wanted = then.get(path);
    if (path === '.' || isBelowUnknown(path)) continue;
    if (wanted !== undefined && areOneKind(wanted, entry)) continue;
    if (entry.type !== 'folder' && isUnseen(entry))
      problems.push(`${path} stays as it is: ${whyUnseen(entry)}`);
    else if (entry.type === 'folder' && kept.has(path))
      problems.push(`${path} stays: another file system, the states, or what cannot be read, are in it`);
    else removed.add(path);
  }
  return removed;
}

/** Why an entry is not made as it was; undefined when it can be. */
function whyNotMade(entry: Entry, before: Entry | undefined): string | undefined {
  if (before !== undefined && isUnseen(before) && !isUnknown(entry))
    return `stays as it is${before.type === 'folder' ? ', with what is in it' : ''}: ${whyUnseen(before)}`;
  if (entry.leftOut !== undefined)
    return before === undefined ? 'is missing: it was another file system' : undefined;
  if (entry.unreadable !== undefined)
    return `${before === undefined ? 'is missing' : 'stays as it is'}: it was unreadable (${entry.unreadable})`;
  const isSpecial = !['folder', 'file', 'link'].includes(entry.type);
  if (isSpecial && before?.type !== entry.type) return `is missing: a ${entry.type} is not made again`;
  return undefined;
}

function stepFor(
  entry: Entry,
  before: Entry | undefined,
  first: { readonly path: string; readonly isNew: boolean } | undefined,
  now: (path: string) => Entry | undefined,
  sameFacts: SameFacts,
): RevertStep | undefined {
  if (entry.type === 'link') {
    const same = before?.type === 'link' && before.target === entry.target && sameFacts(before, entry);
    return same ? undefined : { do: 'link', entry };
  }
  // Sockets, pipes and devices stay as they are: opening one to change it wakes or disturbs whoever uses it.
  if (entry.type !== 'file') return undefined;
  if (first !== undefined) {
    const isOneFile = before?.inode !== undefined && before.inode === now(first.path)?.inode;
    return isOneFile && !first.isNew ? undefined : { do: 'name', entry, of: first.path };
  }
  // A file that has another name now must not be written through: it gets a file of its own.
  const wasShared = before?.inode !== undefined && entry.inode === undefined;
  const isSame = before?.type === 'file' && before.hash === entry.hash && sameFacts(before, entry);
  // Also where only owner or mode differ: what lies there now may by then be another name of a file that is none of ours.
  return isSame && !wasShared ? undefined : { do: 'file', entry };
}

type SameFacts = (one: Entry | undefined, other: Entry | undefined) => boolean;

/** Attributes count where both trees have had theirs read. */
function sameFactsIn(present: readonly Entry[], wanted: readonly Entry[]): SameFacts {
  const areRead = present[0]?.attributes !== undefined && wanted[0]?.attributes !== undefined;
  return (one, other) =>
    one?.mode === other?.mode &&
    one?.uid === other?.uid &&
    one?.gid === other?.gid &&
    // Node sets times to the microsecond.
    one?.mtimeNs.slice(0, -3) === other?.mtimeNs.slice(0, -3) &&
    (!areRead || sameAttributes(one, other));
}

function changedFolders(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.map(parentOf));
}

function isUnknown(entry: Entry): boolean {
  return entry.unreadable !== undefined || entry.leftOut !== undefined;
}

/** Nobody saw what is in it: that is saved nowhere, so it is not written over. What is gone has nothing in it. */
function isUnseen(entry: Entry): boolean {
  return isUnknown(entry) && entry.unreadable !== 'ENOENT';
}

/**
 * A folder that was gone when it was to be looked into is made again like any that is not there; without it nothing is where what was
 * seen in it before that. The tree itself is made by who goes back.
 */
function withoutVanished(entries: readonly Entry[]): readonly Entry[] {
  const vanished = entries.filter(
    ({ path, type, unreadable }) => path !== '.' && type === 'folder' && unreadable === 'ENOENT',
  );
  if (vanished.length === 0) return entries;
  const isBelow = isBelowOneOf(vanished);
  return entries.filter((entry) => !vanished.includes(entry) && !isBelow(entry.path));
}

/** Only a folder takes the place of a folder. */
function areOneKind(one: Entry, other: Entry): boolean {
  return (one.type === 'folder') === (other.type === 'folder');
}

function whyUnseen({ leftOut, unreadable }: Entry): string {
  if (leftOut === undefined) return `it could not be saved (${unreadable})`;
  return leftOut === 'mount' ? 'it is another file system now' : 'the states are kept there';
}

function isBelowOneOf(folders: readonly Entry[]): (path: string) => boolean {
  const paths = new Set(folders.map(({ path }) => path));
  const isBelow = (path: string): boolean =>
    paths.size > 0 && path !== '.' && (paths.has(parentOf(path)) || isBelow(parentOf(path)));
  return isBelow;
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '.' : path.slice(0, slash);
}
