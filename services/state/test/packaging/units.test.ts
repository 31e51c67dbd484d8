import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hasProgram, skipWithout } from '@croft/testing';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../daemon.ts';
import { installInto, run } from './installed.ts';

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

  it('saves the homes of those who have one, whatever their names are, and starts nothing for others', () => {
    const { root } = installInto();
    const unit = readFileSync(join(root, 'etc/systemd/user/croft-state-save-home.service'), 'utf8');
    const client = join(root, 'client');
    const lines = ['ada', 'axb', 'host$'].map((user) => `echo '${user}  /home/x  vault:/etc'\n`);
    writeFileSync(client, `#!/bin/sh\n${lines.join('')}`, { mode: 0o755 });
    const [, script = ''] = /^ExecCondition=\/bin\/sh -c '(.+)'$/m.exec(unit) ?? [];
    const isSaved = (user: string) =>
      spawnSync('sh', ['-c', script.replace('/croft state', `${client} state`).replaceAll('%u', user)])
        .status;
    expect(['ada', 'axb', 'host$', 'a.b', 'ad', '.*', ''].map(isSaved)).toEqual([0, 0, 0, 1, 1, 1, 1]);
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
