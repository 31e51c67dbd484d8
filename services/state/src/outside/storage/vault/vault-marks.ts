import { readFile } from 'node:fs/promises';
import { writeDurably } from '../../write-durably.ts';
import type { MachineMarks } from '../storage.ts';
import { errorCode } from './files.ts';

/** Facts of machines that change while they run, in one small file. */
export class VaultMarks {
  readonly #folder: string;

  /** @param folder the vault's */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** By machine id. A file that is damaged says nothing: what is in it is only for people and menus. */
  async read(): Promise<Readonly<Record<string, MachineMarks>>> {
    try {
      const { version, machines } = JSON.parse(await readFile(this.#file, 'utf8')) as {
        version: unknown;
        machines: Record<string, MachineMarks>;
      };
      return version === 1 ? machines : {};
    } catch (error) {
      if (error instanceof SyntaxError || errorCode(error) === 'ENOENT') return {};
      throw error;
    }
  }

  async write(id: string, marks: MachineMarks): Promise<void> {
    const machines = { ...(await this.read()) };
    machines[id] = { ...machines[id], ...marks };
    await writeDurably(this.#file, this.#folder, `${JSON.stringify({ version: 1, machines })}\n`);
  }

  get #file(): string {
    return `${this.#folder}/machines.json`;
  }
}
