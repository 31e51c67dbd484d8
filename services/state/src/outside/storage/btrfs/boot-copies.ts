import { readdir } from 'node:fs/promises';
import { BOOT } from './layout.ts';
import type { Subvolumes } from './subvolumes.ts';

/**
 * Writable copies of states, which boot menus name: a snapshot cannot be written to, and a system that cannot write to its
 * root does not come up. A machine that was booted from one goes on in it, see `SubvolumeSwitch`.
 */
export class BootCopies {
  readonly #subvolumes: Subvolumes;

  constructor(subvolumes: Subvolumes) {
    this.#subvolumes = subvolumes;
  }

  /** The copy of a state's system; one that a boot has written to and not made its own is made anew. */
  async of(state: string, saved: string): Promise<string> {
    const path = `${BOOT}/${state}`;
    const [copy, original] = [await this.#subvolumes.show(path), await this.#subvolumes.show(saved)];
    const isGood = copy?.parentUuid === original?.uuid && copy?.pristine === true;
    if (isGood || (await this.#subvolumes.isMounted(path))) return path;
    await this.#subvolumes.delete([path]);
    await this.#subvolumes.snapshot(saved, path, { readOnly: false });
    return path;
  }

  /** Deletes those whose state is gone. */
  async keep(states: ReadonlySet<string>): Promise<void> {
    const ids = await readdir(this.#subvolumes.at(BOOT));
    await this.remove(ids.filter((id) => !states.has(id)));
  }

  /** Deletes those of states, except one that the machine runs on. */
  async remove(states: readonly string[]): Promise<void> {
    for (const path of states.map((id) => `${BOOT}/${id}`))
      if (!(await this.#subvolumes.isMounted(path))) await this.#subvolumes.delete([path]);
  }
}
