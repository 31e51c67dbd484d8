import { readFile } from 'node:fs/promises';
import { contentDamaged } from '../../failures.ts';
import type { Home } from '../../model/model.ts';
import { writeDurably } from '../write-durably.ts';
import { errorCode } from './vault/files.ts';

/** The list of homes, in a small file beside the states. */
export class HomesFile<Kept extends Home> {
  readonly #folder: string;
  readonly #settled: (kept: Kept) => Promise<Kept>;
  #kept: readonly Kept[] | undefined;

  /** @param settled what a home is after a crash that may have interrupted a change of it */
  constructor(folder: string, settled: (kept: Kept) => Promise<Kept>) {
    this.#folder = folder;
    this.#settled = settled;
  }

  /** Reads the list again: somebody else may have written it. What a crash interrupted is written down as settled. */
  async reread(): Promise<readonly Kept[]> {
    this.#kept = undefined;
    const read = await this.#read();
    this.#kept = await Promise.all(read.map(this.#settled));
    if (JSON.stringify(read) !== JSON.stringify(this.#kept)) await this.#write(this.#kept);
    return this.#kept;
  }

  async list(): Promise<readonly Kept[]> {
    const found = this.#kept ?? (await Promise.all((await this.#read()).map(this.#settled)));
    // It may have been written since it was read.
    this.#kept ??= found;
    return this.#kept;
  }

  /** A user has one home; by his name it is added or replaced. */
  async put(home: Kept): Promise<void> {
    const others = (await this.list()).filter(({ user }) => user !== home.user);
    await this.#write([...others, home].sort((a, b) => (a.user < b.user ? -1 : 1)));
  }

  async #write(kept: readonly Kept[]): Promise<void> {
    // When writing fails, only the file itself knows how far it came.
    this.#kept = undefined;
    await writeDurably(this.#file, this.#folder, `${JSON.stringify({ version: 1, homes: kept })}\n`);
    this.#kept = kept;
  }

  async #read(): Promise<readonly Kept[]> {
    try {
      const { version, homes } = JSON.parse(await readFile(this.#file, 'utf8')) as {
        version: unknown;
        homes: readonly Kept[];
      };
      if (version === 1 && Array.isArray(homes)) return homes;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      if (errorCode(error) !== undefined) throw error;
    }
    throw contentDamaged(`the list of homes ${this.#file}`);
  }

  get #file(): string {
    return `${this.#folder}/homes.json`;
  }
}
