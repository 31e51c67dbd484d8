import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { storageChanged } from '../../../failures.ts';
import type { Member, State } from '../../../model/model.ts';
import { syncNames } from '../../write-durably.ts';
import { errorCode } from '../vault/files.ts';
import {
  annotateRecord,
  changeRecord,
  readRecord,
  readRecords,
  removeRecord,
  saveOf,
  writeRecord,
} from '../vault/records.ts';
import { KnownSnapshots } from './known-snapshots.ts';
import { isSaveId, memberPath, RECORDS, STATES } from './layout.ts';
import type { Subvolumes } from './subvolumes.ts';

/** What was found of saves. */
interface FoundStates {
  readonly states: readonly State[];
  /** Ids of saves of which something lies there that no record needs. */
  readonly leftovers: readonly string[];
}

/** Records and the snapshots they speak of. A snapshot is ours when it lies where ours lie and has the uuid of the record. */
export class StatesOnDisk {
  readonly #subvolumes: Subvolumes;
  /** What is known of snapshots since this daemon runs. */
  readonly known: KnownSnapshots;
  /** Uuids of snapshots that no record needs any more, by path. */
  readonly #garbage = new Map<string, string>();
  /** Ids of saves that are being made. */
  readonly #begun = new Set<string>();

  constructor(subvolumes: Subvolumes) {
    this.#subvolumes = subvolumes;
    this.known = new KnownSnapshots(subvolumes);
  }

  /** Reads everything; a member that has gone, was replaced or can be written to makes its state partial. */
  async scan(): Promise<FoundStates> {
    // Folders before records: the record of a save that is completed meanwhile comes after its folder. And what is there after
    // them, or the same save would look hurt.
    const folders = await this.#folders();
    const records = await readRecords(this.#subvolumes.at(RECORDS));
    const whole = await this.#uuids({ readOnly: true });
    const states = records.map((state) => ({
      ...state,
      members: state.members.map((member) => {
        const isWhole = whole.get(member.snapshot) === member.guid;
        return isWhole ? member : { ...member, unreadable: Math.max(1, member.unreadable) };
      }),
    }));
    const needed = pathsOf(records);
    const isLeftover = ({ paths }: Folder) => paths.length === 0 || paths.some((path) => !needed.has(path));
    const leftovers = folders.filter(isLeftover);
    if (leftovers.length > 0) await this.#markGarbage(leftovers, needed);
    return { states, leftovers: leftovers.map(({ save }) => save) };
  }

  /** The folder of a save. */
  async begin(id: string): Promise<void> {
    this.#begun.add(id);
    await mkdir(this.#subvolumes.at(`${STATES}/${id}`), { mode: 0o700 });
  }

  /** A save that was cut off goes on. */
  resume(id: string): void {
    this.#begun.add(id);
  }

  /** What is done to the records lasts from {@link sync} on. */
  async complete(states: readonly State[]): Promise<void> {
    await writeRecord(this.#subvolumes.at(RECORDS), saveOf(states), states);
    this.#begun.delete(saveOf(states));
  }

  /** No power cut undoes what was done to the records. */
  async sync(): Promise<void> {
    await syncNames(this.#subvolumes.at(RECORDS));
  }

  /** Whether a save has its record. */
  isRecorded(id: string): boolean {
    return readRecord(this.#subvolumes.at(RECORDS), id) !== undefined;
  }

  /** Uuids of read-only subvolumes. @throws ABORTED when one is not there */
  async uuidsOf(paths: readonly string[]): Promise<readonly string[]> {
    const there = await this.#uuids({ readOnly: true });
    return paths.map((path) => {
      const uuid = there.get(path);
      if (uuid === undefined) throw storageChanged(path);
      return uuid;
    });
  }

  /** Removes whatever there is of a save, recorded or not. */
  async discard(id: string): Promise<void> {
    await removeRecord(this.#subvolumes.at(RECORDS), id);
    await this.sync();
    await this.#clear(id);
    this.#begun.delete(id);
  }

  /** @throws ABORTED when a member is not the one that was recorded */
  async destroy(states: readonly State[]): Promise<void> {
    const members = states.flatMap((state) => state.members);
    const uuids = await this.#uuidsAt(members.map(({ snapshot }) => snapshot));
    for (const member of members) this.#check(member, uuids.get(member.snapshot));
    const kept = (all: readonly State[]) => all.filter(({ id }) => !states.some((state) => state.id === id));
    if (!(await changeRecord(this.#subvolumes.at(RECORDS), states, kept))) return;
    for (const { snapshot, guid } of members)
      if (uuids.get(snapshot) === guid) this.#garbage.set(snapshot, guid);
  }

  async annotate(states: readonly State[]): Promise<void> {
    await annotateRecord(this.#subvolumes.at(RECORDS), states);
    await this.sync();
  }

  /** Deletes the snapshots that no record needs, as long as they are what was found. @returns how many */
  async collect(): Promise<number> {
    if (this.#garbage.size === 0) return 0;
    const found = [...this.#garbage];
    const saves = new Set(found.map(([path]) => path.split('/')[1] ?? ''));
    // A record needs only what lies in the folder of its own save.
    const records = [...saves].flatMap((save) => readRecord(this.#subvolumes.at(RECORDS), save) ?? []);
    const needed = pathsOf(records);
    const uuids = await this.#uuidsAt(found.map(([path]) => path));
    const garbage = found.filter(([path, uuid]) => !needed.has(path) && uuids.get(path) === uuid);
    await this.#delete(garbage.map(([path]) => path));
    for (const [path] of found) this.#garbage.delete(path);
    for (const save of saves) if (!this.#begun.has(save)) await this.#removeFolder(save);
    return garbage.length;
  }

  /** One that a scan found hurt is somebody else's now, and stays where it is. */
  #check({ guid, snapshot, unreadable }: Member, found: string | undefined): void {
    if (found !== undefined && found !== guid && unreadable === 0) throw storageChanged(snapshot);
  }

  async #clear(id: string): Promise<void> {
    const folder = `${STATES}/${id}`;
    const names = await this.#namesIn(id);
    await this.#delete(names.map((name) => `${folder}/${name}`));
    await this.#removeFolder(id);
  }

  async #delete(paths: readonly string[]): Promise<void> {
    await this.#subvolumes.delete(paths);
    this.known.forget(paths);
  }

  /** What is still in it, because it is not ours or comes late, is seen by the next scan. */
  async #removeFolder(id: string): Promise<void> {
    await rmdir(this.#subvolumes.at(`${STATES}/${id}`)).catch((error) => {
      if (!['ENOENT', 'ENOTEMPTY'].includes(errorCode(error) ?? '')) throw error;
    });
  }

  /** Folders of saves that are not being made, with what lies in them. */
  async #folders(): Promise<readonly Folder[]> {
    const names = await readdir(this.#subvolumes.at(STATES));
    const saves = names.filter((name) => isSaveId(name) && !this.#begun.has(name));
    const folders: Folder[] = [];
    for (const save of saves)
      folders.push({ save, paths: (await this.#namesIn(save)).map((name) => memberPath(save, name)) });
    return folders;
  }

  async #namesIn(save: string): Promise<readonly string[]> {
    return await readdir(this.#subvolumes.at(`${STATES}/${save}`)).catch((error) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
  }

  async #markGarbage(leftovers: readonly Folder[], needed: ReadonlySet<string>): Promise<void> {
    const uuids = await this.#uuids();
    for (const path of leftovers.flatMap(({ paths }) => paths)) {
      const uuid = uuids.get(path);
      if (uuid !== undefined && !needed.has(path)) this.#garbage.set(path, uuid);
    }
  }

  #uuidsAt(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.known.uuidsAt(paths, () => this.#uuids());
  }

  async #uuids(options?: { readOnly: boolean }): Promise<ReadonlyMap<string, string>> {
    const listed = await this.#subvolumes.listIn(STATES, options);
    return new Map(listed.map(({ path, uuid }) => [path, uuid]));
  }
}

/** The folder of a save, with the paths that lie in it from the top level on. */
interface Folder {
  readonly save: string;
  readonly paths: readonly string[];
}

function pathsOf(states: readonly State[]): ReadonlySet<string> {
  return new Set(states.flatMap(({ members }) => members.map(({ snapshot }) => snapshot)));
}
