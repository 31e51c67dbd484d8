import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProgram, runProgramSync } from '@croft/testing';
import type { OpenedStorage, StorageFixture } from './fixture.ts';

const MIB = 1024 * 1024;

/** Runs a program of the system and gives what it says. */
export const run = (name: string, ...args: string[]): string =>
  runProgramSync({ file: name, args, folder: '/', environment: { ...process.env, LC_ALL: 'C' } });

/** A btrfs file system in an image, laid out as distributions do: `@` and `@home`. */
export interface BtrfsImage extends OpenedStorage {
  /** Holds the image and every mount point; its name is in every path. */
  readonly base: string;
  /** Where the top level is mounted. */
  readonly root: string;
  readonly device: string;
  /** From now on until the power goes nothing comes to the disk; the kernel may write whenever it likes. */
  keepDisk(): void;
  /**
   * Mounts what the disk would have if the power went now: what was written but not flushed is lost. The daemon's folder, on another
   * disk, is as it is now, with what was not flushed.
   * @param stop ends whoever uses it, who may write what he will
   */
  losePower(stop: () => Promise<unknown>): Promise<void>;
}

/** What this machine lacks to have one. */
export function missingForBtrfs(): string | undefined {
  if (process.getuid?.() !== 0) return 'root, who may mount an image,';
  const program = ['btrfs', 'mkfs.btrfs', 'losetup'].find((name) => !hasProgram(name));
  if (program !== undefined) return `the program ${program} (package btrfs-progs or mount)`;
  return readFileSync('/proc/filesystems', 'utf8').includes('\tbtrfs\n') ? undefined : 'btrfs in the kernel';
}

interface ImageOptions {
  readonly megabytes?: number;
  /** Size of the disk in memory that the image lies on, `64m`; without it on the one of temporary files. */
  readonly disk?: string;
  /** The folder in which everything is made; without it that of temporary files. */
  readonly parent?: string;
}

/** Makes one; `close` unmounts it in reverse order. */
export async function openBtrfs({
  megabytes = 512,
  disk = '',
  parent = tmpdir(),
}: ImageOptions = {}): Promise<BtrfsImage> {
  await using opened = new AsyncDisposableStack();
  const base = mkdtempSync(join(parent, 'croft-btrfs-'));
  opened.defer(() => rmSync(base, { recursive: true, force: true }));
  const at = (name: string) => join(base, name);
  const [root, systemPath, homesFolder] = [at('top'), at('system'), at('home')];
  for (const path of [root, systemPath, homesFolder, at('disk')]) mkdirSync(path);
  if (disk !== '') {
    run('mount', '-t', 'tmpfs', '-o', `size=${disk}`, 'croft', at('disk'));
    // The loop device lets go of its file a little later.
    opened.defer(() => void run('umount', '--lazy', at('disk')));
  }
  writeFileSync(at('disk/image'), '');
  truncateSync(at('disk/image'), megabytes * MIB);
  run('mkfs.btrfs', '-q', at('disk/image'));
  const device = run('losetup', '--find', '--show', at('disk/image')).trim();
  opened.defer(() => void run('losetup', '--detach', device));
  // What nobody flushes is not on the disk during a test.
  const mount = (path: string, options: string) =>
    run('mount', '-t', 'btrfs', '-o', `commit=300,${options}`, device, path);
  const mountAll = () => {
    mount(root, 'subvolid=5');
    for (const name of ['@', '@home'])
      if (!existsSync(join(root, name))) run('btrfs', 'subvolume', 'create', join(root, name));
    mount(systemPath, 'subvol=@');
    mount(homesFolder, 'subvol=@home');
  };
  const unmountAll = () => {
    for (const path of mountsBelow(base).reverse()) if (path !== at('disk')) run('umount', path);
  };
  opened.defer(unmountAll);
  mountAll();
  const undo = opened.move();
  const states = join(root, '@states');
  const keepDisk = () => copyFileSync(at('disk/image'), at('disk/kept'));
  return {
    base,
    root,
    device,
    folder: at('state'),
    systemPath,
    homesFolder,
    settings: { STATESVC_STORAGE: 'btrfs', STATESVC_BTRFS_ROOT: root },
    keepDisk,
    async losePower(stop) {
      if (!existsSync(at('disk/kept'))) keepDisk();
      cpSync(at('state'), at('kept'), { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
      await stop();
      unmountAll();
      copyFileSync(at('disk/kept'), at('disk/image'));
      rmSync(at('disk/kept'));
      rmSync(at('state'), { recursive: true });
      renameSync(at('kept'), at('state'));
      run('blockdev', '--flushbufs', device);
      mountAll();
    },
    async contentOf({ snapshot }) {
      return join(root, snapshot);
    },
    async facts() {
      const volumes = run('btrfs', 'subvolume', 'list', '-u', root).replaceAll(/ gen \d+/g, '');
      const files = existsSync(states)
        ? readdirSync(join(states, 'records')).map((name) =>
            readFileSync(join(states, 'records', name), 'utf8'),
          )
        : [];
      return [...volumes.trim().split('\n'), ...files].sort();
    },
    async loseMember({ snapshot }) {
      run('btrfs', 'subvolume', 'delete', join(root, snapshot));
    },
    async loseRecord({ id, system }) {
      rmSync(join(states, 'records', `${system ?? id}.json`));
    },
    async addForeign() {
      mkdirSync(join(root, 'snapshots'), { recursive: true });
      run('btrfs', 'subvolume', 'snapshot', '-r', join(root, '@'), join(root, 'snapshots', randomUUID()));
      // In our own place, too: whoever put it there knows why.
      run(
        'btrfs',
        'subvolume',
        'snapshot',
        '-r',
        join(root, '@'),
        join(states, `of-somebody-${randomUUID()}`),
      );
    },
    async runShort() {
      writeFileSync(join(systemPath, 'filler'), Buffer.alloc((megabytes / 5) * MIB, 'x'), { flush: true });
      run('btrfs', 'filesystem', 'sync', root);
      return { STATESVC_MIN_FREE: '90' };
    },
    async reopen() {
      unmountAll();
      mountAll();
    },
    async close() {
      await undo.disposeAsync();
    },
  };
}

/** Mount points below a folder in the order they were made. */
export function mountsBelow(folder: string): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  return lines.flatMap((line) => line.split(' ')[4] ?? []).filter((path) => path.startsWith(`${folder}/`));
}

/** btrfs on an image. */
export const btrfs: StorageFixture = { name: 'btrfs', missing: missingForBtrfs, open: openBtrfs };
