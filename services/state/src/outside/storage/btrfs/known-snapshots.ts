import type { Subvolumes } from './subvolumes.ts';

/**
 * Uuids of snapshots that were listed once. A list is a program, and takes longer the more subvolumes there are; a snapshot that
 * looks as it did before it was listed, in a folder in which nothing was put or taken since, is the same.
 */
export class KnownSnapshots {
  readonly #subvolumes: Subvolumes;
  readonly #known = new Map<string, { readonly uuid: string; readonly look: string }>();

  constructor(subvolumes: Subvolumes) {
    this.#subvolumes = subvolumes;
  }

  /** The uuids of what lies at paths, with those of others perhaps; what is not there has none. */
  async uuidsAt(
    paths: readonly string[],
    list: () => Promise<ReadonlyMap<string, string>>,
  ): Promise<ReadonlyMap<string, string>> {
    // Before the list: what takes the place of one later looks otherwise.
    const looks = new Map<string, string | undefined>();
    for (const path of paths) looks.set(path, await this.#subvolumes.lookOf(path));
    const known = paths.flatMap((path): [string, string][] => {
      const { uuid, look } = this.#known.get(path) ?? {};
      return uuid !== undefined && look === looks.get(path) ? [[path, uuid]] : [];
    });
    if (known.length === paths.length) return new Map(known);
    const uuids = await list();
    for (const [path, look] of looks) {
      const uuid = uuids.get(path);
      if (uuid === undefined || look === undefined) this.#known.delete(path);
      else this.#known.set(path, { uuid, look });
    }
    return uuids;
  }

  /** Snapshots that were just made, by path. */
  async add(uuids: ReadonlyMap<string, string>): Promise<void> {
    for (const [path, uuid] of uuids) {
      const look = await this.#subvolumes.lookOf(path);
      if (look !== undefined) this.#known.set(path, { uuid, look });
    }
  }

  /** They are gone. */
  forget(paths: readonly string[]): void {
    for (const path of paths) this.#known.delete(path);
  }
}
