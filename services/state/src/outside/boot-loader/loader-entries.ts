import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { menuRefused } from '../../failures.ts';
import type { Kernel, MenuEntry } from '../../rules/boot/boot-menu.ts';
import { entryText } from '../../rules/boot/entry-text.ts';
import type { RunProgram } from '../programs.ts';
import { syncFolder } from '../sync-folder.ts';
import type { BootLoader, Written } from './boot-loader.ts';
import { ifMissing } from './if-missing.ts';
import { KernelCopies, type Placed } from './kernel-copies.ts';

const ENTRIES = 'loader/entries';
/** Of the Boot Loader Interface: whose variables they are, and the bit of `LoaderFeatures` for an entry that is booted once. */
const VENDOR = '4a67b082-0a4c-41cf-b6c7-440b29bb8c4f';
const ENTRY_ONE_SHOT = 1 << 3;
const CROFTS = /^croft-.*\.conf(\.new)?$/;

/** A file with an entry, of whichever installation. */
interface Entry {
  readonly name: string;
  readonly text: string;
}

/** Boot loaders that read entries by the Boot Loader Specification, such as systemd-boot. */
export class LoaderEntries implements BootLoader {
  readonly name = 'entries';
  readonly #root: string;
  readonly #run: RunProgram;
  readonly #copies: KernelCopies;
  readonly #idFile: string;
  readonly #variables: string;

  /**
   * @param root where the partition with the folder `loader` is mounted
   * @param idFile says which installation this is
   * @param variables where the firmware's are shown
   */
  constructor(
    root: string,
    run: RunProgram,
    idFile = '/etc/machine-id',
    variables = '/sys/firmware/efi/efivars',
  ) {
    this.#root = root;
    this.#run = run;
    this.#copies = new KernelCopies(root);
    this.#idFile = idFile;
    this.#variables = variables;
  }

  async hasMenu(): Promise<boolean> {
    return (await this.#ours(await this.#machineId())).length > 0;
  }

  /** What is no longer to be in it goes first, as it may keep the room that kernels need. */
  async write(entries: readonly MenuEntry[]): Promise<Written> {
    try {
      const id = await this.#machineId();
      const kernels = new Set(entries.map(({ kernel }) => kernel));
      const ids = new Set(entries.map((entry) => `${entry.id}.conf`));
      let changed = await this.#removeEntries(id, ({ name }) => !ids.has(name));
      let { placed, noRoom } = await this.#copies.place(kernels);
      if (noRoom !== undefined) {
        // Entries may still name kernels that were replaced, such as an initial file system of before.
        const right = textsOf(entries, placed, id);
        if (await this.#removeEntries(id, ({ name, text }) => right.get(name) !== text)) changed = true;
        ({ placed, noRoom } = await this.#copies.place(kernels));
      }
      if (noRoom !== undefined && placed.size === 0) throw new Error(noRoom);
      if (await this.#writeEntries(textsOf(entries, placed, id))) changed = true;
      await this.#removeKernels();
      return { changed, entries: entries.filter(({ kernel }) => placed.has(kernel)), lacking: noRoom };
    } catch (error) {
      throw menuRefused(`${this.#root}/loader/entries`, (error as Error).message);
    }
  }

  async whyNotOnce(): Promise<string | undefined> {
    // Each variable begins with 4 bytes of flags.
    const features = (await this.#variable('LoaderFeatures'))?.at(4) ?? 0;
    const isAble = (features & ENTRY_ONE_SHOT) !== 0;
    return isAble ? undefined : 'no boot loader that takes an entry once started this machine';
  }

  async bootOnce(entry: string | undefined): Promise<void> {
    const before = await this.#oneShot();
    if (entry === undefined && !CROFTS.test(before)) return;
    const wanted = entry === undefined ? '' : `${entry}.conf`;
    if (before === wanted) return;
    // Not by hand: the kernel protects such variables from being written as files.
    const ran = await this.#run('bootctl', ['set-oneshot', wanted]);
    if ((await this.#oneShot()) !== wanted) throw new Error(`the entry was not taken: ${ran.why}`);
  }

  async asked(): Promise<string | undefined> {
    if ((await this.#variable('LoaderFeatures')) === undefined) return undefined;
    const entry = await this.#oneShot();
    return CROFTS.test(entry) ? entry.replace(/\.conf$/, '') : '';
  }

  async #oneShot(): Promise<string> {
    const bytes = await this.#variable('LoaderEntryOneShot');
    return bytes?.toString('utf16le', 4).replaceAll('\0', '') ?? '';
  }

  /** https://systemd.io/BOOT_LOADER_INTERFACE/ */
  async #variable(name: string): Promise<Buffer | undefined> {
    return await readFile(join(this.#variables, `${name}-${VENDOR}`)).catch(ifMissing);
  }

  async #writeEntries(texts: ReadonlyMap<string, string>): Promise<boolean> {
    const folder = join(this.#root, ENTRIES);
    await mkdir(folder, { recursive: true });
    let changed = false;
    for (const [name, text] of texts) {
      const file = join(folder, name);
      if ((await readFile(file, 'utf8').catch(() => undefined)) === text) continue;
      await writeFile(`${file}.new`, text, { flush: true });
      await rename(`${file}.new`, file);
      changed = true;
    }
    if (changed) await syncFolder(folder);
    return changed;
  }

  /** Of this installation, and the kernels that no entry names then. */
  async #removeEntries(id: string, isWrong: (entry: Entry) => boolean): Promise<boolean> {
    const folder = join(this.#root, ENTRIES);
    const wrong = (await this.#ours(id)).filter(isWrong);
    for (const { name } of wrong) await rm(join(folder, name));
    // A kernel must not be gone while a power cut may bring back what names it.
    if (wrong.length > 0) await syncFolder(folder);
    await this.#removeKernels();
    return wrong.length > 0;
  }

  async #removeKernels(): Promise<void> {
    await this.#copies.keep((await this.#entries(/\.conf$/)).map(({ text }) => text));
  }

  /** Several installations may share the partition, each with its own id. */
  async #ours(id: string): Promise<Entry[]> {
    const entries = await this.#entries(CROFTS);
    return entries.filter(({ text }) => (/^machine-id (\S+)$/m.exec(text)?.[1] ?? '') === id);
  }

  async #machineId(): Promise<string> {
    return (await readFile(this.#idFile, 'utf8').catch(() => '')).trim();
  }

  async #entries(names: RegExp): Promise<Entry[]> {
    const folder = join(this.#root, ENTRIES);
    const found = (await readdir(folder).catch((): string[] => [])).filter((name) => names.test(name));
    return Promise.all(
      found.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8').catch(() => '') })),
    );
  }
}

/** The files of the entries whose kernel is there. */
function textsOf(
  entries: readonly MenuEntry[],
  placed: ReadonlyMap<Kernel, Placed>,
  machineId: string,
): ReadonlyMap<string, string> {
  return new Map(
    entries.flatMap((entry) => {
      const kernel = placed.get(entry.kernel);
      return kernel === undefined ? [] : [[`${entry.id}.conf`, entryText(entry, { ...kernel, machineId })]];
    }),
  );
}

/** Where a partition with entries is mounted; undefined when there is none. */
export async function findEntriesRoot(candidates: readonly string[]): Promise<string | undefined> {
  for (const root of candidates)
    if ((await stat(join(root, 'loader')).catch(() => undefined))?.isDirectory()) return root;
  return undefined;
}
