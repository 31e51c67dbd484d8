import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { storageChanged, storageRefused } from '../../../failures.ts';
import { isBelow } from '../../mounts.ts';
import type { RunProgram } from '../../programs.ts';
import { exchange } from './exchange.ts';
import { STATES, WORK } from './layout.ts';
import { NestedSubvolumes } from './nested-subvolumes.ts';
import type { Subvolumes } from './subvolumes.ts';
import { type Replacement, type Switch, SwitchFile } from './switch-file.ts';

/** A subvolume that is to be what a snapshot is. */
export interface Wish {
  readonly live: string;
  /** The read-only snapshot. */
  readonly saved: string;
}

/**
 * Replaces subvolumes by writable copies of snapshots: everything is made beforehand, then written down, and then each is
 * exchanged at one instant. From the writing down on it is carried to its end, at the next start if need be.
 */
export class SubvolumeSwitch {
  readonly #subvolumes: Subvolumes;
  readonly #nested: NestedSubvolumes;
  readonly #run: RunProgram;
  readonly #file: SwitchFile;

  constructor(subvolumes: Subvolumes, run: RunProgram) {
    this.#subvolumes = subvolumes;
    this.#nested = new NestedSubvolumes(subvolumes);
    this.#run = run;
    this.#file = new SwitchFile(subvolumes.at(STATES));
  }

  /** @param key for which boot and state: what was begun under it is finished and not begun again */
  async replace(wishes: readonly Wish[], key: string): Promise<void> {
    await this.settle();
    if ((await this.#file.read())?.key === key) return;
    await this.#checkExchange();
    const replacements: Replacement[] = [];
    for (const wish of wishes) replacements.push(await this.#prepare(wish));
    await this.#file.write({ key, done: false, replacements });
    await this.settle();
  }

  /** Finishes what was begun, and clears away what nobody needs. */
  async settle(): Promise<void> {
    const last = await this.#file.read();
    if (last?.done === false) await this.#finish(last);
    await this.clear();
  }

  /** Deletes what was replaced, and what was made and never used. What is mounted, such as a root, stays until it is not. */
  async clear(): Promise<void> {
    const last = await this.#file.read();
    // What is begun and not done stopped at something that somebody has to see to.
    if (last?.done === false) return;
    const paths = (await readdir(this.#subvolumes.at(WORK))).map((name) => `${WORK}/${name}`);
    for (const { work, oldUuid } of last?.replacements ?? [])
      if (!isBelow(work, WORK) && (await this.#uuidOf(work)) === oldUuid) paths.push(work);
    const idle = [];
    for (const path of paths) if (!(await this.#subvolumes.isMounted(path))) idle.push(path);
    await this.#subvolumes.delete(idle);
    // What the look for a way to exchange left is an empty folder, and no subvolume.
    for (const path of idle)
      if (!(await this.#subvolumes.isThere(path))) await rmdir(this.#subvolumes.at(path)).catch(() => {});
  }

  async #prepare({ live, saved }: Wish): Promise<Replacement> {
    const nested = await this.#nested.movable(live, saved);
    const booted = await this.#bootedCopyOf(saved);
    const work = booted ?? `${WORK}/${randomUUID()}`;
    if (booted === undefined) await this.#subvolumes.copy(saved, work);
    const [oldUuid, newUuid] = [await this.#uuidOf(live), await this.#uuidOf(work)];
    if (oldUuid === undefined) throw storageRefused(`${live} cannot be replaced`, 'it is no subvolume');
    if (newUuid === undefined) throw storageChanged(work);
    return { live, work, oldUuid, newUuid, nested };
  }

  /** Where every step may have been done already. */
  async #finish(begun: Switch): Promise<void> {
    // All of them first: what is in the way of the rest stops nothing half way, where people would work on what goes away.
    for (const { live, work, oldUuid, newUuid } of begun.replacements) {
      if ((await this.#uuidOf(live)) === oldUuid && (await this.#uuidOf(work)) === newUuid)
        await exchange(this.#subvolumes.at(live), this.#subvolumes.at(work), this.#run);
      if ((await this.#uuidOf(live)) !== newUuid) throw storageChanged(live);
    }
    for (const { live, work, nested } of begun.replacements) {
      await this.#nested.move(nested, work, live);
      await this.#moveDefault(work, live);
    }
    await this.#file.write({ ...begun, done: true });
  }

  /** Where the machine boots what the file system calls its default, the new one is that from now on. */
  async #moveDefault(from: string, to: string): Promise<void> {
    const [old, now] = [await this.#subvolumes.show(from), await this.#subvolumes.show(to)];
    if (old === undefined || now === undefined) return;
    if ((await this.#subvolumes.defaultId()) === old.id) await this.#subvolumes.setDefault(now.id);
  }

  /** A machine that was booted from a writable copy of the state goes on in it. */
  async #bootedCopyOf(saved: string): Promise<string | undefined> {
    const root = await this.#subvolumes.runningRoot();
    if (root === undefined || !isBelow(root, STATES)) return undefined;
    const [copy, original] = [await this.#subvolumes.show(root), await this.#subvolumes.show(saved)];
    return copy !== undefined && copy.parentUuid === original?.uuid ? root : undefined;
  }

  /** Before anything is begun: without a way to exchange there would be no way on. */
  async #checkExchange(): Promise<void> {
    const places = [0, 1].map(() => this.#subvolumes.at(`${WORK}/${randomUUID()}`)) as [string, string];
    for (const place of places) await mkdir(place);
    try {
      await exchange(...places, this.#run);
    } finally {
      for (const place of places) await rmdir(place);
    }
  }

  async #uuidOf(path: string): Promise<string | undefined> {
    return (await this.#subvolumes.show(path))?.uuid;
  }
}
