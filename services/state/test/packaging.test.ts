import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { hasProgram, skipWithout } from '@croft/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';

const packaging = join(import.meta.dirname, '../packaging');
const run = promisify(execFile);

/** Folders of every package manager and of GRUB: what is there is served. */
const MANAGERS = [
  '/etc/apt/apt.conf.d',
  '/etc/dnf/libdnf5-plugins/actions.d',
  '/etc/dnf/plugins/pre-transaction-actions.d',
  '/etc/dnf/plugins/post-transaction-actions.d',
  '/usr/share/libalpm/hooks',
  '/etc/grub.d',
];

/** A root that everything was installed into. */
function installInto(managers = MANAGERS) {
  const root = temporaryFolder();
  for (const folder of managers) mkdirSync(join(root, folder), { recursive: true });
  // The units name the client as it is in the fake root, so that they can be checked there.
  const client = join(root, 'croft');
  const install = (...words: string[]) =>
    execFileSync('sh', [join(packaging, 'install.sh'), ...words], {
      env: { DESTDIR: root, CLIENT: '/croft', PATH: process.env['PATH'] },
      stdio: 'pipe',
    });
  install();
  return { root, client, install, hook: join(root, 'usr/local/lib/croft/package-hook') };
}

const filesIn = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();

describe('install.sh', () => {
  it('puts everything in its place, without a word that is to be replaced', () => {
    const { root } = installInto();
    const files = filesIn(root);
    expect(files).toEqual([
      '/croft',
      '/etc/apt/apt.conf.d/80croft-state',
      '/etc/dnf/libdnf5-plugins/actions.d/croft-state.actions',
      '/etc/dnf/plugins/post-transaction-actions.d/croft-state-after.action',
      '/etc/dnf/plugins/pre-transaction-actions.d/croft-state-before.action',
      '/etc/grub.d/42_croft',
      '/etc/systemd/system/croft-state-commit.service',
      '/etc/systemd/system/croft-state-gc.service',
      '/etc/systemd/system/croft-state-gc.timer',
      '/etc/systemd/system/croft-state-prepare.service',
      '/etc/systemd/system/croft-state.service',
      '/etc/systemd/system/croft-state.socket',
      '/etc/systemd/user/croft-state-save-home.service',
      '/etc/systemd/user/croft-state-save-home.timer',
      '/usr/local/lib/croft/package-hook',
      '/usr/local/share/bash-completion/completions/croft',
      '/usr/local/share/fish/vendor_completions.d/croft.fish',
      '/usr/local/share/zsh/site-functions/_croft',
      '/usr/share/libalpm/hooks/05-croft-state-save.hook',
      '/usr/share/libalpm/hooks/95-croft-state-menu.hook',
    ]);
    for (const file of files) expect(readFileSync(join(root, file), 'utf8')).not.toMatch(/@[A-Z]+@/);
  });

  it('leaves out what is not there, takes everything away again, and no client of somebody else', () => {
    const { root, client, install } = installInto(['/etc/grub.d']);
    expect(existsSync(join(root, 'etc/apt'))).toBe(false);
    install();
    writeFileSync(client, '#!/bin/sh\n');
    install();
    expect(readFileSync(client, 'utf8')).toBe('#!/bin/sh\n');
    install('remove');
    expect(filesIn(root)).toEqual(['/croft']);
  });

  it('writes what the shells complete, as everybody may read it', () => {
    const { root, install } = installInto([]);
    const shares = join(root, 'usr/local/share');
    const files = filesIn(shares).map((file) => join(shares, file));
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o644, 0o644, 0o644]);
    for (const file of files) expect(readFileSync(file, 'utf8')).toContain('restore');
    for (const file of files) rmSync(file);
    install();
    expect(filesIn(shares)).toHaveLength(3);
  });

  it.each(['/a b', '/a%b', '/a$b', '/a"b', "/a'b", '/a\nb', '/a|b', '/a\\b', 'relative'])(
    'refuses the path %j, and puts nothing anywhere',
    (client) => {
      const root = temporaryFolder();
      const ran = spawnSync('sh', [join(packaging, 'install.sh')], {
        env: { DESTDIR: root, CLIENT: client, PATH: process.env['PATH'] },
      });
      expect([ran.status, ran.stderr.toString()]).toEqual([
        1,
        expect.stringMatching(/^install.sh: .*(cannot stand in units|is not absolute)/s),
      ]);
      expect(readdirSync(root)).toEqual([]);
    },
  );

  it('refuses what others than root can change, unless told that they may', (context) => {
    if (process.getuid?.() !== 0) skipWithout(context, 'the right to be another user');
    // Nobody else can write above it, as above a temporary folder.
    const croft = mkdtempSync('/run/croft-test-');
    onTestFinished(() => rmSync(croft, { recursive: true }));
    chmodSync(croft, 0o755);
    const inside = join(croft, 'services/state/packaging');
    mkdirSync(join(croft, 'node_modules/node-linux-x/bin'), { recursive: true });
    const node = join(croft, 'node_modules/node-linux-x/bin/node');
    writeFileSync(node, '', { mode: 0o755 });
    mkdirSync(inside, { recursive: true });
    copyFileSync(join(packaging, 'install.sh'), join(inside, 'install.sh'));
    const check = (more: Record<string, string> = {}) => {
      const env = { PATH: process.env['PATH'], ...more };
      const { status, stderr } = spawnSync('sh', [join(inside, 'install.sh'), 'check'], { env });
      return [status, stderr.toString()];
    };
    const refused = (path: string) => [1, expect.stringContaining(`others than root can change ${path},`)];
    expect(check()).toEqual([0, '']);
    for (const mode of [0o775, 0o757]) {
      chmodSync(inside, mode);
      expect(check()).toEqual(refused(inside));
      chmodSync(inside, 0o755);
    }
    chownSync(node, 65_534, 0);
    expect(check()).toEqual(refused(node));
    expect(check({ ALLOW_UNSAFE: '1' })).toEqual([0, '']);
    chownSync(node, 0, 0);
    const elsewhere = join(temporaryFolder(), 'node');
    writeFileSync(elsewhere, '', { mode: 0o755 });
    rmSync(node);
    symlinkSync(elsewhere, node);
    expect(check()).toEqual([1, expect.stringContaining('others than root can change /')]);
  });

  it('installs a client that runs', async () => {
    const { client } = installInto();
    expect((await run(client, ['state', '--help'])).stdout).toContain('Usage: croft state');
  });
});

it('the client finds an installed daemon by itself, unless somebody names another or stands in a data folder', async (context) => {
  if (process.getuid?.() !== 0 || existsSync('/run/croft/statesvc.sock'))
    skipWithout(context, 'the place of an installed daemon');
  // Closing the daemon takes its socket away; the folder may be somebody else's as well.
  if (!existsSync('/run/croft')) onTestFinished(() => rmdir('/run/croft').catch(() => {}));
  const installed = await startDaemon({
    settings: { STATESVC_SOCKET: '/run/croft/statesvc.sock', STATESVC_SOCKET_MODE: '0666' },
  });
  await installed.save('of-the-machine');
  const { client, root } = installInto([]);
  const show = async (cwd: string, more: Record<string, string> = {}) =>
    await run(client, ['state', 'show'], { cwd, env: { PATH: process.env['PATH'], ...more } }).catch(
      (error: { stderr: string }) => error,
    );
  expect(await show(root)).toMatchObject({ stdout: expect.stringContaining('of-the-machine') });
  expect(await show(root, { CROFT_DATA: join(root, 'own') })).toMatchObject({
    stderr: expect.stringContaining(`does not answer on ${root}/own/state/statesvc.sock`),
  });
  mkdirSync(join(root, 'data/state'), { recursive: true });
  expect(await show(root)).toMatchObject({ stderr: expect.stringContaining('/data/state/statesvc.sock') });
});

describe('systemd', () => {
  /** The installed units, with the paths of the fake root in them and enabled as install.sh does. */
  function enabledUnits(kind: 'system' | 'user') {
    const { root } = installInto();
    const folder = join(root, 'etc/systemd', kind);
    const units = readdirSync(folder);
    for (const unit of units) {
      const content = readFileSync(join(folder, unit), 'utf8').replaceAll(
        '/croft state',
        `${root}/croft state`,
      );
      writeFileSync(join(folder, unit), content);
    }
    for (const unit of units) {
      const [, wantedBy] = /^WantedBy=(.+)$/m.exec(readFileSync(join(folder, unit), 'utf8')) ?? [];
      if (wantedBy === undefined) continue;
      mkdirSync(join(folder, `${wantedBy}.wants`), { recursive: true });
      symlinkSync(`../${unit}`, join(folder, `${wantedBy}.wants`, unit));
    }
    return { root, folder, units };
  }

  it.for(['system', 'user'] as const)('takes the units of the %s without a word', async (kind, context) => {
    if (!hasProgram('systemd-analyze')) skipWithout(context, 'systemd');
    const { root, folder, units } = enabledUnits(kind);
    // The targets, too: what they pull in must not wait in a circle.
    const targets =
      kind === 'system' ? ['default.target', 'sysinit.target', 'shutdown.target'] : ['timers.target'];
    const ran = await run('systemd-analyze', [`--${kind}`, 'verify', '--man=no', ...units, ...targets], {
      env: { SYSTEMD_UNIT_PATH: `${folder}:`, XDG_RUNTIME_DIR: root, PATH: process.env['PATH'] },
    }).catch((error: { stderr: string }) => error);
    expect(ran.stderr).toBe('');
  });

  it('would tell of a mistake', async (context) => {
    if (!hasProgram('systemd-analyze')) skipWithout(context, 'systemd');
    const { folder } = enabledUnits('system');
    const unit = join(folder, 'croft-state.service');
    writeFileSync(unit, readFileSync(unit, 'utf8').replace('KillMode=mixed', 'KillMode=gently'));
    const ran = await run('systemd-analyze', ['verify', '--man=no', unit], {
      env: { SYSTEMD_UNIT_PATH: `${folder}:`, PATH: process.env['PATH'] },
    }).catch((error: { stderr: string }) => error);
    expect(ran.stderr).toContain('gently');
  });

  it('passes its socket on, and is told when everything is up', async (context) => {
    if (!hasProgram('systemd-notify') || !hasProgram('perl')) skipWithout(context, 'systemd and perl');
    const { root, client } = installInto();
    const folder = join(root, 'run');
    mkdirSync(folder);
    const [socket, notify] = [join(folder, 'statesvc.sock'), join(folder, 'notify')];
    const unit = readFileSync(join(root, 'etc/systemd/system/croft-state.service'), 'utf8');
    const setting = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(unit)?.[1] ?? '';
    const command = setting('ExecStart').split(' ');
    // With no more rights than the unit leaves it.
    const rights = setting('CapabilityBoundingSet')
      .toLowerCase()
      .replaceAll(/ ?cap_/g, ',+');
    const confined = ['setpriv', '--no-new-privs', '--bounding-set', `-all${rights}`, ...command];
    const manager = spawn(
      'perl',
      [join(import.meta.dirname, 'service-manager.pl'), socket, notify, ...confined],
      {
        env: {
          PATH: process.env['PATH'],
          CROFT_DATA: join(root, 'data'),
          STATESVC_SOCKET: socket,
          STATESVC_VAULT_SYSTEM: temporaryFolder(),
          STATESVC_MIN_FREE: '0',
          STATESVC_BOOT_LOADER: 'none',
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    const [said, complained] = [text(manager.stdout), text(manager.stderr)];
    const environment = { PATH: process.env['PATH'], STATESVC_SOCKET: socket };
    // It listens before the daemon runs, so this call is the one that waits for it.
    await expect.poll(() => existsSync(socket)).toBe(true);
    const saved = await run(client, ['state', 'save', 'by-activation'], { env: environment });
    expect(saved.stdout).toBe('by-activation\n');
    const home = join(temporaryFolder(), 'home');
    for (const words of ['users create nobody HOME', 'save -u nobody his', 'gc', 'last-used', 'show'])
      await run(client, ['state', ...words.replace('HOME', home).split(' ')], { env: environment });
    await run(client, ['state', 'stop'], { env: environment });
    expect(await said).toMatch(/\nREADY=1\nexit 0\n$/);
    expect(await complained).not.toContain('cannot');
    // What systemd made, systemd takes away.
    expect(existsSync(socket)).toBe(true);
  });
});

describe('hooks of package managers', () => {
  /** Runs a command as a package manager does: in a shell below a process that is none. */
  async function asManager(
    commands: readonly string[],
    daemon: Daemon | undefined,
    hook: ReturnType<typeof installInto>,
    more: Record<string, string> = {},
  ) {
    const script =
      'const {spawnSync}=require("child_process");for(const c of JSON.parse(process.argv[1])){const r=spawnSync("sh",["-c",c]);process.stdout.write(`${r.status} ${r.stdout}`);process.stderr.write(r.stderr)}';
    return await run(process.execPath, ['-e', script, JSON.stringify(commands)], {
      env: {
        PATH: process.env['PATH'],
        STATESVC_SOCKET: daemon?.service.address.replace('unix:', '') ?? join(hook.root, 'no.sock'),
        CROFT_CLIENT: hook.client,
        CROFT_HOOK_STAMP: join(hook.root, 'stamp'),
        ...more,
      },
    });
  }

  const commandsOf = (file: string, pattern: RegExp, root: string) =>
    [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, command]) =>
      (command as string).replaceAll('/usr/local/lib', `${root}/usr/local/lib`),
    );
  const states = async (daemon: Daemon) => (await daemon.dump()).machines[0]?.states ?? [];

  /** What each manager's file has it run, before and after. */
  const managers: [string, string[], RegExp][] = [
    ['apt', ['etc/apt/apt.conf.d/80croft-state'], /^DPkg::(?:Pre|Post)-Invoke \{ "([^"]+)"; \};$/gm],
    [
      'dnf 5',
      ['etc/dnf/libdnf5-plugins/actions.d/croft-state.actions'],
      /^(?:pre|post)_transaction::::(.+)$/gm,
    ],
    [
      'dnf 4',
      [
        'etc/dnf/plugins/pre-transaction-actions.d/croft-state-before.action',
        'etc/dnf/plugins/post-transaction-actions.d/croft-state-after.action',
      ],
      /^\*:any:(.+)$/gm,
    ],
    [
      'pacman',
      [
        'usr/share/libalpm/hooks/05-croft-state-save.hook',
        'usr/share/libalpm/hooks/95-croft-state-menu.hook',
      ],
      /^Exec = (.+)$/gm,
    ],
  ];

  it.each(managers)(
    '%s: saves once in a run and once in the next, says so where nobody parses it, and never fails',
    async (name, files, pattern) => {
      const installed = installInto();
      const { root } = installed;
      const [before, after, ...more] = files.flatMap((file) => commandsOf(join(root, file), pattern, root));
      expect([before, after, more]).toEqual([
        expect.stringContaining(' before'),
        expect.stringContaining(' after'),
        [],
      ]);
      const daemon = await startDaemon();
      // apt asks before each of its steps, the others once in a transaction, of which a service of them makes many.
      const steps = name === 'apt' ? [before, before, after, before, after] : [before, after];
      const once = await asManager(steps as string[], daemon, installed);
      expect([once.stdout, once.stderr]).toEqual([
        '0 '.repeat(steps.length),
        'croft: saved the state before this change\n',
      ]);
      expect(await states(daemon)).toMatchObject([{ automatic: true }]);
      await asManager(
        name === 'apt' ? [before as string] : ([before, before] as string[]),
        daemon,
        installed,
      );
      expect(await states(daemon)).toHaveLength(name === 'apt' ? 2 : 3);
    },
  );

  it('says in a line what went wrong, and the exit code is 0', async () => {
    const installed = installInto();
    const daemon = await startDaemon({ settings: { STATESVC_MIN_FREE: '90' } });
    const command = `${installed.hook} before`;
    const { stdout, stderr } = await asManager([command], daemon, installed);
    expect([stdout, stderr]).toEqual([
      '0 ',
      expect.stringMatching(
        /^croft: the state before this change was not saved: croft state: not enough free space.*\n$/,
      ),
    ]);
    expect(await states(daemon)).toEqual([]);
    await daemon.service.close(0);
    expect(await asManager([command], daemon, installed)).toEqual({ stdout: '0 ', stderr: '' });
  });

  it('saves again in a run that goes on for more than ten minutes', async () => {
    const installed = installInto();
    const daemon = await startDaemon();
    const command = `${installed.hook} before each-step`;
    const stamp = join(installed.root, 'stamp');
    // As if the save was so long ago, or the clock was put back.
    const age = (seconds: number) =>
      `read -r pid start at <${stamp}; echo "$pid $start $((at - ${seconds}))" >${stamp}`;
    const commands = [command, age(590), command, age(20), command, age(-60), command, command];
    await asManager(commands, daemon, installed);
    expect(await states(daemon)).toHaveLength(3);
  });

  it('gives a daemon up that takes calls and does not answer', async () => {
    const installed = installInto();
    const socket = join(installed.root, 'silent.sock');
    const server = createServer(() => {}).listen(socket);
    onTestFinished(() => void server.close());
    const silent = { service: { address: `unix:${socket}` } } as Daemon;
    const commands = [`${installed.hook} before each-step`, `${installed.hook} after`];
    expect(await asManager(commands, silent, installed, { CROFT_HOOK_PATIENCE: '1' })).toEqual({
      stdout: '0 0 ',
      stderr:
        'croft: the state before this change was not saved: the daemon does not answer\ncroft: the boot menu was not updated: the daemon does not answer\n',
    });
  });

  it('does nothing where there is no daemon, no client, or nothing it knows', async () => {
    const installed = installInto();
    const { hook, root } = installed;
    expect(await asManager([`${hook} before`, `${hook} after`], undefined, installed)).toEqual({
      stdout: '0 0 ',
      stderr: '',
    });
    const daemon = await startDaemon();
    const without = { ...installed, client: join(root, 'not-there') };
    expect(await asManager([`${hook} before`], daemon, without)).toEqual({ stdout: '0 ', stderr: '' });
    expect(await asManager([hook, `${hook} x`], daemon, installed)).toMatchObject({ stdout: '0 0 ' });
    expect(await states(daemon)).toEqual([]);
  });

  it('apt reads its file', async (context) => {
    if (!hasProgram('apt-config')) skipWithout(context, 'apt');
    const { root } = installInto();
    const { stdout } = await run('apt-config', ['dump', '--no-empty', 'DPkg::Pre-Invoke'], {
      env: { APT_CONFIG: join(root, 'etc/apt/apt.conf.d/80croft-state'), PATH: process.env['PATH'] },
    });
    expect(stdout).toContain('/usr/local/lib/croft/package-hook before each-step || true');
  });

  it('pacman finds every key in its hooks that it asks for, and no other', () => {
    const keys = {
      Trigger: ['Operation', 'Type', 'Target'],
      Action: ['Description', 'When', 'Exec'],
    };
    for (const file of readdirSync(join(packaging, 'pacman'))) {
      const found: Record<string, Set<string>> = {};
      let section = '';
      for (const line of readFileSync(join(packaging, 'pacman', file), 'utf8')
        .split('\n')
        .filter(Boolean)) {
        const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
        if (name !== undefined) section = name;
        else (found[section] ??= new Set()).add((/^(\w+) = \S/.exec(line) as RegExpExecArray)[1] as string);
      }
      expect(Object.fromEntries(Object.entries(found).map(([name, set]) => [name, [...set]]))).toEqual(keys);
    }
  });

  it.for([['sh'], ['bash', '--norc'], ['busybox', 'sh']])('%s runs the scripts', async (shell, context) => {
    const [program, ...words] = shell as [string, ...string[]];
    if (!hasProgram(program)) skipWithout(context, program);
    for (const script of ['install.sh', 'package-hook', 'croft', 'grub.d/42_croft'])
      await run(program, [...words, '-n', join(packaging, script)]);
    const installed = installInto();
    const daemon = await startDaemon();
    const command = `${shell.join(' ')} -c '${shell.join(' ')} ${installed.hook} before each-step || true'`;
    const { stdout, stderr } = await asManager([command, command], daemon, installed);
    expect([stdout, stderr]).toEqual(['0 0 ', 'croft: saved the state before this change\n']);
    expect(await states(daemon)).toHaveLength(1);
  });
});
