import { treeMissing } from '../../../failures.ts';
import type { Member } from '../../../model/model.ts';
import type { BtrfsHomes } from './btrfs-homes.ts';

/** Which subvolume a dataset is now; homes move. */
export class LiveSubvolumes {
  readonly #system: string;
  readonly #homes: BtrfsHomes;

  constructor(system: string, homes: BtrfsHomes) {
    this.#system = system;
    this.#homes = homes;
  }

  /** From the top level on. @throws FAILED_PRECONDITION when it is a home no more */
  async of({ role, user, path }: Pick<Member, 'role' | 'user' | 'path'>): Promise<string> {
    if (role !== 'user') return this.#system;
    const subvolume = await this.#homes.subvolumeOf(user);
    if (subvolume === undefined) throw treeMissing(path, 'it is no home any more');
    return subvolume;
  }
}
