import { spawnSync } from 'node:child_process';
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
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDaemon, temporaryFolder } from '../daemon.ts';
import { installInto, packaging, run } from './installed.ts';

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
    install('remove');
    expect(filesIn(root)).toEqual(['/croft']);
    expect(readFileSync(client, 'utf8')).toBe('#!/bin/sh\n');
  });

  it.each([
    ['a program', (client: string) => writeFileSync(client, '#!/bin/sh\n', { mode: 0o755 })],
    ['a link to nothing', (client: string) => symlinkSync('/nonexistent/croft', client)],
    ['a folder', (client: string) => mkdirSync(client)],
  ])('refuses where %s of somebody else would be run by root, and changes nothing', (_what, make) => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
    mkdirSync(join(root, 'etc/grub.d'), { recursive: true });
    make(join(root, 'usr/local/bin/croft'));
    const before = filesIn(root);
    const install = (more: Record<string, string> = {}) =>
      spawnSync('sh', [join(packaging, 'install.sh')], {
        env: { DESTDIR: root, PATH: process.env['PATH'], ...more },
      });
    const { status, stderr } = install();
    expect([status, stderr.toString()]).toEqual([
      1,
      'install.sh: /usr/local/bin/croft is not ours, and root would run it: move it away, or name another place for ' +
        'ours, such as CLIENT=/usr/local/bin/croft-state; nothing was changed\n',
    ]);
    expect(filesIn(root)).toEqual(before);
    expect(readdirSync(join(root, 'usr/local'))).toEqual(['bin']);
    expect(install({ CLIENT: '/usr/local/bin/croft-state' }).status).toBe(0);
    expect(filesIn(root)).toEqual(expect.arrayContaining([...before, '/usr/local/bin/croft-state']));
    // What completes `croft` would be for the other one.
    expect(filesIn(root).filter((file) => file.startsWith('/usr/local/share'))).toEqual([]);
    expect(readFileSync(join(root, 'etc/systemd/system/croft-state-gc.service'), 'utf8')).toContain(
      '/usr/local/bin/croft-state state gc',
    );
  });

  it('leaves what others complete', () => {
    const { root, install } = installInto([]);
    const bash = join(root, 'usr/local/share/bash-completion/completions/croft');
    writeFileSync(bash, 'complete -W x croft\n');
    install();
    install('remove');
    expect(readFileSync(bash, 'utf8')).toBe('complete -W x croft\n');
    expect(filesIn(root)).toEqual(['/usr/local/share/bash-completion/completions/croft']);
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
