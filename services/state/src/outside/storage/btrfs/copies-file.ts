import { readFile } from 'node:fs/promises';
import { contentDamaged } from '../../../failures.ts';
import { writeDurably } from '../../write-durably.ts';
import { errorCode } from '../vault/files.ts';

/** Which copies of states this daemon made: their uuids by the id of the state. */
export class CopiesFile {
  readonly #folder: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async uuidOf(state: string): Promise<string | undefined> {
    return (await this.#read())[state];
  }

  /** Undefined strikes it out. One change comes after the other: states of several machines are removed side by side. */
  async put(state: string, uuid: string | undefined): Promise<void> {
    const change = this.#writing.then(() => this.#put(state, uuid));
    this.#writing = change.catch(() => {});
    await change;
  }

  async #put(state: string, uuid: string | undefined): Promise<void> {
    const { [state]: before, ...others } = await this.#read();
    if (before === uuid) return;
    const copies = uuid === undefined ? others : { ...others, [state]: uuid };
    await writeDurably(this.#file, this.#folder, `${JSON.stringify({ version: 1, copies })}\n`);
  }

  /** @throws FAILED_PRECONDITION when it cannot be understood */
  async #read(): Promise<Readonly<Record<string, string>>> {
    try {
      const { version, copies } = JSON.parse(await readFile(this.#file, 'utf8')) as {
        version: unknown;
        copies: Readonly<Record<string, string>> | null;
      };
      if (version === 1 && typeof copies === 'object' && copies !== null) return copies;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return {};
      if (errorCode(error) !== undefined) throw error;
    }
    throw contentDamaged(`the list of bootable copies ${this.#file}`);
  }

  get #file(): string {
    return `${this.#folder}/copies.json`;
  }
}
