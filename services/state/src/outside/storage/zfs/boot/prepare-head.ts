import { contentDamaged, storageRefused } from '../../../../failures.ts';
import type { Member, Preparation } from '../../../../model/model.ts';
import { type FileSystem, jsonMarkOf } from '../filesystem.ts';
import { suffix } from '../homes/zfs-homes.ts';
import type { Booted, Layout, ZfsMachine } from '../layout.ts';
import { adoptedMark, adoptedNames } from '../states/adopted-names.ts';
import {
  chunkNames,
  identityOf,
  type Outline,
  recordOf,
  type SavedDataset,
  type SavedTree,
} from '../states/save-record.ts';
import { datasetOf, refusal, type ZfsCommands } from '../zfs-commands.ts';
import { switchMounts } from './switch-mounts.ts';

/** A clone that is to be there. */
interface Wish {
  readonly snapshot: string;
  readonly name: string;
  /** Properties of a new one. */
  readonly properties: readonly (readonly [string, string])[];
}

/**
 * Clones members of a state beside what is there and makes them what is mounted, now and at boot. Nothing is overwritten; what
 * was cloned already, by the initramfs or before an interruption, stays.
 * @returns what is not shown yet, one line each
 */
export async function prepareHead(
  members: readonly Member[],
  layout: Layout,
  booted: Booted,
  zfs: ZfsCommands,
): Promise<readonly string[]> {
  const machine = layout.machines.find(({ isCurrent }) => isCurrent);
  const [first] = members;
  if (machine === undefined || first === undefined || booted.snapshot === '')
    throw storageRefused('nothing was changed', 'a root on ZFS is exchanged by booting the entry of a state');
  const outline = await checkMembers(members, zfs);
  const root = targetRoot(first, machine, layout, booted);
  const wishes = members.map((member) => wishFor(member, outline, { root, machine, booted }, layout));
  const taken = wishes.find(({ name, snapshot }) => {
    const there = layout.systems.find((system) => system.name === name);
    return there !== undefined && there.origin !== snapshot;
  });
  if (taken !== undefined) throw storageRefused('nothing was changed', `${taken.name} is there already`);
  for (const wish of wishes) await clone(wish, layout.systems, zfs);
  for (const wish of wishes) await place(wish, zfs);
  const { problems } = await switchMounts(root, booted, zfs);
  const begun = jsonMarkOf(machine.active.system.root, 'croft:boot') as Preparation | undefined;
  await zfs.set(root, 'croft:boot', JSON.stringify({ ...begun, boot: booted.bootId, done: true }));
  return problems;
}

/** @throws FAILED_PRECONDITION when one is not what was saved */
async function checkMembers(members: readonly Member[], zfs: ZfsCommands): Promise<Outline> {
  const names = members.map(({ snapshot }) => snapshot);
  const found = await zfs.properties(names, ['guid', 'createtxg', ...chunkNames('croft:state')]);
  const lost = members.find(({ snapshot, guid }) => identityOf(found.get(snapshot)) !== guid);
  const marks = found.get(names[0] ?? '');
  const outline = marks && recordOf<Outline>('croft:state', marks);
  if (lost !== undefined || outline === undefined)
    throw contentDamaged(`the snapshot ${lost?.snapshot ?? names[0]}`);
  return outline;
}

/** The clone that runs, or that this boot made before; else a new one, named after the machine. */
function targetRoot(first: Member, machine: ZfsMachine, { systems }: Layout, booted: Booted): string {
  const clones = systems.filter(({ origin }) => origin === first.snapshot);
  const ours = clones.find(
    (system) =>
      system.name === booted.dataset ||
      (system.isMounted && system.path === machine.active.system.root.path) ||
      (jsonMarkOf(system, 'croft:prepared') as { boot?: unknown } | undefined)?.boot === booted.bootId,
  );
  return ours?.name ?? `${machine.id}_${suffix()}`;
}

/** What all clones of a preparation have in common. */
interface Target {
  readonly root: string;
  readonly machine: ZfsMachine;
  readonly booted: Booted;
}

function wishFor(member: Member, outline: Outline, target: Target, { systems }: Layout): Wish {
  const at = outline.datasets.findIndex(
    ({ tree, below }) => `${outline.trees[tree]?.root}${below}` === member.dataset,
  );
  const saved = outline.datasets[at];
  const tree = outline.trees[saved?.tree ?? -1];
  if (saved === undefined || tree === undefined) throw contentDamaged(`the record of ${member.snapshot}`);
  const name = `${rootOf(tree, member, saved, target, systems)}${saved.below}`;
  const marks = {
    canmount: saved.canmount === 'off' ? 'off' : 'noauto',
    ...(saved.canmount === 'on' ? { 'croft:canmount': 'on' } : {}),
    ...(saved.mountpoint === undefined ? {} : { mountpoint: saved.mountpoint }),
    'croft:prepared': preparedText(target.root, target.booted),
    ...(saved.below === '' ? rootMarks(tree, target.machine) : {}),
  };
  return { snapshot: member.snapshot, name, properties: Object.entries(marks) };
}

function rootOf(
  { role, user }: SavedTree,
  member: Member,
  { below }: SavedDataset,
  { root, booted }: Target,
  systems: readonly FileSystem[],
): string {
  if (role === 'system') return root;
  const from = datasetOf(member.snapshot);
  const source = below === '' ? from : from.slice(0, -below.length);
  const folder = source.slice(0, source.lastIndexOf('/'));
  const end = root.slice(root.lastIndexOf('/') + 1);
  if (role === 'boot') return `${folder}/${end}`;
  // A second tree of the same user has another name, so that of the first is no hindrance.
  const base = source.slice(folder.length + 1).replace(/(.)_[^_]*$/, '$1');
  const made = systems.find(
    (system) =>
      datasetOf(system.origin) === source &&
      (jsonMarkOf(system, 'croft:prepared') as { boot?: unknown } | undefined)?.boot === booted.bootId,
  );
  return made?.name ?? `${folder}/${user === undefined ? end : base}_${end.replace(/^.*_/, '')}`;
}

function rootMarks({ role, user }: SavedTree, { id, heads }: ZfsMachine): Record<string, string> {
  if (role === 'system') {
    // What was adopted is known by it, also when the others are gone.
    const adopted = adoptedMark(adoptedNames(heads.map(({ system }) => system.root)));
    return {
      'croft:machine': id,
      'croft:managed': 'yes',
      ...(adopted === '' ? {} : { 'croft:adopted': adopted }),
    };
  }
  return user === undefined ? {} : { 'croft:user': user };
}

function preparedText(root: string, { bootId }: Booted): string {
  return JSON.stringify({ boot: bootId, head: root });
}

async function clone(wish: Wish, systems: readonly FileSystem[], zfs: ZfsCommands): Promise<void> {
  const { snapshot, name, properties } = wish;
  const there = systems.find((system) => system.name === name);
  if (there !== undefined) {
    // The initramfs makes clones without marks.
    const marks = properties.filter(([property]) => property.startsWith('croft:'));
    for (const [property, value] of marks) {
      if (!there.marks.has('croft:prepared')) await zfs.set(name, property, value);
    }
    return;
  }
  // Without a place of its own: zfs-fuse mounts a clone whatever `canmount` says.
  const options = properties.flatMap(([property, value]) => [
    '-o',
    `${property}=${property === 'mountpoint' ? 'none' : value}`,
  ]);
  const ran = await zfs.zfs('clone', ...options, snapshot, name);
  const made = (await zfs.properties([name], ['origin'])).get(name);
  if (made?.get('origin')?.value !== snapshot) throw refusal(`${name} was not made`, ran);
}

/**
 * Says where a clone lies that has a place of its own. What is not mounted is not mounted by that, and what is mounted, as the
 * root that an initramfs gave no place, is let be: zfs would take it away to mount it anew.
 */
async function place({ name, properties }: Wish, zfs: ZfsCommands): Promise<void> {
  const [, path] = properties.find(([property]) => property === 'mountpoint') ?? [];
  const now = (await zfs.properties([name], ['mountpoint', 'mounted'])).get(name);
  const isPlaced = now?.get('mountpoint')?.value !== 'none' || now.get('mounted')?.value === 'yes';
  if (path !== undefined && path !== 'none' && !isPlaced) await zfs.set(name, 'mountpoint', path);
}
