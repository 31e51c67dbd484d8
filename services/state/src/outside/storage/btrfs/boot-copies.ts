import { readdir, rename } from 'node:fs/promises';
import { syncFolder } from '../../sync-folder.ts';
import { CopiesFile } from './copies-file.ts';
import { BOOT, isSaveId, STATES } from './layout.ts';
import type { Subvolumes } from './subvolumes.ts';

type Warn = (line: string) => void;

/**
 * Writable copies of states, which boot menus name: a snapshot cannot be written to, and a system that cannot write to its
 * root does not come up. A machine that was booted from one goes on in it, see `SubvolumeSwitch`. What was written to one in a
 * boot that did not become the machine's is nowhere else, so such a copy is never deleted, and what is not ours neither.
 */
export class BootCopies {
  readonly #subvolumes: Subvolumes;
  readonly #file: CopiesFile;

  constructor(subvolumes: Subvolumes) {
    this.#subvolumes = subvolumes;
    this.#file = new CopiesFile(subvolumes.at(STATES));
  }

  /** The copy of a state's system. One that a boot has written to is put beside it and made anew. */
  async of(state: string, saved: string, warn: Warn): Promise<string> {
    const path = `${BOOT}/${state}`;
    const [copy, original] = [await this.#subvolumes.show(path), await this.#subvolumes.show(saved)];
    const isGood = copy !== undefined && copy.parentUuid === original?.uuid && copy.pristine;
    if (isGood) await this.#file.put(state, copy.uuid);
    if (isGood || (await this.#subvolumes.isMounted(path))) return path;
    if (copy !== undefined && !(await this.#deleted(state))) await this.#putAside(path, copy.uuid, warn);
    await this.#subvolumes.copy(saved, path);
    const made = await this.#subvolumes.show(path);
    if (made !== undefined) await this.#file.put(state, made.uuid);
    return path;
  }

  /** Deletes those whose state is gone. */
  async keep(states: ReadonlySet<string>, warn: Warn): Promise<void> {
    const ids = (await readdir(this.#subvolumes.at(BOOT))).filter(isSaveId);
    await this.remove(
      ids.filter((id) => !states.has(id)),
      warn,
    );
  }

  /** Deletes those of states, except one that the machine runs on. */
  async remove(states: readonly string[], warn: Warn): Promise<void> {
    for (const state of states) {
      const path = `${BOOT}/${state}`;
      if (!(await this.#subvolumes.isThere(path)) || (await this.#subvolumes.isMounted(path))) continue;
      if (await this.#deleted(state)) await this.#file.put(state, undefined);
      else warn(`the copy ${path} of a state that is gone is kept, because it may have been written to`);
    }
  }

  /** Deletes a copy that this daemon made and nobody wrote to. @returns false when it is kept */
  async #deleted(state: string): Promise<boolean> {
    const path = `${BOOT}/${state}`;
    // What was written a moment ago does not show before it is on the disk.
    await this.#subvolumes.sync();
    const copy = await this.#subvolumes.show(path);
    if (copy?.pristine !== true || copy.uuid !== (await this.#file.uuidOf(state))) return false;
    await this.#subvolumes.delete([path]);
    return true;
  }

  async #putAside(path: string, uuid: string, warn: Warn): Promise<void> {
    const aside = `${path}.written-${uuid}`;
    await rename(this.#subvolumes.at(path), this.#subvolumes.at(aside));
    await syncFolder(this.#subvolumes.at(BOOT));
    warn(
      `what a boot wrote to the copy ${path} is kept in ${aside}: delete that with "btrfs subvolume delete" when nobody needs it`,
    );
  }
}
