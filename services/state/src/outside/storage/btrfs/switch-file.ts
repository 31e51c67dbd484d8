import { readFile } from 'node:fs/promises';
import { contentDamaged } from '../../../failures.ts';
import { writeDurably } from '../../write-durably.ts';
import { errorCode } from '../vault/files.ts';

/** One subvolume that is replaced. Paths are relative to the top level. */
export interface Replacement {
  /** Where the subvolume lies that is used. */
  readonly live: string;
  /** Where its replacement was made, and where it lies itself afterwards. */
  readonly work: string;
  readonly oldUuid: string;
  readonly newUuid: string;
  /** Subvolumes in it, which move along; paths below it. */
  readonly nested: readonly string[];
}

/** What going back to a state is about to do, or has done: after a crash it is done to its end. */
export interface Switch {
  /** For which boot and state. */
  readonly key: string;
  readonly done: boolean;
  readonly replacements: readonly Replacement[];
}

/** The one switch that is under way or was the last. */
export class SwitchFile {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws FAILED_PRECONDITION when it cannot be understood */
  async read(): Promise<Switch | undefined> {
    try {
      const { version, ...found } = JSON.parse(await readFile(this.#file, 'utf8')) as Switch & {
        version: unknown;
      };
      if (version === 1 && Array.isArray(found.replacements)) return found;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      if (errorCode(error) !== undefined) throw error;
    }
    throw contentDamaged(this.#file);
  }

  async write(given: Switch): Promise<void> {
    await writeDurably(this.#file, this.#folder, `${JSON.stringify({ version: 1, ...given })}\n`);
  }

  get #file(): string {
    return `${this.#folder}/switch.json`;
  }
}
