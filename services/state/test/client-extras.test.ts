import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasProgram, mountSmallDisk, skipWithout } from '@croft/testing';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../src/client/parse-command.ts';
import { archiveOf } from './archive.ts';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';
import { importBytes } from './extras-client.ts';
import { runCommand as run, runInto, runOnTerminal } from './run-command.ts';

const statesOf = async (daemon: Daemon) => (await daemon.dump()).machines[0]?.states ?? [];

async function daemonWithState() {
  const daemon = await startDaemon();
  writeFileSync(join(daemon.tree, 'file'), 'old');
  await daemon.save('one');
  return daemon;
}

describe('croft state', () => {
  it('describes and pins', async () => {
    const daemon = await daemonWithState();
    expect(await run(daemon, 'describe one good')).toMatchObject({ code: 0, out: '' });
    expect(await run(daemon, 'pin one')).toMatchObject({ code: 0, out: '' });
    expect(await statesOf(daemon)).toMatchObject([{ description: 'good', pinned: true }]);
    expect((await run(daemon, 'show --full')).out).toContain('  | good');
    expect((await run(daemon, 'unpin one')).err).toContain('is no longer pinned');
    expect((await run(daemon, 'describe one ')).code).toBe(0);
    expect(await statesOf(daemon)).toMatchObject([{ description: '', pinned: false }]);
  });

  it('shows what differs, for people and for programs', async () => {
    const daemon = await daemonWithState();
    writeFileSync(join(daemon.tree, 'file'), 'newer', { mode: 0o644 });
    writeFileSync(join(daemon.tree, 'more'), '');
    const { code, out, err } = await run(daemon, 'diff one');
    expect(code).toBe(0);
    expect(out).toBe(`~ file   ${daemon.tree}/file  (content)\n+ file   ${daemon.tree}/more\n`);
    expect(err).toBe('1 added, 1 changed, 0 removed\n');
    const json = (await run(daemon, 'diff one --json')).out.trim().split('\n');
    expect(json.map((line) => JSON.parse(line) as unknown)).toEqual([
      { path: `${daemon.tree}/file`, kind: 'changed', type: 'file', changed: ['content'] },
      { path: `${daemon.tree}/more`, kind: 'added', type: 'file' },
    ]);
    await daemon.save('two');
    expect((await run(daemon, 'diff one two')).out).toBe(out);
    expect((await run(daemon, 'diff two two --times')).out).toBe('');
  });

  it('asks before it has the next boot go back, and takes it back', async () => {
    const daemon = await daemonWithState();
    const next = async () => ((await daemon.dump()).machines[0] as { nextState?: unknown }).nextState;
    const refused = await run(daemon, 'revert one --users', 'n\n');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toContain('Go back to one at the next boot, with the homes of users? [y/N]');
    expect(await next()).toBeNull();
    expect((await run(daemon, 'revert one', 'y\n')).code).toBe(0);
    expect(await next()).toBe((await statesOf(daemon))[0]?.id);
    expect((await run(daemon, 'revert-cancel')).code).toBe(0);
    expect(await next()).toBeNull();
  });

  it('exports to a file that only its owner can read, overwrites none, and imports it', async () => {
    const daemon = await daemonWithState();
    const file = join(temporaryFolder(), 'one.tar');
    const { code, err } = await run(daemon, `export one -o ${file}`);
    expect(code).toBe(0);
    expect(err).toMatch(/wrote .+one\.tar, [\d.]+ KiB, SHA-256 [0-9a-f]{64}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(file);
    expect(await run(daemon, `export one -o ${file}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be written: EEXIST'),
    });
    expect(readFileSync(file)).toEqual(bytes);
    expect((await run(daemon, 'export one -o -')).out).toBe(bytes.toString());
    expect(await run(daemon, `import ${file} back`)).toMatchObject({ code: 0, out: 'back\n' });
    expect(JSON.parse((await run(daemon, `import ${file} again --json`)).out)).toEqual({
      stateName: 'again',
    });
    expect(await run(daemon, `import ${file} back`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('a state named "back" exists already'),
    });
    expect((await statesOf(daemon)).map(({ name }) => name).sort()).toEqual(['again', 'back', 'one']);
  });

  it('leaves no half of a file when an export fails', async () => {
    const daemon = await daemonWithState();
    const folder = temporaryFolder();
    expect((await run(daemon, `export none -o ${join(folder, 'x.tar')}`)).code).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.for(['export one -o DISK/one.tar', 'restore one DISK/one'])(
    '%s: says what could not be written when the disk is full, and leaves no half of it',
    async (argv, context) => {
      const disk = temporaryFolder();
      await using _disk = await mountSmallDisk(context, disk, '64k');
      const daemon = await startDaemon();
      writeFileSync(join(daemon.tree, 'large'), Buffer.alloc(256 * 1024, 'x'));
      await daemon.save('one');
      const { code, out, err } = await run(daemon, argv.replace('DISK', disk));
      expect([code, out]).toEqual([1, '']);
      expect(err.split('\n').at(-2)).toMatch(
        new RegExp(`^croft state: .*${disk}/one.*: ENOSPC: no space left on device, \\w+$`),
      );
      expect(readdirSync(disk, { recursive: true }).filter((name) => name !== 'one')).toEqual([]);
    },
  );

  it.each(['dump', 'show --full', 'diff one', 'export one -o -', '--help'])(
    '%s: who keeps what is printed learns that it is not whole',
    async (argv) => {
      const daemon = await daemonWithState();
      writeFileSync(join(daemon.tree, 'file'), 'changed');
      const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      const lost = await runInto(daemon, argv, full);
      expect(lost.code).toBe(1);
      expect(lost.err).toContain('croft state: standard output does not take everything: no space left');
      // Nobody is there to be told.
      const gone = await runInto(daemon, argv, Object.assign(new Error('write'), { code: 'EPIPE' }));
      expect(gone.code).toBe(1);
      expect(gone.err).not.toContain('croft state:');
    },
  );

  it('restores several datasets beside each other, whatever an import says where they lay', async () => {
    const daemon = await startDaemon();
    const outside = temporaryFolder();
    const time = { mode: '777', uid: 0, gid: 0, mtimeNs: '0' };
    const bytes = archiveOf([{ path: 'lib', type: 'link', target: outside, ...time }], [], (member) => ({
      members: [
        { ...member, path: '/' },
        { ...member, path: '/var', dataset: 'system:/var' },
        { ...member, path: '/var/lib/x', dataset: 'system:/var/lib/x' },
      ],
    }));
    expect(await importBytes(daemon, bytes, 'one')).toMatchObject({ code: 0 });
    const target = join(temporaryFolder(), 'restored');
    expect(await run(daemon, `restore one ${target}`)).toMatchObject({ code: 0 });
    expect(readdirSync(outside)).toEqual([]);
    expect(readdirSync(target).sort()).toEqual(['system', 'system:%2Fvar', 'system:%2Fvar%2Flib%2Fx']);
  });

  it('shows on a terminal how far an import is', async () => {
    const daemon = await startDaemon();
    for (let at = 0; at < 60; at++)
      writeFileSync(join(daemon.tree, `f${at}`), Buffer.alloc(1_000_000, `${at}`));
    await daemon.save('one');
    const file = join(temporaryFolder(), 'one.tar');
    const exported = await runOnTerminal(daemon, `export one -o ${file}`);
    expect(exported).toMatchObject({
      code: 0,
      shown: expect.stringMatching(/\r[\d.]+ [KM]iB\u001b\[K.*\r\u001b\[Kexported .*\nwrote/s),
    });
    expect(await runOnTerminal(daemon, `import ${file} back`)).toMatchObject({
      code: 0,
      shown: expect.stringMatching(/\r[\d.]+ [KM]iB of 5\d\.\d MiB\u001b\[K.*\r\u001b\[K.*\nback\n$/s),
    });
  });

  it.each([
    ['completion tcsh', 'completion takes bash, zsh or fish, not "tcsh"'],
    ['pin one --user=', '--user needs a value that is not empty'],
    ['describe one', 'describe needs <text>'],
    ['diff', 'diff needs <state>'],
    ['revert one --json', 'revert has no option --json'],
    ['watch now', 'watch does not take "now"'],
  ])('%j is misuse', async (argv, says) => {
    const { code, out, err } = await run(undefined, argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(says);
  });

  it.each([
    ['import /nonexistent/file', '/nonexistent/file cannot be read: ENOENT: no such file or directory'],
    ['import /tmp', '/tmp is a folder, not what an export wrote'],
    ['export one -o /nonexistent/file', '/nonexistent/file cannot be written: ENOENT'],
    ['trace cpu -o /tmp', '/tmp cannot be written: EEXIST'],
  ])('%j failed, which is not misuse', async (argv, says) => {
    const { code, out, err } = await run(undefined, argv);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^croft state: [^\n]+\n$/);
    expect(err).toContain(says);
  });

  it.each([
    ['watch', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {2}saved {2}vault:\/.+@two$/],
    ['watch --json', /^\{"id":1,"time":"[^"]+","saved":\{"id":"[^"]+","name":"two",/],
  ])('%s tells what happens until the daemon ends', async (argv, says) => {
    const daemon = await daemonWithState();
    const watching = run(daemon, argv);
    await sleep(300);
    await daemon.save('two');
    await daemon.service.close(1000);
    const { code, out, err } = await watching;
    expect(code).toBe(1);
    expect(out.trim()).toMatch(says);
    expect(err).toContain('the daemon is stopping');
  });
});

describe('completion', () => {
  const scriptOf = async (shell: string) => {
    const { code, out } = await run(undefined, `completion ${shell}`);
    expect(code).toBe(0);
    const file = join(temporaryFolder(), '_croft');
    writeFileSync(file, out);
    return file;
  };

  it('of bash completes commands, second words and options', async () => {
    const file = await scriptOf('bash');
    const complete = (...words: string[]) =>
      execFileSync('bash', [
        '--norc',
        '-c',
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _croft; printf "%s\\n" "${COMPREPLY[@]}"',
        'bash',
        file,
        ...words,
      ])
        .toString()
        .split('\n')
        .filter((word) => word !== '');
    expect(complete('croft', 's')).toEqual(['state']);
    expect(complete('croft', 'state', 'd')).toEqual(['diff', 'describe', 'dump']);
    expect(complete('croft', 'state', 'users', '')).toEqual(
      expect.arrayContaining(['create', 'move', 'dissociate', '--json']),
    );
    expect(complete('croft', 'state', 'diff', '--t')).toEqual(['--times', '--token']);
    expect(complete('croft', 'auth', '')).toEqual([]);
    const every = complete('croft', 'state', '');
    expect([...every].sort()).toEqual(
      [...new Set(Object.keys(COMMANDS).map((name) => name.split(' ')[0] as string))].sort(),
    );
  });

  it('of zsh is one that zsh takes', async (context) => {
    if (!hasProgram('zsh')) skipWithout(context, 'zsh (apt install zsh)');
    execFileSync('zsh', ['-n', await scriptOf('zsh')]);
  });

  it('of fish completes commands and options', async (context) => {
    if (!hasProgram('fish')) skipWithout(context, 'fish (apt install fish)');
    const file = await scriptOf('fish');
    const complete = (line: string) =>
      execFileSync('fish', ['--no-config', '-c', `source ${file}; complete -C '${line}'`])
        .toString()
        .split('\n');
    expect(complete('croft state di')).toContain('diff');
    expect(complete('croft state diff --ti')).toContain('--times');
  });
});
