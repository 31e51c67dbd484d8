import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { hasProgram, skipWithout } from '@croft/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Daemon, startDaemon } from '../daemon.ts';
import { installInto, packaging, run } from './installed.ts';

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

  it('attack: what somebody called a file does nothing to the screen of whoever installs', async () => {
    const installed = installInto();
    const daemon = await startDaemon();
    const client = join(installed.root, 'client');
    // As the client says it: control characters are none any more, and this is no control character.
    const says = String.raw`croft state: \033[2J\a\c and -n %s stay`;
    writeFileSync(client, `#!/bin/sh\n[ "$2" = status ] || { cat <<'END'\n${says}\nEND\nexit 1; }\n`, {
      mode: 0o755,
    });
    const hook = `${installed.hook} before`;
    expect(await asManager([hook], daemon, installed, { CROFT_CLIENT: client })).toEqual({
      stdout: '0 ',
      stderr: `croft: the state before this change was not saved: ${says}\n`,
    });
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
