import { storageRefused } from '../../../../failures.ts';
import { type FileSystem, linksOf, readFileSystems } from '../filesystem.ts';
import { isPreparedFor } from '../homes/home-layout.ts';
import { textOf } from '../homes/home-place.ts';
import type { Head, Layout, ZfsMachine } from '../layout.ts';
import { shownOf } from '../shown-at.ts';
import type { Tree } from '../tree.ts';
import { datasetOf, refusal, type ZfsCommands } from '../zfs-commands.ts';
import { belowRoot } from './switch-mounts.ts';

/** More generations of clones than anybody goes back through. */
const MAX_GENERATIONS = 1000;

/**
 * Makes the head that runs stand on its own: what it was cloned from becomes a clone of it, and homes that went back with it
 * take the place of those they were cloned from.
 * @returns whether anything was done
 * @throws FAILED_PRECONDITION before anything is done when snapshots of the same name are in the way, or somebody works in a home
 * that was gone back from
 */
export async function commitHead(machine: ZfsMachine, layout: Layout, zfs: ZfsCommands): Promise<boolean> {
  const { active } = machine;
  const head = active.system.root.name;
  const homes = layout.homes.flatMap(({ trees }) => trees).filter(({ root }) => isPreparedFor(root, head));
  const trees = [...homes, ...active.boots, active.system];
  const sources = sourcesOf(trees, machine, layout);
  const clones = trees.flatMap(({ datasets }) => datasets).filter((one) => isOurs(one, one.origin, sources));
  const prepared = trees
    .flatMap(({ datasets }) => datasets)
    .filter(({ marks }) => marks.has('croft:prepared'));
  if (clones.length === 0 && prepared.length === 0) return false;
  await checkShown(layout, head);
  await checkNames(clones, layout.systems, sources, zfs);
  for (const clone of clones) await promote(clone, sources, zfs);
  await takeOver(homes, machine, layout, zfs);
  await retire(machine, active, zfs);
  // Last: while it is there, all of this is done again.
  for (const { name } of prepared) await zfs.unset(name, 'croft:prepared');
  return true;
}

/** What each dataset of a head may have been cloned from by us: the one at its place in any other head. */
type Sources = ReadonlyMap<string, ReadonlySet<string>>;

function sourcesOf(trees: readonly Tree[], machine: ZfsMachine, layout: Layout): Sources {
  const heads = machine.heads.filter((head) => head !== machine.active);
  const others = [
    ...heads.flatMap(({ system, boots }) => [system, ...boots]),
    ...layout.homes.flatMap((home) => home.heads),
  ];
  return new Map(
    trees.flatMap(({ role, user, root, datasets }) => {
      const roots = others.filter(
        (other) => other.role === role && other.user === user && other.root !== root,
      );
      return datasets.map(({ name }) => {
        const below = name.slice(root.name.length);
        return [name, new Set(roots.map((other) => other.root.name + below))] as const;
      });
    }),
  );
}

/**
 * Whether a clone was made by us, of that origin. What somebody else cloned within the tree is not: promoting it would move the
 * snapshots of states away.
 * @param origin what it is a clone of, now or after some promotions
 */
function isOurs({ name, origin: first, marks }: FileSystem, origin: string, sources: Sources): boolean {
  const isPrepared = origin === first && marks.has('croft:prepared');
  return origin !== '' && (isPrepared || sources.get(name)?.has(datasetOf(origin)) === true);
}

/** What is worked on in a home that was gone back from is in no state, and would be gone from its place at the next boot. */
async function checkShown({ homes }: Layout, head: string): Promise<void> {
  const left = homes
    .filter(({ trees }) => trees.some(({ root }) => isPreparedFor(root, head)))
    .flatMap(({ trees, heads }) => heads.filter((tree) => !trees.includes(tree)));
  const [shown] = await shownOf(left.flatMap(({ datasets }) => datasets));
  if (shown !== undefined)
    throw storageRefused(
      'this boot was not written down as good',
      `${textOf(shown.path)} still shows ${shown.name}, which the machine goes back from: end what uses it, then call PrepareBoot and CommitBoot again`,
    );
}

/** Promotion moves the snapshots up to the one that was cloned, and none may have a name that is there already. */
async function checkNames(
  clones: readonly FileSystem[],
  systems: readonly FileSystem[],
  sources: Sources,
  zfs: ZfsCommands,
): Promise<void> {
  for (const clone of clones) {
    const own = new Set((await zfs.snapshotsOf([clone.name])).map(endOf));
    let { origin } = clone;
    for (let generation = 0; isOurs(clone, origin, sources) && generation < MAX_GENERATIONS; generation++) {
      const source = datasetOf(origin);
      const clashing = (await zfs.snapshotsOf([source])).filter((name) => own.has(endOf(name)));
      const found = await zfs.properties([origin, ...clashing], ['createtxg']);
      const txgOf = (name: string) => Number(found.get(name)?.get('createtxg')?.value);
      const moving = clashing.find((name) => txgOf(name) <= txgOf(origin));
      if (moving !== undefined)
        throw storageRefused(
          `${clone.name} cannot take over`,
          `${moving} has the name of one of its own snapshots: rename one with "zfs rename"`,
        );
      origin = systems.find(({ name }) => name === source)?.origin ?? '';
    }
  }
}

async function promote(clone: FileSystem, sources: Sources, zfs: ZfsCommands): Promise<void> {
  const { name } = clone;
  for (let generation = 0; generation < MAX_GENERATIONS; generation++) {
    const before = (await zfs.properties([name], ['origin'])).get(name)?.get('origin')?.value;
    if (before === undefined || !isOurs(clone, before, sources)) return;
    const ran = await zfs.zfs('promote', name);
    const after = (await zfs.properties([name], ['origin'])).get(name)?.get('origin')?.value;
    if (after === before) throw refusal(`${name} was not promoted`, ran);
  }
}

/** The machine's home is the one that went back; other machines keep the one they have. */
async function takeOver(
  homes: readonly Tree[],
  { id }: ZfsMachine,
  { homes: all }: Layout,
  zfs: ZfsCommands,
): Promise<void> {
  const now = new Map((await readFileSystems(zfs)).map((system) => [system.name, system]));
  for (const { user, root } of homes) {
    await zfs.set(root.name, 'croft:links', id);
    const others = all.find((home) => home.user === user)?.heads ?? [];
    for (const other of others) {
      const system = now.get(other.root.name);
      if (system === undefined || system.name === root.name || datasetOf(system.origin) !== root.name)
        continue;
      const links = linksOf(system).filter((link) => link !== id);
      if (links.length === 0) await zfs.set(system.name, 'croft:retired', await retiredAs(other, zfs));
      await zfs.set(system.name, 'croft:links', links.join(',') || ',');
    }
  }
}

async function retire(machine: ZfsMachine, active: Head, zfs: ZfsCommands): Promise<void> {
  if (active.system.root.marks.has('croft:retired'))
    await zfs.unset(active.system.root.name, 'croft:retired');
  const others = machine.heads.filter((head) => head !== active);
  for (const { system, boots } of others)
    for (const tree of [system, ...boots]) {
      const { root } = tree;
      const isShared = active.boots.some((boot) => boot.root === root);
      if (isShared || root.marks.has('croft:retired')) continue;
      await zfs.set(root.name, 'croft:retired', isKnown(system) ? await retiredAs(tree, zfs) : 'kept');
    }
}

/** The machine ran on it, or it was made to be booted. What somebody cloned himself has what no state has, whatever was written since. */
function isKnown({ root }: Tree): boolean {
  return ['croft:managed', 'croft:machine', 'croft:turn'].some((mark) => root.marks.has(mark));
}

/** `kept` when it has, or may still get, what is in no state: then it does not go with its last snapshot. */
async function retiredAs(tree: Tree, zfs: ZfsCommands): Promise<'yes' | 'kept'> {
  const written = await zfs.properties(
    tree.datasets.map(({ name }) => name),
    ['written'],
  );
  // zfs-fuse does not know the property and says nothing.
  const isWritten = [...written.values()].some((found) => Number(found.get('written')?.value) > 0);
  return isWritten || (await shownOf(belowRoot(tree))).length > 0 ? 'kept' : 'yes';
}

function endOf(snapshot: string): string {
  return snapshot.slice(snapshot.indexOf('@'));
}
