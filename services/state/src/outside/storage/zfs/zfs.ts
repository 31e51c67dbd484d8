import { Failure } from '@croft/failure';
import { contentDamaged, removalUnfinished, storageChanged, storageRefused } from '../../../failures.ts';
import type { Dataset, Member, State } from '../../../model/model.ts';
import { pathBytes } from '../../../model/path-text.ts';
import type { Pool } from '../../../rules/states/save-plan.ts';
import type {
  Adoption,
  Dependant,
  EntryTree,
  Freed,
  MachineMarks,
  Scan,
  Snapshot,
  SnapshotRequest,
  Storage,
} from '../storage.ts';
import { walkedTree } from '../walked-tree.ts';
import { findAdoption } from './boot/adopt-machine.ts';
import { commitHead } from './boot/commit-head.ts';
import { markHead } from './boot/machine-marks.ts';
import { machinesOf } from './boot/machines.ts';
import { checkLeads, membersNow, treesFor } from './boot/members-now.ts';
import { prepareHead } from './boot/prepare-head.ts';
import { switchMounts } from './boot/switch-mounts.ts';
import { readFileSystems } from './filesystem.ts';
import { bytesOf } from './homes/home-place.ts';
import { finishMoves } from './homes/move-home.ts';
import { ZfsHomes } from './homes/zfs-homes.ts';
import { type Booted, type Layout, layoutOf } from './layout.ts';
import { poolSpaces, poolTrouble } from './pools.ts';
import { isShownAt } from './shown-at.ts';
import { collectRetired, findDependants, releaseDependants } from './states/dependants.ts';
import { destroySnapshots, discardSave, keepSave } from './states/destroy-snapshots.ts';
import { collectImports, destroyEmptyParents, destroyImport, importOf } from './states/import-datasets.ts';
import { removeUnfinished } from './states/remove-unfinished.ts';
import { identityOf, snapshotName } from './states/save-record.ts';
import { scanStates } from './states/scan-states.ts';
import { takeOut } from './states/take-out.ts';
import { takeSnapshots } from './states/take-snapshots.ts';
import { removeViews, viewOf } from './states/view-snapshot.ts';
import { writeCompletion } from './states/write-completion.ts';
import { type Origin, poolOf, type ZfsCommands } from './zfs-commands.ts';
import { ZfsTransfer } from './zfs-transfer.ts';

/** What was read so long ago is read again. */
const SAME_MOMENT_MS = 500;

/** What the driver is opened with. */
interface ZfsOptions {
  readonly zfs: ZfsCommands;
  readonly booted: Booted;
  /** Where homes are made; undefined for `USERDATA` in the pool of the machine that runs. */
  readonly homes: string | undefined;
  /** The daemon's own folder, where snapshots are looked into. */
  readonly folder: string;
  /** Keeps other daemons from the pool; undefined when the root is in none. */
  readonly lock: Disposable | undefined;
}

/** States as snapshots of ZFS, by its own programs. `docs/decisions/0016-zfs-through-its-programs.md` says how and why. */
export class Zfs implements Storage {
  readonly driver = 'zfs';
  readonly capabilities = { atomicGroup: true, needsRoot: true };
  readonly recommendedMinFree = 20;
  readonly homes: ZfsHomes;
  readonly transfer: ZfsTransfer;
  readonly #options: ZfsOptions;
  readonly #zfs: ZfsCommands;
  #isSettled = false;
  /** Roots or homes that the machine went back from were there when it was last read what lies where. */
  #hasRetired = true;
  #hasImports = true;
  #before: { readonly layout: Layout; readonly at: number } | undefined;
  #origins: { readonly found: readonly Origin[]; readonly at: number } | undefined;
  /** Ids of saves whose snapshots were made just now, so that none has a mark. */
  readonly #fresh = new Set<string>();

  constructor(options: ZfsOptions) {
    this.#options = options;
    this.#zfs = options.zfs;
    this.homes = new ZfsHomes(options.zfs, () => this.#layout(), options.homes);
    const { zfs, folder } = options;
    this.transfer = new ZfsTransfer({ zfs, folder, layout: () => this.#layout() });
  }

  get location(): string {
    const { dataset, snapshot } = this.#options.booted;
    return dataset || snapshot || 'no pool';
  }

  async scan({ alone } = { alone: false }): Promise<Scan> {
    this.#zfs.forgetPools();
    const found = await this.#layout();
    const { changes } = this.#zfs;
    const notes = this.#isSettled ? [] : await this.#settle(found);
    this.#isSettled = true;
    const layout = this.#zfs.changes === changes ? found : await this.#layout();
    // Imports come in while nobody writes, too. A program of a daemon that was killed may end after the next one's start.
    if (alone && this.transfer.busy.size === 0) await destroyEmptyParents(layout.systems, this.#zfs);
    const { states, leftovers, kept } = await scanStates(layout, this.#zfs, this.transfer.busy);
    return {
      machines: machinesOf(layout, states, this.#options.booted),
      homes: await this.homes.list(layout),
      states,
      leftovers,
      kept,
      notes,
    };
  }

  /** What only the first look does, when nobody writes. */
  async #settle(layout: Layout): Promise<readonly string[]> {
    const { systems, homes } = layout;
    await removeViews(systems, this.#zfs);
    await this.homes.removeUnfinished(layout);
    const moved = await finishMoves(homes, this.#zfs);
    return [...moved, ...(await removeUnfinished(systems, this.#options.booted, this.#zfs))];
  }

  /** What may still be written, to the byte: `zpool list` rounds, and counts what redundancy takes. */
  async space(): Promise<readonly Pool[]> {
    const layout = await this.#layout();
    this.#before = { layout, at: performance.now() };
    return poolSpaces(layout);
  }

  async snapshotGroup({ id, name, datasets, signal }: SnapshotRequest): Promise<Snapshot> {
    // A save asks for space and snapshots at once: what lies where is read once for both.
    const { layout: before, at = 0 } = this.#before ?? {};
    this.#before = undefined;
    const isFresh = before !== undefined && performance.now() - at < SAME_MOMENT_MS;
    const layout = isFresh ? before : await this.#layout();
    const trees = treesFor(datasets, layout);
    const request = { id, name: snapshotName(id, name), trees, systems: layout.systems, signal };
    const group = await takeSnapshots(request, this.#zfs);
    this.#fresh.add(id);
    return group;
  }

  async complete(states: readonly State[]): Promise<void> {
    const id = states[0]?.system ?? states[0]?.id ?? '';
    await writeCompletion(states, this.#zfs, { isFirst: this.#fresh.delete(id) });
    this.transfer.forget(states[0]?.id ?? '');
  }

  async discard(id: string): Promise<void> {
    this.#fresh.delete(id);
    this.transfer.forget(id);
    const layout = await this.#layout();
    await discardSave(id, layout, this.#zfs);
    await destroyImport(id, layout.systems, this.#options.folder, this.#zfs);
  }

  async keep(id: string): Promise<void> {
    await keepSave(id, await this.#layout(), this.#zfs);
  }

  async destroy(states: readonly State[]): Promise<void> {
    // Whoever plans a removal has asked for dependants: what is a clone of what is read once for both.
    const { found, at = 0 } = this.#origins ?? {};
    this.#origins = undefined;
    const isFresh = found !== undefined && performance.now() - at < SAME_MOMENT_MS;
    const [members, origins] = await Promise.all([
      membersNow(states, () => this.#layout(), this.#zfs),
      isFresh ? found : this.#zfs.origins(),
    ]);
    await destroySnapshots(members, origins, this.#zfs);
    if (states[0]?.system === undefined) return;
    try {
      await takeOut(states, await this.#layout(), this.#zfs);
    } catch (error) {
      throw error instanceof Failure ? removalUnfinished(error) : error;
    }
  }

  async dependants(states: readonly State[]): Promise<readonly Dependant[]> {
    const names = states.flatMap(({ members }) => members.map(({ snapshot }) => snapshot));
    const origins = await this.#zfs.origins();
    this.#origins = { found: origins, at: performance.now() };
    if (!origins.some(({ origin }) => names.includes(origin))) return [];
    return await findDependants(names, await this.#layout(), this.#zfs);
  }

  async release(dependants: readonly Dependant[]): Promise<void> {
    this.#origins = undefined;
    await releaseDependants(dependants, this.#zfs);
  }

  async annotate(states: readonly State[]): Promise<void> {
    await checkLeads(states, this.#zfs);
    for (const { members, pinned, description } of states) {
      const note = JSON.stringify({ pinned, description });
      await this.#zfs.set(members[0]?.snapshot ?? '', 'croft:note', note);
    }
  }

  async savedTree(member: Member): Promise<EntryTree> {
    const found = await this.#zfs.properties([member.snapshot], ['guid', 'createtxg']);
    if (identityOf(found.get(member.snapshot)) !== member.guid)
      throw contentDamaged(`the snapshot ${member.snapshot}`);
    return viewOf(member.snapshot, await this.#layout(), this.#options.folder, this.#zfs);
  }

  async liveTree({ name, path, user }: Dataset): Promise<EntryTree> {
    if (user !== undefined && !(await isShownAt(name, bytesOf(path))))
      throw storageRefused(`${name} cannot be looked into`, `it is not what ${path} shows`);
    return walkedTree(pathBytes(path));
  }

  async findAdoption(machine: string): Promise<Adoption> {
    return await findAdoption(machine, await this.#layout(), this.#zfs);
  }

  async markMachine(id: string, marks: MachineMarks): Promise<void> {
    const machine = (await this.#layout()).machines.find((one) => one.id === id);
    if (machine === undefined) throw storageChanged(`the machine ${id}`);
    await markHead(machine, marks, this.#zfs);
  }

  async revert(wanted: readonly Member[]): Promise<readonly string[]> {
    return await prepareHead(wanted, await this.#layout(), this.#options.booted, this.#zfs);
  }

  async settleBoot(): Promise<boolean> {
    const { machines } = await this.#layout();
    const current = machines.find(({ isCurrent, managed }) => isCurrent && managed);
    if (current === undefined || current.before !== undefined) return false;
    const { name, marks } = current.active.system.root;
    // It holds only snapshots no longer.
    if (marks.has('croft:retired')) await this.#zfs.unset(name, 'croft:retired');
    const { changed, problems } = await switchMounts(name, this.#options.booted, this.#zfs);
    if (problems.length > 0) throw storageRefused('not all is mounted as it is to be', problems.join('; '));
    return changed;
  }

  async commitBoot(id: string): Promise<boolean> {
    const layout = await this.#layout();
    const machine = layout.machines.find((one) => one.id === id);
    if (machine === undefined) throw storageChanged(`the machine ${id}`);
    return await commitHead(machine, layout, this.#zfs);
  }

  async bootWords({ members: [first] }: State): Promise<readonly string[]> {
    return [`root=ZFS=${first?.snapshot ?? ''}`];
  }

  async checkBootable(state: State): Promise<void> {
    await checkLeads([state], this.#zfs);
  }

  /** Snapshots take what they hold along; what is left are roots that a machine went back from, and where imports lay. */
  async collect(): Promise<Freed> {
    const retired = this.#hasRetired ? await collectRetired(await this.#layout(), this.#zfs) : 0;
    const { busy } = this.transfer;
    const imports = this.#hasImports
      ? await collectImports((await this.#layout()).systems, busy, this.#zfs)
      : 0;
    return { objects: retired + imports, bytes: 0 };
  }

  async trouble(): Promise<string | undefined> {
    const { dataset, snapshot } = this.#options.booted;
    return await poolTrouble(poolOf(dataset || snapshot), this.#zfs);
  }

  async close(): Promise<void> {
    this.#options.lock?.[Symbol.dispose]();
  }

  async #layout(): Promise<Layout> {
    const systems = await readFileSystems(this.#zfs);
    this.#hasRetired = systems.some(({ marks }) => marks.has('croft:retired'));
    this.#hasImports = systems.some((system) => importOf(system) !== undefined);
    return layoutOf(systems, this.#options.booted);
  }
}
