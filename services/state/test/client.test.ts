import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { skipWithout } from '@croft/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandTexts } from '../src/client/command-texts.ts';
import { runStateCommand } from '../src/client/index.ts';
import { COMMANDS, type CommandName, EVERYWHERE, parseCommand } from '../src/client/parse-command.ts';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';
import { host } from './host.ts';
import { runCommand as run, runOnTerminal } from './run-command.ts';

const names = Object.keys(COMMANDS) as CommandName[];
const statesOf = async (daemon: Daemon) => (await daemon.dump()).machines[0]?.states.map(({ name }) => name);

describe('croft state', () => {
  it('saves, lists, shows and removes', async () => {
    const daemon = await startDaemon();
    writeFileSync(join(daemon.tree, 'file'), 'x');
    expect(await run(daemon, 'save before-upgrade')).toMatchObject({ code: 0, out: 'before-upgrade\n' });
    expect((await run(daemon, 'list')).out).toMatch(/^ID +MANAGED/);
    expect((await run(daemon, 'show')).out).toContain('before-upgrade');
    expect((await run(daemon, `show ${daemon.tree} --full`)).out).toContain('2 entries');
    expect(await run(daemon, 'remove before-upgrade')).toMatchObject({ code: 0, out: '' });
    expect(await statesOf(daemon)).toEqual([]);
  });

  it('keeps results on standard output and progress on standard error', async () => {
    const daemon = await startDaemon();
    const { out, err } = await run(daemon, 'save one --boot-menu');
    expect(out).toBe('one\n');
    expect(err).toContain('saving one: system');
  });

  it('prints JSON that holds what the text does', async () => {
    const daemon = await startDaemon();
    expect(JSON.parse((await run(daemon, 'save one --json')).out)).toEqual({ stateName: 'one' });
    expect(JSON.parse((await run(daemon, 'list --json')).out)).toMatchObject([
      { id: `vault:${daemon.tree}`, states: 1 },
    ]);
    expect(JSON.parse((await run(daemon, 'show --json')).out)).toMatchObject({ states: [{ name: 'one' }] });
    expect(JSON.parse((await run(daemon, 'version --json')).out)).toEqual({ version: '1.2.3-test' });
    for (const argv of ['dump', 'dump --json'])
      expect(JSON.parse((await run(daemon, argv)).out)).toEqual(await daemon.dump());
    expect((await run(daemon, 'status')).out).toContain('writers: none\n');
    expect(JSON.parse((await run(daemon, 'status --json')).out)).toMatchObject({
      version: '1.2.3-test',
      machine: { states: 1 },
    });
  });

  it('prints what is not known as null, as the dump does, so that programs find every field', async () => {
    const daemon = await startDaemon();
    await daemon.save('one');
    const [machine] = (await daemon.dump()).machines;
    expect(JSON.parse((await run(daemon, 'show --json')).out)).toEqual(machine);
    expect(JSON.parse((await run(daemon, 'list --json')).out)).toEqual([{ ...machine, states: 1 }]);
    expect(machine).toMatchObject({ bootedState: null, nextState: null, states: [{ imported: null }] });
  });

  it('restores a state into a new folder', async () => {
    const daemon = await startDaemon();
    mkdirSync(join(daemon.tree, 'conf'));
    writeFileSync(join(daemon.tree, 'conf/file'), 'old');
    await daemon.save('good');
    writeFileSync(join(daemon.tree, 'conf/file'), 'new');
    const folder = join(temporaryFolder(), 'back');
    expect(await run(daemon, `restore good ${folder}`)).toMatchObject({ code: 0, out: '' });
    expect(readFileSync(join(folder, 'conf/file'), 'utf8')).toBe('old');
    expect(await run(daemon, `restore good ${folder}`)).toMatchObject({
      code: 1,
      err: `croft state: cannot restore into ${folder}: it is not empty: name an empty folder, or one that is not there yet\n`,
    });
  });

  it('shows on a terminal how far a save and a restore are, and nowhere else', async () => {
    const daemon = await startDaemon();
    writeFileSync(join(daemon.tree, 'file'), Buffer.alloc(1_500_000, 'x'));
    // A hole is read as zeros, which takes a while and no room.
    writeFileSync(join(daemon.tree, 'hole'), '');
    truncateSync(join(daemon.tree, 'hole'), 1024 ** 3);
    const { tree } = daemon;
    const saved = await runOnTerminal(daemon, 'save one');
    expect(saved.code).toBe(0);
    expect(saved.shown).toMatch(
      new RegExp(`\r${tree}: \\d entries, 1\\.4 MiB, .* new\u001b\\[K.*\r\u001b\\[K.*one\n$`, 's'),
    );
    truncateSync(join(daemon.tree, 'hole'), 1024 ** 3 + 1);
    expect(await run(daemon, 'save unseen')).toMatchObject({
      code: 0,
      err: `saving unseen: system ${tree}\nsaved system: 3 entries, 1.0 GiB\n`,
    });
    const restored = await runOnTerminal(daemon, `restore one ${join(temporaryFolder(), 'back')}`);
    expect(restored.code).toBe(0);
    expect(restored.shown).toMatch(
      new RegExp(`\r${tree}: \\d of 3 entries, .* of 1\\.0 GiB\u001b\\[K.*\r\u001b\\[Krestored `, 's'),
    );
  });

  it('shows on a terminal how far a boot that goes back is', async () => {
    const { tree, boot } = host();
    const first = await boot('ro');
    const files = Array.from({ length: 800 }, (_, at) => join(tree, `file-${at}`));
    for (const file of files) writeFileSync(file, 'good');
    await first.save('good');
    const [state] = (await first.dump()).machines[0]?.states ?? [];
    for (const file of files) writeFileSync(file, 'bad');
    await first.service.close(0);
    const { code, shown } = await runOnTerminal(await boot(`ro statesvc.state=${state?.id}`), 'prepare-boot');
    expect(code).toBe(0);
    expect(shown).toMatch(
      new RegExp(`\r${tree}: \\d+ of 801 changes\u001b\\[K.*\r\u001b\\[K.*changed\n$`, 's'),
    );
    expect(readFileSync(files[0] as string, 'utf8')).toBe('good');
  });

  it.each([
    ['y\n', 0, []],
    ['yes\n', 0, []],
    ['n\n', 1, ['doomed']],
    ['\n', 1, ['doomed']],
  ])('asks at a terminal before it removes; %j', async (typed, code, left) => {
    const daemon = await startDaemon();
    await daemon.save('doomed');
    const ran = await run(daemon, 'remove doomed', typed);
    expect(ran.code).toBe(code);
    expect(ran.err).toContain('Remove it? [y/N]');
    expect(ran.err.endsWith('nothing was done\n')).toBe(code === 1);
    expect(await statesOf(daemon)).toEqual(left);
  });

  it('removes what was confirmed, and nothing that its name means by then', async () => {
    const daemon = await startDaemon();
    for (const name of ['before-upgrade', 'upgrade']) await daemon.save(name);
    const ran = await run(daemon, 'remove upgrade', () =>
      daemon.call('RemoveSystemState', { stateName: 'upgrade' }),
    );
    expect([ran.code, await statesOf(daemon)]).toEqual([1, ['before-upgrade']]);
  });

  it('does not ask with --yes, and does nothing with --dry-run', async () => {
    const daemon = await startDaemon();
    await daemon.save('doomed');
    expect((await run(daemon, 'remove doomed --dry-run', 'y\n')).out).toContain('@doomed');
    expect(await statesOf(daemon)).toEqual(['doomed']);
    expect((await run(daemon, 'remove doomed --yes', 'n\n')).err).not.toContain('Remove it?');
    expect(await statesOf(daemon)).toEqual([]);
  });

  it('makes, moves, saves and dissociates homes of users', async () => {
    const daemon = await startDaemon();
    const [home, moved] = [join(temporaryFolder(), 'ada'), join(temporaryFolder(), 'moved')];
    expect((await run(daemon, `users create ada ${home}`)).code).toBe(0);
    writeFileSync(join(home, 'file'), 'content');
    expect((await run(daemon, `users move ${home} ${moved}`)).code).toBe(0);
    expect((await run(daemon, 'users')).out).toBe(`ada  ${moved}  vault:${daemon.tree}\n`);
    expect(JSON.parse((await run(daemon, 'users --json')).out)).toMatchObject([{ user: 'ada', path: moved }]);
    expect(await run(daemon, 'save mine --user ada')).toMatchObject({ code: 0, out: 'mine\n' });
    const back = join(temporaryFolder(), 'back');
    expect((await run(daemon, `restore mine ${back} -u ada`)).code).toBe(0);
    expect(readFileSync(join(back, 'file'), 'utf8')).toBe('content');
    expect((await run(daemon, 'users dissociate ada --remove-home', 'n\n')).code).toBe(1);
    expect(readFileSync(join(moved, 'file'), 'utf8')).toBe('content');
    expect((await run(daemon, 'users dissociate ada --remove-home', 'y\n')).code).toBe(0);
    expect(readdirSync(moved)).toEqual([]);
    expect((await run(daemon, 'remove mine --user ada --yes')).code).toBe(0);
    expect(await statesOf(daemon)).toEqual([]);
  });

  it('takes traces into files that only their owner can read, and overwrites none', async () => {
    const daemon = await startDaemon();
    const file = join(temporaryFolder(), 'out.cpuprofile');
    expect((await run(daemon, `trace cpu --duration 0 -o ${file}`)).code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ nodes: expect.any(Array) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await run(daemon, `trace cpu --duration 0 -o ${file}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be written: EEXIST'),
    });
    const unwritten = join(temporaryFolder(), 'unwritten');
    expect((await run(daemon, `trace cpu --duration 1000 -o ${unwritten}`)).code).toBe(1);
    expect(existsSync(unwritten)).toBe(false);
    expect(await run(daemon, 'trace trace --duration 0 -o -')).toMatchObject({ code: 0, out: '', err: '' });
    expect(JSON.parse((await run(daemon, 'trace cpu --duration 0 -o -')).out)).toHaveProperty('nodes');
    expect((await run(daemon, 'trace cpu --duration 1.5')).err).toContain('--duration is a whole number');
  });

  it.each([
    ['gc', 'there was nothing to remove'],
    ['gc --all --yes', 'there was nothing to remove'],
    ['refresh', 'nothing differed: 0 states'],
    ['reload', 'the newest 20 states are kept'],
    ['last-used', 'was last used'],
    ['stop', 'the daemon is stopping'],
  ])('%s tells what it did', async (argv, says) => {
    const ran = await run(await startDaemon(), argv);
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(ran.err).toContain(says);
  });

  it('says whether a boot changed something', async () => {
    const daemon = await startDaemon();
    expect(await run(daemon, 'prepare-boot')).toMatchObject({ code: 0, out: 'unchanged\n' });
    expect(JSON.parse((await run(daemon, 'commit-boot --json')).out)).toEqual({ changed: false });
  });

  it('asks before it removes states that somebody named', async () => {
    const daemon = await startDaemon();
    expect((await run(daemon, 'gc --all', 'n\n')).code).toBe(1);
  });

  it('says why the daemon refused, and exits with 1', async () => {
    const daemon = await startDaemon();
    expect(await run(daemon, 'remove nothing')).toEqual({
      code: 1,
      out: '',
      err: 'croft state: there is no state "nothing": `croft state show --full` lists the states with their names\n',
    });
  });

  it.each([
    ['show MachineList', 'there is no machine "MachineList": `croft state list` lists the machines'],
    ['users move /nowhere /x', '`croft state users create` makes a home'],
    ['remove pinned', 'repeat it with --force if that is meant'],
  ])('%s: what the daemon says by its operations, the client says by its commands', async (argv, says) => {
    const daemon = await startDaemon();
    await daemon.save('pinned');
    expect((await run(daemon, 'pin pinned')).code).toBe(0);
    expect(await run(daemon, argv)).toMatchObject({ code: 1, err: expect.stringContaining(says) });
  });

  it('refuses to restore where nothing can be made, and ends', async () => {
    const daemon = await startDaemon();
    await daemon.save('good');
    const file = join(daemon.tree, 'file');
    writeFileSync(file, 'content');
    for (const [target, says] of [
      ['/proc/croft/deeper', 'ENOENT'],
      [join(file, 'below'), 'ENOTDIR'],
      [file, 'it is a link or no folder: name an empty folder'],
    ] as const)
      expect(await run(daemon, `restore good ${target}`)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`cannot restore into ${target}: ${says}`),
      });
    expect(readFileSync(file, 'utf8')).toBe('content');
  });

  it('says at a terminal that no homes are saved, and nothing to a program', async () => {
    const daemon = await startDaemon();
    expect((await runOnTerminal(daemon, 'users')).shown).toContain(
      '`croft state users create <user> <home>`',
    );
    expect(await run(daemon, 'users')).toEqual({ code: 0, out: '', err: '' });
  });

  it('says whose a daemon is that is not for this user', () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0);
    const socket = join(folder, 'x.sock');
    const main = join(import.meta.dirname, '../../../main.ts');
    const { status, stderr } = spawnSync(process.execPath, [main, 'state', 'list'], {
      env: { STATESVC_SOCKET: socket },
      cwd: '/',
      ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
    });
    expect([status, stderr.toString()]).toEqual([
      1,
      expect.stringContaining(`croft state: the socket ${socket} is not open to this user. Run this as`),
    ]);
  });

  it('says that states can only be restored by whoever may read where they are', async (context) => {
    if (process.getuid?.() !== 0) skipWithout(context, 'another user');
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    const place = temporaryFolder();
    chownSync(place, 65_534, 65_534);
    const socket = join(folder, 'public.sock');
    const daemon = await startDaemon({
      settings: { STATESVC_SOCKET: socket, STATESVC_SOCKET_MODE: '0666' },
    });
    await daemon.save('good');
    const main = join(import.meta.dirname, '../../../main.ts');
    const restoring = promisify(execFile)(
      process.execPath,
      [main, 'state', 'restore', 'good', join(place, 'back')],
      { env: { STATESVC_SOCKET: socket }, cwd: '/', uid: 65_534, gid: 65_534 },
    );
    await expect(restoring).rejects.toMatchObject({
      code: 1,
      stderr: `croft state: ${daemon.folder}/vault, where the states are, is not open to this user: run this as root, or as the user that the daemon runs as\n`,
    });
    expect(readdirSync(place)).toEqual([]);
  });

  it('attack: somebody else waits where the socket of a long data folder would be', async (context) => {
    if (process.getuid?.() !== 0) skipWithout(context, 'the right to give a folder away');
    const folder = join(tmpdir(), `croft-0-${randomBytes(6).toString('hex')}`);
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const socket = join(folder, 'statesvc.sock');
    const outputs = () => {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      return { stdout, stderr, said: () => String(stderr.read() ?? '') };
    };
    const nobody = outputs();
    expect(await runStateCommand(['list'], { socket, ...nobody })).toBe(1);
    expect(nobody.said()).toContain(`the state daemon does not answer on ${socket}`);
    mkdirSync(folder);
    let calls = 0;
    const server = createServer(() => calls++).listen(socket);
    onTestFinished(() => void server.close());
    chownSync(folder, 65_534, 65_534);
    for (const link of [false, true]) {
      if (link) {
        renameSync(folder, `${folder}-away`);
        onTestFinished(() => rmSync(`${folder}-away`, { recursive: true, force: true }));
        chownSync(`${folder}-away`, 0, 0);
        symlinkSync(`${folder}-away`, folder);
      }
      const somebody = outputs();
      expect(await runStateCommand(['show'], { socket, ...somebody })).toBe(1);
      expect(somebody.said()).toContain(`croft state: ${folder} was made by somebody else`);
    }
    expect(calls).toBe(0);
  });

  it('says what to do when no daemon runs', async () => {
    const { code, err } = await run(undefined, 'list');
    expect(code).toBe(1);
    expect(err).toMatch(
      /^croft state: the state daemon does not answer on \/nonexistent\/statesvc\.sock\. Start it with `npm start`/,
    );
  });

  it.each([
    ['', 'a command is missing'],
    ['seldom', 'there is no command "seldom"'],
    ['sav', 'there is no command "sav"; did you mean save?'],
    ['constructor', 'there is no command "constructor"'],
    ['remove', 'remove needs <state>'],
    ['restore x', 'restore needs <folder>'],
    ['save a b', 'save does not take "b"'],
    ['list --force', 'list has no option --force'],
    ['users fly', 'users does not take "fly"'],
    ['users create ada', 'users create needs <home>'],
    ['save x --user ada --auto', '--auto is for states of the system'],
    ['list --frce', "Unknown option '--frce'"],
    ['remove x --dryrun', "Unknown option '--dryrun'; did you mean --dry-run?"],
    ['--version', "Unknown option '--version'; did you mean version?"],
    ['-V', "Unknown option '-V'; did you mean version?"],
    ['ls', 'there is no command "ls"; did you mean show?'],
    ['delete x', 'there is no command "delete"; did you mean remove?'],
    ['create', 'there is no command "create"; did you mean save?'],
    ['rollback x', 'there is no command "rollback"; did you mean revert?'],
    ['cleanup', 'there is no command "cleanup"; did you mean gc?'],
    ['describe x all tests green', 'describe does not take "tests"; put the text in quotation marks'],
    ['log-level 7', 'log-level takes 0, 1 or 2, not "7"'],
    ['trace memory', 'trace takes cpu, heap or trace, not "memory"'],
  ])('%j is misuse', async (argv, says) => {
    const { code, out, err } = await run(undefined, argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`croft state: ${says}`);
    expect(err).toContain('Usage: croft state');
    expect(err).toMatch(/`croft state [\w<> -]*--help` (lists|tells) /);
  });

  it.each(['--help', '-h', 'help'])('%s needs no daemon and names every command', async (argv) => {
    const { code, out, err } = await run(undefined, argv);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const command of names) expect(out).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    for (const flag of EVERYWHERE) expect(out).toMatch(new RegExp(`^  --${flag}\\b`, 'm'));
    // What is needed first comes first.
    expect(out).toMatch(/^States:\n {2}save .*\n {2}show .*\n {2}list /m);
    expect(out).toMatch(/\n\nHomes of users:\n {2}users .*[^]*\n\nThe daemon:\n {2}status /);
  });

  it.each(names)('%s --help tells all that can be said, and nothing of other commands', async (name) => {
    const { code, out, err } = await run(undefined, `${name} --help`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^Usage: croft state ${name} `));
    const options = [...out.matchAll(/^  (?:-\w, )?--([\w-]+)(?: [A-Z:]+)? {2}/gm)].map(([, flag]) => flag);
    expect(options).toEqual([...COMMANDS[name].flags, 'help']);
    const words = [...COMMANDS[name].needs.map((word) => `<${word}>`), ...COMMANDS[name].may];
    for (const word of words) expect(out.split('\n')[0]).toContain(word);
    const others = names.filter((other) => other !== name && !other.startsWith(`${name} `));
    for (const other of others) expect(out).not.toMatch(new RegExp(`^  ${other}\\b`, 'm'));
    expect((await run(undefined, `help ${name}`)).out).toBe(out);
  });

  it.each(names)('the examples of %s are understood', (name) => {
    const { examples } = commandTexts[name];
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const argv = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
      expect(parseCommand(argv)).toMatchObject({ name });
    }
  });

  it('a question about a command that is none is misuse', async () => {
    expect(await run(undefined, 'fly --help')).toMatchObject({ code: 2, out: '' });
  });
});
