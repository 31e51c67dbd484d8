import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runStateCommand } from '../src/client/index.ts';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';

/** Runs `croft state …` and gives what it printed; `typed` is what somebody types at a terminal. */
async function run(daemon: Daemon | undefined, argv: string, typed?: string) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stdin = Object.assign(Readable.from(typed === undefined ? [] : [typed]), {
    isTTY: typed !== undefined,
  });
  const socket = daemon?.service.address.replace('unix:', '') ?? '/nonexistent/statesvc.sock';
  const code = await runStateCommand(argv === '' ? [] : argv.split(' '), { socket, stdout, stderr, stdin });
  const text = (stream: PassThrough) => String(stream.read() ?? '');
  return { code, out: text(stdout), err: text(stderr) };
}

const names = async (daemon: Daemon) => (await daemon.dump()).machines[0]?.states.map(({ name }) => name);

describe('croft state', () => {
  it('saves, lists, shows and removes', async () => {
    const daemon = await startDaemon();
    writeFileSync(join(daemon.tree, 'file'), 'x');
    expect(await run(daemon, 'save before-upgrade')).toMatchObject({ code: 0, out: 'before-upgrade\n' });
    expect((await run(daemon, 'list')).out).toMatch(/^ID +MANAGED/);
    expect((await run(daemon, 'show')).out).toContain('before-upgrade');
    expect((await run(daemon, `show ${daemon.tree} --full`)).out).toContain('2 entries');
    expect(await run(daemon, 'remove before-upgrade')).toMatchObject({ code: 0, out: '' });
    expect(await names(daemon)).toEqual([]);
  });

  it('keeps results on standard output and progress on standard error', async () => {
    const daemon = await startDaemon();
    const { out, err } = await run(daemon, 'save one --boot-menu');
    expect(out).toBe('one\n');
    expect(err).toContain('saving one: system');
    expect(err).toContain('warning: the boot menu was not updated');
  });

  it('prints JSON that holds what the text does', async () => {
    const daemon = await startDaemon();
    expect(JSON.parse((await run(daemon, 'save one --json')).out)).toEqual({ stateName: 'one' });
    expect(JSON.parse((await run(daemon, 'list --json')).out)).toMatchObject([
      { id: `vault:${daemon.tree}`, states: 1 },
    ]);
    expect(JSON.parse((await run(daemon, 'show --json')).out)).toMatchObject({ states: [{ name: 'one' }] });
    expect(JSON.parse((await run(daemon, 'version --json')).out)).toEqual({ version: '1.2.3-test' });
    expect(JSON.parse((await run(daemon, 'dump')).out)).toEqual(await daemon.dump());
    expect((await run(daemon, 'status')).out).toContain('writers: none\n');
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
      err: `croft state: cannot restore into ${folder}: it is not empty\n`,
    });
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
    expect(await names(daemon)).toEqual(left);
  });

  it('does not ask with --yes, and does nothing with --dry-run', async () => {
    const daemon = await startDaemon();
    await daemon.save('doomed');
    expect((await run(daemon, 'remove doomed --dry-run', 'y\n')).out).toContain('forget doomed');
    expect(await names(daemon)).toEqual(['doomed']);
    expect((await run(daemon, 'remove doomed --yes', 'n\n')).err).not.toContain('Remove it?');
    expect(await names(daemon)).toEqual([]);
  });

  it('says why the daemon refused, and exits with 1', async () => {
    const daemon = await startDaemon();
    expect(await run(daemon, 'remove nothing')).toEqual({
      code: 1,
      out: '',
      err: 'croft state: there is no state "nothing": MachineShow lists the states with their names\n',
    });
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
    ['fly', 'there is no command "fly"'],
    ['constructor', 'there is no command "constructor"'],
    ['remove', 'remove needs <state>'],
    ['restore x', 'restore needs <folder>'],
    ['save a b', 'save does not take "b"'],
    ['list --force', 'list has no option --force'],
    ['list --frce', "Unknown option '--frce'"],
  ])('%j is misuse', async (argv, says) => {
    const { code, out, err } = await run(undefined, argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`croft state: ${says}`);
    expect(err).toContain('Usage: croft state');
  });

  it('--help needs no daemon and names every command', async () => {
    const { code, out } = await run(undefined, 'remove --help');
    expect(code).toBe(0);
    for (const command of ['list', 'show', 'save', 'remove', 'restore', 'status', 'dump', 'version']) {
      expect(out).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    }
  });
});
