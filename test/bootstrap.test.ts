import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { canMount, withOwnMounts } from '@croft/testing';
import { transform } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';

// The bootstrap in small checkouts of its own, with an npm that only pretends: it takes half a second, counts its runs
// and makes what the lock asks for.

const root = join(import.meta.dirname, '..');
const base = mkdtempSync(join(tmpdir(), 'croft-bootstrap-'));
chmodSync(base, 0o755);
afterAll(() => rmSync(base, { recursive: true, force: true }));

const MAIN = `
if (process.argv[2] === 'wait') { process.on('SIGTERM', () => process.exit(3)); setInterval(() => {}, 1000); }
console.log(JSON.stringify({ args: process.argv.slice(2), node: process.execPath, flags: process.execArgv }));
if (process.argv[2] === 'fail') process.exit(7);`;

/** How many hashes ended, of as many as there are cores, before a file could be looked at beside them. */
const HASHES_AND_A_FILE = `
import { pbkdf2 } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
let ended = 0;
for (let n = 0; n < availableParallelism(); n++) pbkdf2('a', 'b', 400_000, 64, 'sha512', () => ended++);
await stat('.');
console.log(ended, process.env.UV_THREADPOOL_SIZE);
process.kill(process.pid, 'SIGKILL'); // an exit would wait for the hashes`;

const NPM = `#!/bin/sh
echo "$@" >> npm-runs
sleep 0.5
mkdir -p node_modules
cp package-lock.json node_modules/.package-lock.json`;

const lock = (version: string) => JSON.stringify({ packages: { '': {}, 'node_modules/one': { version } } });

let count = 0;
function checkout(npm = NPM): string {
  const folder = join(base, `checkout-${count++}`);
  mkdirSync(join(folder, 'launcher'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, 'bootstrap.js'), join(folder, 'bootstrap.js'));
  cpSync(join(root, 'launcher/bootstrap'), join(folder, 'launcher/bootstrap'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'package-lock.json'), lock('1.0.0'));
  writeFileSync(join(folder, 'main.ts'), MAIN);
  writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 });
  for (const tool of ['sh', 'cp', 'mkdir', 'sleep']) symlinkSync(`/bin/${tool}`, join(folder, 'bin', tool));
  return folder;
}

interface Options {
  /** JavaScript that runs first and makes this Node look like another machine. */
  pretend?: string;
  /** Words before the command. */
  through?: string[];
  path?: string;
}

function run(
  folder: string,
  args: string[],
  { pretend = '', through = [], path }: Options = {},
): ChildProcess {
  const command = [...through, process.execPath, 'bootstrap.js', ...args] as [string, ...string[]];
  const NODE_OPTIONS = pretend === '' ? '' : `--import=data:text/javascript,${encodeURIComponent(pretend)}`;
  return spawn(command[0], command.slice(1), {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: path ?? join(folder, 'bin'), HOME: folder, NODE_OPTIONS },
  });
}

async function finish(child: ChildProcess) {
  const [out, errors, [code]] = await Promise.all([
    text(child.stdout as NonNullable<typeof child.stdout>),
    text(child.stderr as NonNullable<typeof child.stderr>),
    once(child, 'exit'),
  ]);
  return { code: code as number | null, out, errors };
}

const npmRuns = (folder: string) =>
  existsSync(join(folder, 'npm-runs'))
    ? readFileSync(join(folder, 'npm-runs'), 'utf8').trim().split('\n')
    : [];

const withVersion = (version: string) =>
  `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
   Object.defineProperty(process, 'version', { value: 'v${version}' });`;

/** What a Node before 22.15 is like: no `execve`, so the bootstrap stays. */
const OLDER = 'delete process.execve;';

/** What a start says that must fail and change nothing: its lines, the refusal last. */
async function refusal(folder: string, options: Options = {}, args = ['main.ts']): Promise<string[]> {
  const before = readdirSync(folder, { recursive: true }).sort();
  const { code, out, errors } = await finish(run(folder, args, options));
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before);
  return errors.trim().split('\n');
}

/** A refusal that says nothing else. */
const only = (message: RegExp) => [expect.stringMatching(message)];

describe('refuses in one line', () => {
  it.each(['12.22.12', '18.20.8'])('Node %s', async (version) => {
    expect(await refusal(checkout(), { pretend: withVersion(version) })).toEqual(
      only(/needs Node.js 20 or later.*nodejs\.org/),
    );
  });

  it('and such a Node can read the file that says so', async () => {
    const source = readFileSync(join(root, 'bootstrap.js'), 'utf8');
    const options = { format: 'esm', minifyWhitespace: true, supported: { 'dynamic-import': true } } as const;
    const [old, young] = await Promise.all(
      ['node12.17', 'esnext'].map((target) => transform(source, { ...options, target })),
    );
    expect(old?.code).toBe(young?.code);
    expect(source).not.toMatch(/^import .* from/m);
  });

  it('Windows', async () => {
    const pretend = `Object.defineProperty(process, 'platform', { value: 'win32' });`;
    expect(await refusal(checkout(), { pretend })).toEqual(only(/Linux and macOS.*WSL 2/));
  });

  it('a machine without npm', async () => {
    const folder = checkout();
    rmSync(join(folder, 'bin/npm'));
    expect((await refusal(folder)).at(-1)).toMatch(/npm is missing.*nodejs\.org/);
  });

  it('an installation that fails, after its own words', async () => {
    const folder = checkout('#!/bin/sh\necho "no network" >&2; exit 5');
    const said = await refusal(folder);
    expect(said).toContain('no network');
    expect(said.at(-1)).toMatch(/exit code 5.*own words are above.*npm ci --ignore-scripts/);
  });

  it('a Node that cannot run Croft when none came with the packages', async () => {
    const folder = checkout();
    await finish(run(folder, ['main.ts']));
    const said = await refusal(folder, { pretend: withVersion('20.20.2') });
    expect(said).toEqual(only(/needs Node.js 24 or later on this machine.*20\.20\.2/));
  });

  it('a tool that was left out of the installation', async () => {
    const folder = checkout();
    await finish(run(folder, ['main.ts']));
    const said = await refusal(folder, {}, ['node_modules/vitest/vitest.mjs', 'run']);
    expect(said).toEqual(only(/vitest\.mjs is missing.*--include=dev/));
  });
});

const isRoot = process.getuid?.() === 0;

/** Runs in a view of the machine in which the checkout lies on a small disk of its own. */
function onDisk(options: string, folder: string): Pick<Options, 'through' | 'path'> {
  const script = `cp -R . /mnt/copy-source 2>/dev/null || true
    mount -t tmpfs -o size=1m tmpfs /mnt; cp -R "$1"/. /mnt; mount -o remount,${options} /mnt; cd /mnt; shift; exec "$@"`;
  return {
    through: [...withOwnMounts(script), folder],
    path: '/usr/sbin:/usr/bin:/sbin:/bin',
  };
}

describe.runIf(canMount())('refuses in one line, on a disk', () => {
  it('that is full', async () => {
    const folder = checkout();
    expect(await refusal(folder, onDisk('rw', folder))).toEqual(
      only(/^The disk of \/mnt\/? is full\. Free about 1 GB/),
    );
  });

  it('that is read-only', async () => {
    const folder = checkout();
    expect(await refusal(folder, onDisk('ro', folder))).toEqual(
      only(/read-only file system.*npm ci --ignore-scripts\.$/),
    );
  });
});

it.runIf(isRoot)('refuses a folder of somebody else in one line', async () => {
  const through = ['setpriv', '--reuid', '1234', '--regid', '1234', '--clear-groups'];
  const said = await refusal(checkout(), { through, path: '/usr/bin:/bin' });
  expect(said).toEqual(only(/cannot be written by this user/));
});

describe('installs', () => {
  it('once, quietly for standard output, and runs the file', async () => {
    const folder = checkout();
    const first = await finish(run(folder, ['main.ts', 'start', '--x']));
    expect(JSON.parse(first.out)).toMatchObject({
      args: ['start', '--x'],
      flags: [
        '--disable-warning=ExperimentalWarning',
        '--disable-warning=DEP0123',
        '--max-semi-space-size=8',
      ],
    });
    expect(first).toMatchObject({ code: 0, errors: expect.stringContaining("Installing Croft's packages") });
    expect(await finish(run(folder, ['main.ts']))).toMatchObject({ code: 0, errors: '' });
    expect(npmRuns(folder)).toEqual(['ci --ignore-scripts --no-audit --no-fund --loglevel=error']);
  });

  it('again when the lock asks for something else', async () => {
    const folder = checkout();
    await finish(run(folder, ['main.ts']));
    writeFileSync(join(folder, 'package-lock.json'), lock('1.0.1'));
    await finish(run(folder, ['main.ts']));
    await finish(run(folder, ['main.ts']));
    expect(npmRuns(folder)).toHaveLength(2);
  });

  it('not over packages that a plain npm ci put there', async () => {
    const folder = checkout();
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), lock('1.0.0'));
    expect(await finish(run(folder, ['main.ts']))).toMatchObject({ code: 0 });
    expect(npmRuns(folder)).toEqual([]);
  });

  it('once for two starts at the same time', async () => {
    const folder = checkout();
    const [one, two] = await Promise.all([
      finish(run(folder, ['main.ts'])),
      finish(run(folder, ['main.ts'])),
    ]);
    expect([one.code, two.code]).toEqual([0, 0]);
    expect(one.errors + two.errors).toContain('waiting for it');
    expect(npmRuns(folder)).toHaveLength(1);
    expect(readdirSync(folder)).not.toContain('.install.tmp');
  });

  it('after a start that was killed while it installed', async () => {
    const folder = checkout();
    const killed = run(folder, ['main.ts']);
    while (npmRuns(folder).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(existsSync(join(folder, '.install.tmp'))).toBe(true);
    expect(await finish(run(folder, ['main.ts']))).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).not.toContain('.install.tmp');
  });
});

/** A machine of eight cores. */
const EIGHT_CORES = `
import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
os.availableParallelism = () => 8;
syncBuiltinESMExports();`;

it('files are not behind password hashes, of which there are as many at once as cores', async () => {
  const folder = checkout();
  writeFileSync(join(folder, 'hashes.ts'), HASHES_AND_A_FILE);
  const { out, errors } = await finish(run(folder, ['hashes.ts'], { pretend: EIGHT_CORES }));
  expect(out, errors).toBe('0 12\n');
});

describe('passes through', () => {
  it.each([
    ['in its own place', ''],
    ['beside itself, on an older Node', OLDER],
  ])('exit codes and signals, running the file %s', async (_how, pretend) => {
    const folder = checkout();
    await finish(run(folder, ['main.ts']));
    expect(await finish(run(folder, ['fail'], { pretend }))).toMatchObject({ code: 7 });
    const waiting = run(folder, ['wait'], { pretend });
    await once(waiting.stdout as NonNullable<typeof waiting.stdout>, 'data');
    waiting.kill('SIGTERM');
    expect(await once(waiting, 'exit')).toEqual([3, null]);
  });

  it('words without a file to main.ts, as `croft` from any folder', async () => {
    const folder = checkout();
    await finish(run(folder, ['main.ts']));
    const link = join(base, 'croft');
    symlinkSync(join(folder, 'bootstrap.js'), link);
    const child = spawn(process.execPath, [link, 'state', 'list'], {
      cwd: base,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(JSON.parse((await finish(child)).out)).toMatchObject({ args: ['state', 'list'] });
  });
});
