import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { storageChanged } from '../../../failures.ts';
import type { Member, State } from '../../../model/model.ts';
import { errorCode } from '../vault/files.ts';
import { changeRecord, readRecords, removeRecord, saveOf, writeRecord } from '../vault/records.ts';
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
  /** Snapshots that no record needs any more. */
  readonly #garbage = new Set<string>();
  /** Ids of saves that are being made. */
  readonly #begun = new Set<string>();

  constructor(subvolumes: Subvolumes) {
    this.#subvolumes = subvolumes;
  }

  /** Reads everything; a member that has gone, was replaced or can be written to makes its state partial. */
  async scan(): Promise<FoundStates> {
    const listed = await this.#subvolumes.listIn(STATES, { readOnly: true });
    const uuids = new Map(listed.map(({ path, uuid }) => [path, uuid]));
    const records = await readRecords(this.#subvolumes.at(RECORDS));
    const states = records.map((state) => ({
      ...state,
      members: state.members.map((member) => {
        const isWhole = uuids.get(member.snapshot) === member.guid;
        return isWhole ? member : { ...member, unreadable: Math.max(1, member.unreadable) };
      }),
    }));
    const needed = new Set(states.flatMap(({ members }) => members.map(({ snapshot }) => snapshot)));
    const leftovers = new Set<string>();
    for (const save of await this.#saves()) {
      const names = await readdir(this.#subvolumes.at(`${STATES}/${save}`));
      const unneeded = names.map((name) => memberPath(save, name)).filter((path) => !needed.has(path));
      for (const path of unneeded) this.#garbage.add(path);
      if (unneeded.length > 0 || names.length === 0) leftovers.add(save);
    }
    return { states, leftovers: [...leftovers] };
  }

  /** The folder of a save. */
  async begin(id: string): Promise<void> {
    this.#begun.add(id);
    await mkdir(this.#subvolumes.at(`${STATES}/${id}`), { mode: 0o700 });
  }

  async complete(states: readonly State[]): Promise<void> {
    await writeRecord(this.#subvolumes.at(RECORDS), saveOf(states), states);
    this.#begun.delete(saveOf(states));
  }

  /** Removes whatever there is of a save, recorded or not. */
  async discard(id: string): Promise<void> {
    await removeRecord(this.#subvolumes.at(RECORDS), id);
    await rm(this.#subvolumes.at(`${RECORDS}/${id}.json.new`), { force: true });
    await this.#clear(id);
    this.#begun.delete(id);
  }

  /** @throws ABORTED when a member is not the one that was recorded */
  async destroy(states: readonly State[]): Promise<void> {
    const listed = await this.#subvolumes.listIn(STATES);
    const uuids = new Map(listed.map(({ path, uuid }) => [path, uuid]));
    const members = states.flatMap((state) => state.members);
    for (const member of members) this.#check(member, uuids.get(member.snapshot));
    const kept = (all: readonly State[]) => all.filter(({ id }) => !states.some((state) => state.id === id));
    if (!(await changeRecord(this.#subvolumes.at(RECORDS), states, kept))) return;
    for (const { snapshot, guid } of members) if (uuids.get(snapshot) === guid) this.#garbage.add(snapshot);
  }

  async annotate(states: readonly State[]): Promise<void> {
    const found = await changeRecord(this.#subvolumes.at(RECORDS), states, (stored) =>
      stored.map((one) => {
        const { pinned, description } = states.find(({ id }) => id === one.id) ?? one;
        return { ...one, pinned, description };
      }),
    );
    if (!found) throw storageChanged(`state ${states[0]?.id}`);
  }

  /** Deletes the snapshots that no record needs. @returns how many */
  async collect(): Promise<number> {
    const garbage = [...this.#garbage];
    await this.#subvolumes.delete(garbage);
    for (const path of garbage) this.#garbage.delete(path);
    for (const save of new Set(garbage.map((path) => path.split('/')[1] ?? '')))
      await this.#removeFolder(save);
    return garbage.length;
  }

  /** One that a scan found hurt is somebody else's now, and stays where it is. */
  #check({ guid, snapshot, unreadable }: Member, found: string | undefined): void {
    if (found !== undefined && found !== guid && unreadable === 0) throw storageChanged(snapshot);
  }

  async #clear(id: string): Promise<void> {
    const folder = `${STATES}/${id}`;
    const names = await readdir(this.#subvolumes.at(folder)).catch((error) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    await this.#subvolumes.delete(names.map((name) => `${folder}/${name}`));
    await this.#removeFolder(id);
  }

  /** What is still in it, because it is not ours or comes late, is seen by the next scan. */
  async #removeFolder(id: string): Promise<void> {
    await rmdir(this.#subvolumes.at(`${STATES}/${id}`)).catch((error) => {
      if (!['ENOENT', 'ENOTEMPTY'].includes(errorCode(error) ?? '')) throw error;
    });
  }

  async #saves(): Promise<readonly string[]> {
    const names = await readdir(this.#subvolumes.at(STATES));
    return names.filter((name) => isSaveId(name) && !this.#begun.has(name));
  }
}
