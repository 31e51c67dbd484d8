import { access, constants, mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { contentDamaged, treeSilent } from '../../../failures.ts';
import type { Dataset, Machine, Member, State } from '../../../model/model.ts';
import { pathBytes, pathIn } from '../../../model/path-text.ts';
import { diskFailure } from '../../../rules/machines/disk-failure.ts';
import { sizeText } from '../../../rules/machines/sizes.ts';
import type { Pool } from '../../../rules/states/save-plan.ts';
import { Turns } from '../../../turns.ts';
import { isAnswering, NO_ANSWER } from '../../answering.ts';
import { syncNames } from '../../write-durably.ts';
import { knownMachines } from '../known-machines.ts';
import type {
  EntryTree,
  Freed,
  MachineMarks,
  Scan,
  ScanOptions,
  Snapshot,
  SnapshotRequest,
  Storage,
} from '../storage.ts';
import { walkedTree } from '../walked-tree.ts';
import { Additions } from './content/additions.ts';
import { collectGarbage } from './content/collect-garbage.ts';
import { Objects } from './content/objects.ts';
import { StoreFailed } from './content/read-file.ts';
import { StatCache } from './content/stat-cache.ts';
import { lstat } from './files.ts';
import { annotateRecord, changeRecord, readRecords, removeRecord, saveOf, writeRecord } from './records.ts';
import { RecordsStamp } from './records-stamp.ts';
import { entriesOf, readManifest } from './trees/manifest.ts';
import { revertTree } from './trees/revert-tree.ts';
import { snapshotDataset } from './trees/snapshot-dataset.ts';
import { whileTelling } from './trees/while-telling.ts';
import { VaultHomes } from './vault-homes.ts';
import { VaultMarks } from './vault-marks.ts';
import { VaultTransfer } from './vault-transfer.ts';

const FOREVER = new AbortController().signal;

/** What a vault is opened with. */
interface VaultOptions {
  /** Where it keeps things. */
  readonly folder: string;
  /** The machine that runs. */
  readonly machine: Machine;
  /** A folder that is left out of every tree, because the vault and what belongs to it lie there. */
  readonly leaveOut: string;
}

/** Opens the vault in a folder, which is made when it is not there. */
export async function openVault(options: VaultOptions): Promise<Storage> {
  const { folder } = options;
  for (const part of ['/objects', '/states', '/staging', '/cache']) {
    await mkdir(folder + part, { recursive: true, mode: 0o700 });
  }
  return new Vault(options);
}

/** A state between its snapshots and its completion mark. */
interface Pending {
  readonly members: readonly Member[];
  readonly caches: readonly StatCache[];
}

/** States as trees of files in a content-addressed store: any file system, no privileges. See DESIGN.md. */
class Vault implements Storage {
  readonly driver = 'vault';
  readonly location: string;
  readonly capabilities = { atomicGroup: false, needsRoot: false };
  readonly recommendedMinFree = 5;
  readonly homes: VaultHomes;
  readonly transfer: VaultTransfer;
  readonly #options: VaultOptions;
  readonly #objects: Objects;
  readonly #stamp: RecordsStamp;
  readonly #marks: VaultMarks;
  /** Adding and collecting exclude each other across machines: content that is just being added has no state yet. */
  readonly #turns = new Turns();
  readonly #pending = new Map<string, Pending>();

  constructor(options: VaultOptions) {
    this.location = options.folder;
    this.#options = options;
    this.#objects = new Objects(`${options.folder}/objects`);
    this.#stamp = new RecordsStamp(`${options.folder}/states`);
    this.homes = new VaultHomes(options.folder, options.leaveOut);
    this.#marks = new VaultMarks(options.folder);
    this.transfer = new VaultTransfer({
      objects: this.#objects,
      stagingOf: (id) => `${this.#folder('staging')}/${id}`,
      alone: (label, work) => this.#turns.take('vault', label, FOREVER, work),
      keep: (id, members) => this.#pending.set(id, { members, caches: [] }),
      explain: (error) => this.#explain(error),
    });
  }

  /** Only who is alone takes all that is read for what is there. */
  async scan({ alone, remembered }: ScanOptions = { alone: false }): Promise<Scan> {
    if (!alone) return this.#read({ alone });
    return this.#stamp.reading((stamp) =>
      this.#read({ alone, unchanged: remembered?.stamp === stamp ? remembered?.states : undefined }),
    );
  }

  async #read({
    alone,
    unchanged,
  }: {
    alone: boolean;
    unchanged?: readonly State[] | undefined;
  }): Promise<Scan> {
    const states = unchanged ?? (await readRecords(this.#folder('states')));
    return {
      machines: knownMachines(this.#options.machine, states, await this.#marks.read()),
      homes: await (alone ? this.homes.reread() : this.homes.list()),
      states,
      leftovers: (await readdir(this.#folder('staging'))).filter((id) => !this.transfer.isBusy(id)),
    };
  }

  async stamp(): Promise<string | undefined> {
    return this.#stamp.now();
  }

  async space(): Promise<readonly Pool[]> {
    const { bsize, blocks, bavail } = await statfs(this.location);
    return [{ name: `the disk of ${this.location}`, size: bsize * blocks, free: bsize * bavail }];
  }

  async snapshotGroup(request: SnapshotRequest): Promise<Snapshot> {
    return this.#turns.take('vault', 'save', request.signal, async () => {
      const staging = `${this.#folder('staging')}/${request.id}`;
      const additions = new Additions(this.#objects, staging, request);
      try {
        await mkdir(staging, { mode: 0o700 });
        const leaveOut = await lstat(this.#options.leaveOut);
        const caches: StatCache[] = [];
        const members: Member[] = [];
        // All at once, and before anything else looks at them.
        const answering = await Promise.all(request.datasets.map(({ path }) => isAnswering(pathBytes(path))));
        for (const [at, dataset] of request.datasets.entries()) {
          const cache = await StatCache.open(this.#folder('cache'), dataset.name);
          const isSilent = answering[at] === false;
          const place = { leaveOut, isSilent, isAway: !isSilent && (await this.homes.isAway(dataset)) };
          members.push(await snapshotDataset(dataset, place, additions, cache, request));
          caches.push(cache);
        }
        const howFar = () => `putting ${sizeText(additions.written)} on the disk`;
        await whileTelling(request.progress, howFar, () => additions.finish());
        this.#pending.set(request.id, { members, caches });
        return { members, oneInstant: false };
      } catch (error) {
        throw this.#explain(error);
      }
    });
  }

  async complete(states: readonly State[]): Promise<void> {
    const id = saveOf(states);
    await this.#writing(() => writeRecord(this.#folder('states'), id, states));
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    this.transfer.forget(id);
    // A cache that is not written costs the next save its time, nothing else.
    for (const cache of pending?.caches ?? []) await cache.save().catch(() => {});
  }

  async discard(id: string): Promise<void> {
    this.#pending.delete(id);
    this.transfer.forget(id);
    // Writing the mark may have failed half way.
    await this.#writing(() => removeRecord(this.#folder('states'), id));
    await this.#explained(() => rm(`${this.#folder('staging')}/${id}`, { recursive: true, force: true }));
  }

  async destroy(states: readonly State[]): Promise<void> {
    await this.#writing(() =>
      changeRecord(this.#folder('states'), states, (stored) =>
        stored.filter(({ id }) => !states.some((state) => state.id === id)),
      ),
    );
  }

  async annotate(states: readonly State[]): Promise<void> {
    await this.#writing(() => annotateRecord(this.#folder('states'), states));
  }

  async savedTree({ snapshot }: Member): Promise<EntryTree> {
    const manifest = await this.#manifest(snapshot);
    return { entries: () => readManifest(manifest), hash: async ({ hash }) => hash };
  }

  async liveTree({ path }: Dataset): Promise<EntryTree> {
    const root = pathBytes(path);
    if (!(await isAnswering(root))) throw treeSilent(path, NO_ANSWER);
    return walkedTree(root, { leaveOut: await lstat(this.#options.leaveOut) });
  }

  async markMachine(id: string, marks: MachineMarks): Promise<void> {
    await this.#marks.write(id, marks);
  }

  async revert(
    wanted: readonly Member[],
    present: readonly Member[],
    progress?: SnapshotRequest['progress'],
  ): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const member of wanted) {
      const now = present.find(({ dataset }) => dataset === member.dataset);
      // Homes move, so what counts is where the dataset lies now.
      if (now === undefined) problems.push(`${member.dataset} is no longer there and was left out`);
      else {
        const [then, today] = await Promise.all(
          [member, now].map(async ({ snapshot }) => entriesOf(await this.#manifest(snapshot))),
        );
        const seen = { done: 0, steps: 0 };
        const howFar = () => `${now.path}: ${seen.done} of ${seen.steps} changes`;
        const lines = await whileTelling(progress, howFar, () =>
          revertTree(this.#objects, pathBytes(now.path), today ?? [], then ?? [], seen),
        ).catch((error) => {
          throw diskFailure(error, `the disk of ${now.path}`);
        });
        problems.push(...lines.map((line) => pathIn(now.path, line)));
      }
    }
    return problems;
  }

  async #manifest(hash: string): Promise<string> {
    if (!(await this.#objects.has(hash))) throw contentDamaged('the list of its files');
    return this.#objects.pathOf(hash);
  }

  async collect(): Promise<Freed> {
    return this.#turns.take('vault', 'collect', FOREVER, async () => {
      // Before the records: a save of another machine that is completed meanwhile goes from here to there.
      const pending = [...this.#pending.values()];
      const states = await this.#stamp.still(() => readRecords(this.#folder('states')));
      const members = [...pending, ...states].flatMap((save) => save.members);
      const roots = members.map(({ snapshot }) => snapshot);
      return this.#explained(() => collectGarbage(this.#objects, this.#folder('cache'), roots));
    });
  }

  async trouble(): Promise<string | undefined> {
    try {
      const [pool] = await this.space();
      await readdir(this.#folder('staging'));
      // Also of root a disk that takes no writes is asked for.
      await access(this.#folder('states'), constants.W_OK);
      return pool?.free === 0 ? 'the disk is full' : undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Does something to records, and returns when no power cut undoes it. */
  async #writing(write: () => Promise<unknown>): Promise<void> {
    await this.#explained(() =>
      this.#stamp.writing(async () => {
        await write();
        await syncNames(this.#folder('states'));
      }),
    );
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #explain(error: unknown): unknown {
    const cause = error instanceof StoreFailed ? error.cause : error;
    return diskFailure(cause, `the disk of ${this.location}`);
  }

  #folder(part: 'states' | 'staging' | 'cache'): string {
    return `${this.location}/${part}`;
  }
}
