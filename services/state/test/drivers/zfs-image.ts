import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenedStorage } from './fixture.ts';
import { attempt, lockOfPool, run, ZFS_PATH } from './zfs-programs.ts';

const MIB = 1024 * 1024;
const FACTS =
  'guid,origin,mountpoint,canmount,mounted,croft:managed,croft:machine,croft:links,croft:user,croft:emptying,croft:making,croft:moving,croft:prepared,croft:retired,croft:boot,croft:next,croft:adopted,croft:state,croft:complete,croft:note';

/** A pool in a file, laid out as distributions do: the root beside a place for homes. */
export interface ZfsPool extends OpenedStorage {
  readonly base: string;
  readonly pool: string;
  /** The dataset that is the machine's first root. */
  readonly root: string;
  /** Runs `zfs` and gives what it says. */
  readonly zfs: (...args: readonly string[]) => string;
  /** Adds another pool, which goes with this one. @returns its name */
  addPool(): string;
  /** Puts everything away. */
  exportPools(): void;
  importPools(): void;
}

/** How a pool is made. */
interface PoolOptions {
  readonly megabytes?: number;
  /** Where the root lies below the folder of the pool. */
  readonly mountpoint?: string;
}

/** Makes a pool where zfs-fuse was started; `close` undoes everything in reverse order. */
export async function openPool({
  megabytes = 192,
  mountpoint = '/system',
}: PoolOptions = {}): Promise<ZfsPool> {
  await using opened = new AsyncDisposableStack();
  const first = poolName();
  // By the name of the pool, so that paths and names of datasets tell a test's own.
  const base = join(tmpdir(), first);
  mkdirSync(base);
  opened.defer(() => rmSync(base, { recursive: true, force: true }));
  const pools: string[] = [];
  /** Where daemons keep others from a pool. */
  const locks: string[] = [];
  const zfs = (...args: readonly string[]) => run('zfs', ...args);
  const addPool = (name = poolName()) => {
    const image = join(base, `${name}.img`);
    writeFileSync(image, '');
    truncateSync(image, megabytes * MIB);
    run('zpool', 'create', '-o', 'cachefile=none', '-R', base, '-m', 'none', name, image);
    pools.push(name);
    locks.push(lockOfPool(zfs('get', '-H', '-p', '-o', 'value', 'guid', name).trim()));
    return name;
  };
  const [systemPath, homesFolder, cmdline] = [
    join(base, mountpoint),
    join(base, 'home'),
    join(base, 'cmdline'),
  ];

  const all = () =>
    pools.flatMap((name) =>
      (
        attempt(
          'zfs',
          'list',
          '-H',
          '-r',
          '-t',
          'filesystem',
          '-o',
          'name,mounted,canmount,mountpoint',
          name,
        ) ?? ''
      )
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split('\t') as [string, string, string, string]),
    );
  const unmountAll = () => {
    const mounted = all().filter(([, isMounted]) => isMounted === 'yes');
    for (const [name] of mounted.sort(([, , , a], [, , , b]) => b.length - a.length))
      attempt('zfs', 'unmount', name);
  };
  const mountAll = () => {
    const at = (name: string) => Number(zfs('get', '-H', '-p', '-o', 'value', 'createtxg', name));
    // The initramfs mounts what it was told to boot, which is the newest.
    const heads = all().filter(([name, , , path]) => path === systemPath && !name.endsWith('/var'));
    const [head] = heads.map(([name]) => name).sort((a, b) => at(b) - at(a));
    if (head !== undefined) zfs('mount', head);
    const others = all().filter(
      ([, isMounted, canmount, path]) => isMounted === 'no' && canmount === 'on' && path !== 'none',
    );
    for (const [name] of others.sort(([, , , a], [, , , b]) => a.length - b.length)) zfs('mount', name);
  };
  // Also when the rest of this fails half-way.
  opened.defer(async () => {
    for (const name of pools.toReversed()) {
      // One that a test exported is in its file only, which goes as well.
      if (attempt('zpool', 'list', '-H', name) === undefined) continue;
      // zfs-fuse keeps a file system busy for good now and then; the pool is in a file that goes all the same.
      await gone(() => {
        unmountAll();
        run('zpool', 'destroy', '-f', name);
      }).catch(() => attempt('zpool', 'export', '-f', name));
    }
    for (const path of locks) rmSync(path, { recursive: true, force: true });
  });
  const pool = addPool(first);
  const root = `${pool}/ROOT/debian`;
  zfs('create', '-o', 'mountpoint=none', `${pool}/ROOT`);
  zfs('create', '-o', `mountpoint=${mountpoint}`, '-o', 'canmount=noauto', '-o', 'croft:managed=yes', root);
  zfs('mount', root);
  mkdirSync(homesFolder, { recursive: true });
  writeFileSync(cmdline, `root=ZFS=${root} ro\n`);
  const undo = opened.move();

  const exportPools = () => {
    unmountAll();
    for (const name of pools) run('zpool', 'export', name);
  };
  const importPools = () => {
    for (const name of pools) run('zpool', 'import', '-o', 'cachefile=none', '-R', base, '-d', base, name);
    mountAll();
  };
  let views = 0;
  return {
    base,
    pool,
    root,
    zfs,
    addPool: () => addPool(),
    exportPools,
    importPools,
    folder: join(base, 'state'),
    systemPath,
    homesFolder,
    get settings() {
      // Pools of other tests are there as well.
      return {
        STATESVC_STORAGE: 'zfs',
        STATESVC_CMDLINE_FILE: cmdline,
        STATESVC_ZFS_POOLS: pools.join(),
        STATESVC_SEARCH_PATH: ZFS_PATH,
      };
    },
    async contentOf({ snapshot }) {
      const name = `view${views++}`;
      const [clone, copy] = [`${pool}/${name}`, join(base, `copy-of-${name}`)];
      zfs('clone', '-o', `mountpoint=/${name}`, '-o', 'canmount=on', snapshot, clone);
      run('cp', '-a', join(base, name), copy);
      await gone(() => zfs('destroy', clone));
      return copy;
    },
    async facts() {
      const lines = pools.flatMap((name) =>
        zfs('get', '-H', '-p', '-r', '-o', 'name,property,value,source', FACTS, name).split('\n'),
      );
      return lines.filter((line) => line !== '' && !line.endsWith('\t-\t-')).sort();
    },
    rootWord: (member) => `root=ZFS=${member?.snapshot ?? root}`,
    async loseMember({ snapshot }) {
      zfs('destroy', snapshot);
    },
    async loseRecord({ members: [first] }) {
      zfs('inherit', 'croft:complete', first?.snapshot ?? '');
    },
    async addForeign() {
      zfs('snapshot', '-r', `${pool}@of-somebody-${views++}`);
    },
    async runShort() {
      zfs(
        'create',
        '-o',
        'mountpoint=none',
        '-o',
        `reservation=${Math.floor(megabytes / 5)}M`,
        `${pool}/reserved`,
      );
      return { STATESVC_MIN_FREE: '90' };
    },
    async reopen() {
      exportPools();
      importPools();
    },
    async close() {
      await undo.disposeAsync();
    },
  };
}

const poolName = () => `croft${randomBytes(5).toString('hex')}`;

/** zfs-fuse lets go of what was read a moment later. */
async function gone(work: () => void): Promise<void> {
  for (let waited = 0; ; waited += 50) {
    try {
      work();
      return;
    } catch (error) {
      if (waited > 10_000) throw error;
      await sleep(50);
    }
  }
}
