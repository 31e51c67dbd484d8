import { storageRefused } from '../../../../failures.ts';
import type { Member } from '../../../../model/model.ts';
import { type FileSystem, nativePath } from '../filesystem.ts';
import type { Properties } from '../read-properties.ts';
import type { Tree } from '../tree.ts';
import { AT_ONCE, isWithin, poolOf, refusal, type ZfsCommands } from '../zfs-commands.ts';
import { chunksOf, identityOf, type Outline, type SavedDataset } from './save-record.ts';

/** Pruning what is not ours takes 15 ms each: with more of it one instant is not worth the time. */
const MAX_PRUNED = 64;

/** What is to be snapshotted. */
export interface GroupRequest {
  readonly id: string;
  /** The part of the snapshots' names after `@`. */
  readonly name: string;
  readonly trees: readonly Tree[];
  /** All that lies in the pools: what a recursive snapshot takes and nobody asked for goes again. */
  readonly systems: readonly FileSystem[];
  readonly signal: AbortSignal;
}

/** A group of snapshots. */
export interface Group {
  readonly members: readonly Member[];
  readonly oneInstant: boolean;
}

/** Snapshots trees, those of one pool in one transaction where that can be done. */
export async function takeSnapshots(request: GroupRequest, zfs: ZfsCommands): Promise<Group> {
  const outline = outlineOf(request);
  const names = outline.datasets.map((saved) => `${nameOf(outline, saved)}@${request.name}`);
  const marks = marksOf(outline);
  const pools = [...Map.groupBy(request.trees, ({ root }) => poolOf(root.name)).values()];
  for (const trees of pools) {
    request.signal.throwIfAborted();
    await takeInPool(trees, request, marks, zfs);
  }
  const found = await zfs.properties(names, ['guid', 'createtxg', 'referenced']);
  const missing = names.find((name) => !found.has(name));
  if (missing !== undefined)
    throw storageRefused(`the snapshot ${missing} was not made`, 'zfs said nothing else');
  const members = outline.datasets.map((saved, at) => memberOf(outline, saved, names[at] as string, found));
  const instants = new Set([...found.values()].map((each) => each.get('createtxg')?.value));
  return { members, oneInstant: pools.length === 1 && instants.size === 1 };
}

function outlineOf({ id, trees }: GroupRequest): Outline {
  return {
    version: 1,
    id,
    trees: trees.map(({ role, user, root }) => ({
      role,
      ...(user === undefined ? {} : { user }),
      root: root.name,
    })),
    datasets: trees.flatMap(({ root, datasets }, tree) =>
      datasets.map((system) => ({
        tree,
        below: system.name.slice(root.name.length),
        path: system.path,
        ...(system.hasOwnPath ? { mountpoint: nativePath(system) } : {}),
        canmount: system.canmount,
      })),
    ),
  };
}

function nameOf({ trees }: Outline, { tree, below }: SavedDataset): string {
  return `${trees[tree]?.root}${below}`;
}

function marksOf(outline: Outline): readonly string[] {
  const chunks = chunksOf('croft:state', outline);
  if (chunks === undefined) throw storageRefused('nothing was saved', 'the machine has too many datasets');
  return chunks.flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

async function takeInPool(
  trees: readonly Tree[],
  request: GroupRequest,
  marks: readonly string[],
  zfs: ZfsCommands,
): Promise<void> {
  const [first, ...others] = trees as [Tree, ...Tree[]];
  const wanted = new Set(trees.flatMap(({ datasets }) => datasets.map(({ name }) => name)));
  if (await zfs.isModern()) {
    // OpenZFS takes all names of one command in one transaction.
    const names = [...wanted].map((name) => `${name}@${request.name}`);
    await snapshot(['snapshot', ...marks, ...names], names[0] as string, zfs);
    return;
  }
  const ancestor = others.length === 0 ? first.root.name : commonAncestor(trees.map(({ root }) => root.name));
  const below = request.systems.filter(({ name }) => isWithin(name, ancestor));
  const foreign = below.filter(({ name }) => !wanted.has(name));
  if (foreign.length > MAX_PRUNED) {
    if (others.length > 0) for (const tree of trees) await takeInPool([tree], request, marks, zfs);
    else
      for (const name of wanted) await snapshot(['snapshot', ...marks, `${name}@${request.name}`], name, zfs);
    return;
  }
  await snapshot(
    ['snapshot', '-r', ...marks, `${ancestor}@${request.name}`],
    `${ancestor}@${request.name}`,
    zfs,
  );
  // Whatever ends the caller, a snapshot of what is not ours does not stay.
  for (let from = 0; from < foreign.length; from += AT_ONCE) {
    const some = foreign.slice(from, from + AT_ONCE);
    await prune(
      some.map(({ name }) => `${name}@${request.name}`),
      zfs,
    );
  }
}

async function prune(names: readonly string[], zfs: ZfsCommands): Promise<void> {
  for (const one of await zfs.destroyAtOnce(names)) {
    if (one.status === 'rejected') throw one.reason;
    if (!one.value.ok) throw storageRefused('nothing was saved', one.value.why);
  }
}

async function snapshot(args: readonly string[], name: string, zfs: ZfsCommands): Promise<void> {
  const ran = await zfs.zfs(...args);
  if (!ran.ok) throw refusal(`the snapshot ${name} was not made`, ran);
}

function commonAncestor(names: readonly string[]): string {
  const [first = [], ...others] = names.map((name) => name.split('/'));
  const differs = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  return first.slice(0, differs < 0 ? first.length : differs).join('/');
}

function memberOf(
  outline: Outline,
  saved: SavedDataset,
  name: string,
  found: ReadonlyMap<string, Properties>,
): Member {
  const { role, user } = outline.trees[saved.tree] as Outline['trees'][number];
  const properties = found.get(name);
  return {
    dataset: nameOf(outline, saved),
    role,
    ...(user === undefined ? {} : { user }),
    path: saved.path,
    guid: identityOf(properties),
    snapshot: name,
    entries: 0,
    bytes: Number(properties?.get('referenced')?.value ?? 0),
    unreadable: 0,
    torn: 0,
  };
}
