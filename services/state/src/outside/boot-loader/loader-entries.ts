import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { menuRefused } from '../../failures.ts';
import type { Kernel, MenuEntry } from '../../rules/boot/boot-menu.ts';
import { entryText } from '../../rules/boot/entry-text.ts';
import { sizeText } from '../../rules/machines/sizes.ts';
import type { RunProgram } from '../programs.ts';
import { syncFolder } from '../sync-folder.ts';
import type { BootLoader } from './boot-loader.ts';
import { ifMissing } from './if-missing.ts';

/** Left free on a boot partition, which others write to as well. */
const RESERVE_BYTES = 8 * 1024 * 1024;
/** Our folder beside `loader`, with copies of kernels that lie elsewhere. */
const KERNELS = 'croft';
const ENTRIES = 'loader/entries';
/** Of the Boot Loader Interface: whose variables they are, and the bit of `LoaderFeatures` for an entry that is booted once. */
const VENDOR = '4a67b082-0a4c-41cf-b6c7-440b29bb8c4f';
const ENTRY_ONE_SHOT = 1 << 3;
const CROFTS = /^croft-.*\.conf(\.new)?$/;

/** Boot loaders that read entries by the Boot Loader Specification, such as systemd-boot. */
export class LoaderEntries implements BootLoader {
  readonly name = 'entries';
  readonly #root: string;
  readonly #run: RunProgram;
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
    this.#idFile = idFile;
    this.#variables = variables;
  }

  async hasMenu(): Promise<boolean> {
    return (await this.#ours(await this.#machineId())).length > 0;
  }

  async write(entries: readonly MenuEntry[]): Promise<boolean> {
    try {
      const id = await this.#machineId();
      const places = await this.#place(new Set(entries.map(({ kernel }) => kernel)));
      const wanted = new Map(
        entries.map((entry) => {
          const kernel = places.get(entry.kernel) as Placed;
          return [`${entry.id}.conf`, entryText(entry, { ...kernel, machineId: id })];
        }),
      );
      const changed = await this.#replaceEntries(wanted, id);
      await this.#removeKernels();
      return changed;
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

  /** New ones before old ones go, so that there is always a way. */
  async #replaceEntries(wanted: ReadonlyMap<string, string>, id: string): Promise<boolean> {
    const folder = join(this.#root, ENTRIES);
    await mkdir(folder, { recursive: true });
    let changed = false;
    for (const [name, text] of wanted) {
      const file = join(folder, name);
      if ((await readFile(file, 'utf8').catch(() => undefined)) === text) continue;
      await writeFile(`${file}.new`, text, { flush: true });
      await rename(`${file}.new`, file);
      changed = true;
    }
    for (const name of await this.#ours(id)) {
      if (wanted.has(name)) continue;
      await rm(join(folder, name));
      changed = true;
    }
    if (changed) await syncFolder(folder);
    return changed;
  }

  /** Where the boot loader finds each kernel: it reads this partition only. */
  async #place(kernels: ReadonlySet<Kernel>): Promise<ReadonlyMap<Kernel, Placed>> {
    const placed = new Map<Kernel, Placed>();
    for (const kernel of kernels) {
      const { linux, initrd } = kernel;
      placed.set(kernel, {
        linux: await this.#reachable(linux),
        initrd: initrd === undefined ? undefined : await this.#reachable(initrd),
      });
    }
    return placed;
  }

  async #reachable(file: string): Promise<string> {
    const inside = relative(this.#root, file);
    if (!inside.startsWith('..')) return `/${inside}`;
    const copy = join(KERNELS, await digestOf(file), basename(file));
    await this.#copy(file, join(this.#root, copy));
    return `/${copy}`;
  }

  async #copy(file: string, copy: string): Promise<void> {
    const { size } = await stat(file);
    if ((await stat(copy).catch(() => undefined))?.size === size) return;
    const { bavail, bsize } = await statfs(this.#root);
    if (bavail * bsize < size + RESERVE_BYTES)
      throw new Error(
        `${this.#root} has ${sizeText(bavail * bsize)} free, and ${basename(file)} needs ${sizeText(size + RESERVE_BYTES)}: remove states or old kernels`,
      );
    await mkdir(join(copy, '..'), { recursive: true });
    await copyFile(file, `${copy}.new`);
    const handle = await open(`${copy}.new`);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${copy}.new`, copy);
    await syncFolder(join(copy, '..'));
  }

  /** Several installations may share the partition, each with its own id. */
  async #ours(id: string): Promise<string[]> {
    const entries = await this.#entries(CROFTS);
    return entries
      .filter(({ text }) => (/^machine-id (\S+)$/m.exec(text)?.[1] ?? '') === id)
      .map(({ name }) => name);
  }

  async #machineId(): Promise<string> {
    return (await readFile(this.#idFile, 'utf8').catch(() => '')).trim();
  }

  async #entries(names: RegExp): Promise<{ name: string; text: string }[]> {
    const folder = join(this.#root, ENTRIES);
    const found = (await readdir(folder).catch((): string[] => [])).filter((name) => names.test(name));
    return Promise.all(
      found.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8').catch(() => '') })),
    );
  }

  /** Copies that no entry names any more, of whichever installation. */
  async #removeKernels(): Promise<void> {
    const paths = new RegExp(`^(?:linux|initrd) /${KERNELS}/([0-9a-f]+)/`, 'gm');
    const texts = (await this.#entries(/\.conf$/)).map(({ text }) => text);
    const used = new Set(texts.flatMap((text) => [...text.matchAll(paths)].map(([, hash]) => hash)));
    const folder = join(this.#root, KERNELS);
    for (const name of await readdir(folder).catch(() => []))
      if (!used.has(name)) await rm(join(folder, name), { recursive: true });
  }
}

interface Placed {
  readonly linux: string;
  readonly initrd: string | undefined;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest('hex').slice(0, 16);
}

/** Where a partition with entries is mounted; undefined when there is none. */
export async function findEntriesRoot(candidates: readonly string[]): Promise<string | undefined> {
  for (const root of candidates)
    if ((await stat(join(root, 'loader')).catch(() => undefined))?.isDirectory()) return root;
  return undefined;
}
