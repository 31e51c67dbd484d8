import { execFileSync, type StdioOptions, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { startDaemon, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';
import { callExtra } from './extras-client.ts';
import { stateOf, withHome } from './hostile-scene.ts';
import { restore } from './sample-tree.ts';

// The daemon is root, and what is mounted in and over homes is others'.

/** Shows a folder at another place as well; undone with the test. */
function bindMount(context: TestContext, folder: string, at: string): void {
  try {
    execFileSync('mount', ['--bind', folder, at], { stdio: 'ignore' });
  } catch {
    skipWithout(context, 'the right to mount');
  }
  onTestFinished(() => void spawnSync('umount', ['-l', at]));
}

describe('what is mounted over a home', () => {
  it('is not emptied in its place, and nothing is changed', async (context) => {
    const { daemon, home } = await withHome();
    const other = temporaryFolder();
    writeFileSync(join(other, 'precious'), 'of others');
    bindMount(context, other, home);
    const before = [await daemon.dump(), treeFacts(other)];
    const refused = await daemon.call('DissociateUser', { user: 'eve', removeHome: true });
    expect(refused).toMatchObject({ code: 9, results: [] });
    expect(refused.details).toMatch(/another file system is mounted there/);
    expect([await daemon.dump(), treeFacts(other)]).toEqual(before);
    execFileSync('umount', [home]);
    expect(readFileSync(join(home, 'file'), 'utf8')).toBe('of the user');
    expect((await daemon.call('DissociateUser', { user: 'eve', removeHome: true })).code).toBe(0);
    expect([readdirSync(home), treeFacts(other)]).toEqual([[], before[1]]);
  });

  it('is the home when it was registered so', async (context) => {
    const { daemon, home } = await withHome();
    const other = temporaryFolder();
    writeFileSync(join(other, 'file'), 'of the user');
    bindMount(context, other, home);
    expect((await daemon.call('CreateUserData', { user: 'eve', homepath: home })).code).toBe(0);
    expect((await daemon.call('DissociateUser', { user: 'eve' })).code).toBe(0);
    expect((await daemon.call('CreateUserData', { user: 'eve', homepath: home })).code).toBe(0);
    expect((await daemon.call('DissociateUser', { user: 'eve', removeHome: true })).code).toBe(0);
    expect(readdirSync(other)).toEqual([]);
    execFileSync('umount', [home]);
    expect(readdirSync(home)).toEqual(['file']);
  });
});

describe('a home that is a file system of its own, and is not mounted', () => {
  /** As one that is decrypted when its user logs in. */
  async function withMountedHome(context: TestContext) {
    const { daemon, home } = await withHome();
    rmSync(join(home, 'file'));
    const disk = temporaryFolder();
    writeFileSync(join(disk, 'secret'), 'of the user');
    bindMount(context, disk, home);
    expect((await daemon.call('CreateUserData', { user: 'eve', homepath: home })).code).toBe(0);
    await daemon.save('good');
    execFileSync('umount', [home]);
    return { daemon, home, disk };
  }

  it('is told, its state is partial, and its own save is refused', async (context) => {
    const { daemon, home } = await withMountedHome(context);
    const saved = await daemon.call('SaveSystemState', { stateName: 'away' });
    expect(saved).toMatchObject({ code: 0, results: [{ stateName: 'away' }] });
    expect(saved.lines).toContain(
      `warning: ${home}, the home of eve, was not saved: the file system of this home is not mounted there`,
    );
    expect((await stateOf(daemon, 'away', 'eve')).partial).toBe(true);
    const before = await daemon.dump();
    const refused = await daemon.call('SaveUserState', { userName: 'eve', stateName: 'empty' });
    expect(refused).toMatchObject({ code: 9, results: [] });
    expect(refused.details).toContain('the file system of this home is not mounted there');
    expect(await daemon.dump()).toEqual(before);
  });

  it.for([
    ['that has it', 'good', 'it could not be saved'],
    ['that was saved while it was away', 'away', 'it was unreadable'],
  ])('stays as it is when the machine goes back to a state %s', async ([, name = '', why], context) => {
    const { daemon, home, disk } = await withMountedHome(context);
    await daemon.save('away');
    const { id } = await stateOf(daemon, name, null);
    await daemon.service.close(0);
    if (name === 'away') execFileSync('mount', ['--bind', disk, home]);
    const before = treeFacts(home);
    const cmdline = join(temporaryFolder(), 'cmdline');
    writeFileSync(cmdline, `statesvc.state=${id} statesvc.revert=userdata\n`);
    const { folder, tree } = daemon;
    const again = await startDaemon({ folder, tree, settings: { STATESVC_CMDLINE_FILE: cmdline } });
    const answer = await again.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect(answer.lines.join('\n')).toContain(`${home}/. stays as it is`);
    expect(answer.lines.join('\n')).toContain(`${why} (ENODEV)`);
    expect(treeFacts(home)).toEqual(before);
  });
});

describe('a folder that is mounted into a home', () => {
  it('is neither saved, nor emptied, nor gone back into', async (context) => {
    const { daemon, home } = await withHome();
    const shared = temporaryFolder();
    mkdirSync(join(home, 'a/mount'), { recursive: true });
    await daemon.save('before');
    bindMount(context, shared, join(home, 'a/mount'));
    writeFileSync(join(shared, 'precious'), 'of others');
    const answer = await daemon.call('SaveSystemState', { stateName: 'mounted' });
    expect(answer.lines).toContain(`warning: ${home}/a/mount is another file system and was left out`);
    expect((await restore(daemon, 'mounted', 'eve')).problems).toEqual([]);
    expect(existsSync(join((await restore(daemon, 'mounted', 'eve')).target, 'a/mount/precious'))).toBe(
      false,
    );
    const emptied = await daemon.call('DissociateUser', { user: 'eve', removeHome: true });
    expect(emptied.lines).toContain(`warning: ${home}/a/mount is another file system and was left alone`);
    expect(readdirSync(shared)).toEqual(['precious']);
    expect(readdirSync(home)).toEqual(['a']);
  });

  it('stays what it is when the home goes back to before it was there', async (context) => {
    const folder = join(temporaryFolder(), 'state');
    const tree = temporaryFolder();
    const first = await startDaemon({ folder, tree });
    const home = join(temporaryFolder(), 'eve');
    await first.call('CreateUserData', { user: 'eve', homepath: home });
    await first.save('good');
    const id = (await stateOf(first, 'good', null)).id;
    await first.service.close(0);
    const shared = temporaryFolder();
    writeFileSync(join(shared, 'precious'), 'of others');
    mkdirSync(join(home, 'a/mount'), { recursive: true });
    bindMount(context, shared, join(home, 'a/mount'));
    writeFileSync(join(home, 'a/too-much'), '');
    const cmdline = join(temporaryFolder(), 'cmdline');
    writeFileSync(cmdline, `statesvc.state=${id} statesvc.revert=userdata\n`);
    const again = await startDaemon({ folder, tree, settings: { STATESVC_CMDLINE_FILE: cmdline } });
    const answer = await again.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect(answer.lines.join('\n')).toContain(`${home}/a/mount stays: `);
    expect(readdirSync(shared)).toEqual(['precious']);
    expect(readdirSync(join(home, 'a'))).toEqual(['mount']);
  });

  it('keeps its files and its mode when the home goes back to where a folder with files was there', async (context) => {
    const folder = join(temporaryFolder(), 'state');
    const tree = temporaryFolder();
    const first = await startDaemon({ folder, tree });
    const home = join(temporaryFolder(), 'eve');
    await first.call('CreateUserData', { user: 'eve', homepath: home });
    mkdirSync(join(home, 'a/mount/sub'), { recursive: true });
    for (const name of ['a/precious', 'a/mount/precious', 'a/mount/sub/deep'])
      writeFileSync(join(home, name), 'then');
    await first.save('good');
    const id = (await stateOf(first, 'good', null)).id;
    await first.service.close(0);
    const shared = temporaryFolder();
    writeFileSync(join(shared, 'precious'), 'of others, and nowhere else');
    chmodSync(shared, 0o700);
    bindMount(context, shared, join(home, 'a/mount'));
    writeFileSync(join(home, 'a/precious'), 'now');
    const before = treeFacts(shared);
    const cmdline = join(temporaryFolder(), 'cmdline');
    writeFileSync(cmdline, `statesvc.state=${id} statesvc.revert=userdata\n`);
    const again = await startDaemon({ folder, tree, settings: { STATESVC_CMDLINE_FILE: cmdline } });
    const answer = await again.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect(treeFacts(shared)).toEqual(before);
    expect(readFileSync(join(home, 'a/precious'), 'utf8')).toBe('then');
    expect(answer.lines.filter((line) => line.includes('/a/mount'))).toEqual([
      `warning: ${home}/a/mount is another file system and was left out`,
      `warning: ${home}/a/mount stays as it is, with what is in it: it is another file system now`,
    ]);
  });
});

/** As of a server that is gone: whoever asks waits; and when the program that answers has ended, nobody waits. */
function mountDead(context: TestContext, at: string, isHanging: boolean): void {
  let program: number;
  try {
    program = openSync('/dev/fuse', 'r+');
    const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
    const stdio: StdioOptions = ['ignore', 'ignore', 'ignore', program];
    execFileSync('mount', ['-i', '-t', 'fuse', '-o', options, 'server', at], { stdio });
  } catch {
    skipWithout(context, 'the right to mount by FUSE');
  }
  onTestFinished(() => {
    if (isHanging) closeSync(program);
    execFileSync('umount', ['-l', at]);
  });
  if (!isHanging) closeSync(program);
}

describe('a mount in a home that nobody answers for any more', () => {
  async function withDeadMount(context: TestContext, isHanging: boolean) {
    const { daemon, home } = await withHome();
    const at = join(home, 'a/dead');
    mkdirSync(at, { recursive: true });
    await daemon.save('before');
    mountDead(context, at, isHanging);
    writeFileSync(join(home, 'a/beside'), 'of the user');
    return { daemon, home, at };
  }

  it.for([
    ['hangs', true],
    ['has ended', false],
  ] as const)(
    'is left out of saves and differences, stays in a home that is emptied, and holds nobody: %s',
    async ([, isHanging], context) => {
      const { daemon, home, at } = await withDeadMount(context, isHanging);
      const saved = await daemon.call('SaveUserState', { userName: 'eve', stateName: 'now' });
      expect(saved).toMatchObject({ code: 0, results: [{ stateName: 'now' }] });
      expect(saved.lines).toContain(`warning: ${at} is another file system and was left out`);
      expect((await stateOf(daemon, 'now', 'eve')).partial).toBe(false);
      const { target, problems } = await restore(daemon, 'now', 'eve');
      expect(problems).toEqual([]);
      expect(readFileSync(join(target, 'a/beside'), 'utf8')).toBe('of the user');
      expect(readdirSync(join(target, 'a/dead'))).toEqual([]);
      rmSync(join(home, 'file'));
      const diff = await callExtra(daemon, 'Diff', { stateName: 'now', userName: 'eve' });
      expect(diff).toMatchObject({ code: 0 });
      expect(diff.results.at(-1)).toMatchObject({ summary: { added: 0, removed: 1 } });
      const emptied = await daemon.call('DissociateUser', { user: 'eve', removeHome: true });
      expect(emptied).toMatchObject({ code: 0 });
      expect(emptied.lines).toContain(`warning: ${at} is another file system and was left alone`);
      expect([readdirSync(home), readdirSync(join(home, 'a'))]).toEqual([['a'], ['dead']]);
    },
  );
});

describe('a home on a server that does not answer any more', () => {
  const silent = 'the server or program that its file system comes from does not answer';
  const within = { deadlineMs: 30_000 };

  it.for([
    ['around it', (home: string) => dirname(home)],
    ['where a link leads', (home: string) => `${dirname(home)}-real`],
  ] as const)('holds no save: mounted %s', async ([, placeOf], context) => {
    const { daemon, home } = await withHome();
    const at = placeOf(home);
    if (!existsSync(at)) {
      renameSync(dirname(home), at);
      symlinkSync(at, dirname(home));
    }
    mountDead(context, at, true);
    const answer = await daemon.call('SaveSystemState', { stateName: 'without' }, within);
    expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'without' }] });
    expect(answer.lines).toContain(`warning: ${home}, the home of eve, was not saved: ${silent}`);
  });

  it('holds nobody', async (context) => {
    const { daemon, home } = await withHome();
    const other = join(temporaryFolder(), 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath: other });
    mountDead(context, home, true);
    expect(await daemon.call('SaveSystemState', { stateName: 'without' }, within)).toMatchObject({
      code: 0,
      results: [{ stateName: 'without' }],
    });
    expect(await stateOf(daemon, 'without', 'eve')).toMatchObject({ partial: true });
    expect(await stateOf(daemon, 'without', 'ada')).toMatchObject({ partial: false });
    const before = vaultFacts(daemon.folder);
    const eve = { userName: 'eve', stateName: 'without' };
    const [save, diff, removal] = await Promise.all([
      daemon.call('SaveUserState', { ...eve, stateName: 'own' }, within),
      callExtra(daemon, 'Diff', eve),
      daemon.call('DissociateUser', { user: 'eve', removeHome: true }, within),
    ]);
    expect([save, diff, removal]).toMatchObject([
      { code: 9, details: `the tree ${home} cannot be saved: ${silent}. Nothing was saved` },
      { code: 14, details: `the tree ${home} cannot be looked at: ${silent}` },
      { code: 9, details: `"${home}" cannot be used for a home: ${silent}` },
    ]);
    expect(vaultFacts(daemon.folder)).toEqual(before);
    const bob = { user: 'bob', homepath: join(temporaryFolder(), 'bob') };
    expect((await daemon.call('CreateUserData', bob, within)).code).toBe(0);
    expect((await daemon.call('DissociateUser', { user: 'eve' }, within)).code).toBe(0);
  });
});
