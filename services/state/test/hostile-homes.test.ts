import { execFileSync } from 'node:child_process';
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { emptyFolder } from '../src/outside/storage/vault/trees/empty-folder.ts';
import { callAt, type Dump, startDaemon, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';
import { stateOf, withHome } from './hostile-scene.ts';
import { restore } from './sample-tree.ts';
import { startProcess } from './spawned-daemon.ts';

// The daemon is root and homes are others', who may put there what they like.

/** A folder in a folder, so many times. @returns a descriptor of the innermost */
function makeDeep(root: string, levels: number): void {
  let fd = openSync(root, 'r');
  for (let level = 0; level < levels; level++) {
    const inside = `/proc/self/fd/${fd}`;
    mkdirSync(`${inside}/d`);
    mkdirSync(`${inside}/e`);
    writeFileSync(`${inside}/f`, `${level}`);
    const next = openSync(`${inside}/d`, 'r');
    closeSync(fd);
    fd = next;
  }
  closeSync(fd);
}

describe('a file that is one hole of terabytes', () => {
  it('does not hold a save: it is left out, the state says so, and the rest is there', async () => {
    const { daemon, home } = await withHome();
    for (const name of ['hole', 'another']) {
      writeFileSync(join(home, name), '');
      truncateSync(join(home, name), 8 * 1024 ** 4);
    }
    const started = performance.now();
    const answer = await daemon.call('SaveSystemState', { stateName: 'hollow' });
    expect(performance.now() - started).toBeLessThan(5000);
    expect(answer).toMatchObject({ code: 0 });
    expect(answer.lines).toContain(`warning: ${home}/hole is hardly anything but a hole and was left out`);
    expect(await stateOf(daemon, 'hollow', 'eve')).toMatchObject({
      partial: true,
      members: [{ unreadable: 2 }],
    });
    expect(await stateOf(daemon, 'hollow', null)).toMatchObject({ partial: false });
    const { target, problems } = await restore(daemon, 'hollow', 'eve');
    expect(readdirSync(target)).toEqual(['file']);
    expect(problems).toContain('hole is missing: it was unreadable (EFBIG)');
  });

  it('is saved when it is small, and so are many that together are', async () => {
    const { daemon, home } = await withHome();
    for (const name of ['hole', 'another']) {
      writeFileSync(join(home, name), 'begins');
      truncateSync(join(home, name), 64 * 1024 ** 2);
    }
    await daemon.save('sparse');
    expect(await stateOf(daemon, 'sparse', 'eve')).toMatchObject({ partial: false });
    expect(treeFacts((await restore(daemon, 'sparse', 'eve')).target)).toEqual(treeFacts(home));
  });

  it('cannot grow while it is read for ever', async () => {
    const { daemon, home } = await withHome();
    const file = join(home, 'growing');
    let size = 1024 ** 2;
    writeFileSync(file, Buffer.alloc(size, 'x'));
    const growing = setInterval(() => truncateSync(file, (size += 1024 ** 3)), 1);
    const answer = await daemon.call('SaveSystemState', { stateName: 'growing' }, { deadlineMs: 110_000 });
    clearInterval(growing);
    expect(answer.code).toBe(0);
    expect(await stateOf(daemon, 'growing', 'eve')).toMatchObject({ partial: true });
  });
});

describe('a home whose list of files does not fit into the memory', () => {
  /** So many empty files, each with a path of nearly four thousand characters. */
  function fill(home: string, files: number): void {
    const folder = join(home, ...Array.from({ length: 13 }, (_, level) => `${level}`.padEnd(250, 'd')));
    mkdirSync(folder, { recursive: true });
    for (let file = 0; file < files; file++)
      closeSync(openSync(join(folder, `${file}`.padEnd(250, 'f')), 'w'));
  }

  it('does not end the daemon: the rest is saved without it, and its own save is refused', {
    timeout: 150_000,
  }, async () => {
    const folder = join(temporaryFolder(), 'state');
    const [tree, homes] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(tree, 'hosts'), 'system');
    vi.stubEnv('NODE_OPTIONS', '--max-old-space-size=192 --max-semi-space-size=8');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { address } = await startProcess(folder, tree);
    for (const user of ['ada', 'eve'])
      await callAt(address, 'CreateUserData', { user, homepath: join(homes, user) });
    writeFileSync(join(homes, 'ada/file'), 'of ada');
    fill(join(homes, 'eve'), 45_000);
    const states = async () => {
      const { results } = await callAt(address, 'DumpStates');
      const { machines } = JSON.parse(results.map((one) => one.states).join('')) as Dump;
      return machines[0]?.states.map(({ name, user, partial }) => [name, user, partial]);
    };

    const own = await callAt(address, 'SaveUserState', { userName: 'eve', stateName: 'mine' });
    expect(own).toMatchObject({ code: 8, details: expect.stringContaining('too many files') });
    expect(await states()).toEqual([]);
    expect(vaultFacts(folder).filter((fact) => /^(objects\/..\/|states\/)/.test(fact))).toEqual([]);

    const all = await callAt(address, 'SaveSystemState', { stateName: 'all' }, { deadlineMs: 60_000 });
    expect(all).toMatchObject({ code: 0 });
    expect(all.lines.join('\n')).toContain(`${homes}/eve, the home of eve, was not saved: it has too many`);
    expect(await states()).toEqual([
      ['all', null, false],
      ['all', 'ada', false],
      ['all', 'eve', true],
    ]);
  });
});

describe('a tree of thousands of levels', () => {
  it('is saved as deep as paths go; what lies deeper is left out and told', {
    timeout: 180_000,
  }, async () => {
    const { daemon, home } = await withHome();
    makeDeep(home, 4000);
    const before = readdirSync('/proc/self/fd').length;
    const answer = await daemon.call('SaveSystemState', { stateName: 'deep' });
    expect(answer).toMatchObject({ code: 0 });
    expect(answer.lines.join('\n')).toContain(' lies too deep and was left out');
    expect(await stateOf(daemon, 'deep', 'eve')).toMatchObject({
      partial: true,
      members: [{ unreadable: 2 }],
    });
    expect(await stateOf(daemon, 'deep', null)).toMatchObject({ partial: false });
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 20);
    const { target, problems } = await restore(daemon, 'deep', 'eve');
    onTestFinished(() => void execFileSync('rm', ['-rf', '--', target]));
    expect(readFileSync(join(target, 'd/'.repeat(1000), 'f'), 'utf8')).toBe('1000');
    expect(problems).toHaveLength(2);
  });

  it('is emptied as a whole', { timeout: 180_000 }, async () => {
    const { daemon, home } = await withHome();
    makeDeep(home, 4000);
    const answer = await daemon.call('DissociateUser', { user: 'eve', removeHome: true });
    expect(answer).toMatchObject({ code: 0 });
    expect(answer.lines).toHaveLength(1);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe('going back', () => {
  it.skipIf(process.getuid?.() !== 0)(
    'gives owner and mode to a file of its own, never to what was linked into its place',
    async () => {
      const folder = join(temporaryFolder(), 'state');
      const tree = temporaryFolder();
      const first = await startDaemon({ folder, tree });
      const home = join(temporaryFolder(), 'nobody');
      await first.call('CreateUserData', { user: 'nobody', homepath: home });
      // A copy of a program of the system that is his, and later the program itself under that name.
      const program = join(temporaryFolder(), 'su');
      writeFileSync(program, 'program', { mode: 0o4755 });
      writeFileSync(join(home, 'su'), 'program', { mode: 0o644 });
      execFileSync('chown', ['65534:65534', join(home, 'su')]);
      await first.save('good');
      const id = (await stateOf(first, 'good', null)).id;
      await first.service.close(0);
      rmSync(join(home, 'su'));
      linkSync(program, join(home, 'su'));
      const before = lstatSync(program);
      const cmdline = join(temporaryFolder(), 'cmdline');
      writeFileSync(cmdline, `statesvc.state=${id} statesvc.revert=userdata\n`);
      const again = await startDaemon({ folder, tree, settings: { STATESVC_CMDLINE_FILE: cmdline } });
      expect((await again.call('PrepareBoot')).code).toBe(0);
      const [after, his] = [lstatSync(program), lstatSync(join(home, 'su'))];
      expect([after.uid, after.mode]).toEqual([before.uid, before.mode]);
      expect([his.uid, his.mode & 0o7777]).toEqual([65534, 0o644]);
      expect(his.ino).not.toBe(after.ino);
    },
  );
});

it('fifos, sockets and devices in a home hold nobody', async () => {
  const { daemon, home } = await withHome();
  execFileSync('mkfifo', [join(home, 'fifo')]);
  if (process.getuid?.() === 0) execFileSync('mknod', [join(home, 'device'), 'c', '1', '8']);
  symlinkSync('/dev/zero', join(home, 'endless'));
  const answer = await daemon.call('SaveSystemState', { stateName: 'special' }, { deadlineMs: 10_000 });
  expect(answer.code).toBe(0);
  expect(await stateOf(daemon, 'special', 'eve')).toMatchObject({ partial: false });
  expect((await daemon.call('DissociateUser', { user: 'eve', removeHome: true })).code).toBe(0);
  expect(readdirSync(home)).toEqual([]);
});

describe('a home that is gone', () => {
  it('is told, its state is partial, and the machine and other homes are saved', async () => {
    const { daemon, home } = await withHome();
    const other = join(temporaryFolder(), 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath: other });
    writeFileSync(join(other, 'file'), 'content');
    rmSync(home, { recursive: true });
    const answer = await daemon.call('SaveSystemState', { stateName: 'without' });
    expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'without' }] });
    expect(answer.lines.join('\n')).toContain(`warning: ${home}, the home of eve, was not saved: ENOENT`);
    expect(await stateOf(daemon, 'without', 'eve')).toMatchObject({ partial: true });
    expect(await stateOf(daemon, 'without', 'ada')).toMatchObject({ partial: false });
    expect(await stateOf(daemon, 'without', null)).toMatchObject({ partial: false });
    expect(treeFacts((await restore(daemon, 'without', 'ada')).target)).toEqual(treeFacts(other));
    expect((await restore(daemon, 'without', 'eve')).problems).toHaveLength(1);
  });

  it.each([
    ['is not there', (home: string) => rmSync(home, { recursive: true })],
    [
      'became a link',
      (home: string) => {
        rmSync(home, { recursive: true });
        symlinkSync('/etc', home);
      },
    ],
  ])(
    'that %s ends a save of the user alone with FAILED_PRECONDITION, and nothing changes',
    async (_what, lose) => {
      const { daemon, home } = await withHome();
      lose(home);
      const before = await daemon.dump();
      const answer = await daemon.call('SaveUserState', { userName: 'eve', stateName: 'mine' });
      expect(answer).toMatchObject({ code: 9, results: [] });
      expect(answer.details).toContain(`the tree ${home} cannot be saved`);
      expect(await daemon.dump()).toEqual(before);
    },
  );

  it('is made again by going back to a state that has it', async () => {
    const folder = join(temporaryFolder(), 'state');
    const tree = temporaryFolder();
    const first = await startDaemon({ folder, tree });
    const home = join(temporaryFolder(), 'eve');
    await first.call('CreateUserData', { user: 'eve', homepath: home });
    mkdirSync(join(home, 'a/b'), { recursive: true });
    writeFileSync(join(home, 'a/b/file'), 'content');
    const was = treeFacts(home);
    await first.save('good');
    const id = (await stateOf(first, 'good', null)).id;
    await first.service.close(0);
    rmSync(home, { recursive: true });
    const cmdline = join(temporaryFolder(), 'cmdline');
    writeFileSync(cmdline, `statesvc.state=${id} statesvc.revert=userdata\n`);
    const again = await startDaemon({ folder, tree, settings: { STATESVC_CMDLINE_FILE: cmdline } });
    expect(await again.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect(treeFacts(home)).toEqual(was);
    // And back to when it was gone, of which nothing is known.
    const gone = (await again.dump()).machines[0]?.states.find(
      ({ automatic, user }) => automatic && user === null,
    );
    await again.service.close(0);
    writeFileSync(cmdline, `statesvc.state=${gone?.id} statesvc.revert=userdata\n`);
    const third = await startDaemon({ folder, tree, settings: { STATESVC_CMDLINE_FILE: cmdline } });
    expect((await third.call('PrepareBoot')).code).toBe(0);
    expect(treeFacts(home)).toEqual(was);
  });
});

it('a home that is swapped for a link while it is emptied loses nothing elsewhere', async () => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'precious'), 'of others');
  const home = temporaryFolder();
  for (let folder = 0; folder < 50; folder++) {
    mkdirSync(join(home, `d${folder}/sub`), { recursive: true });
    symlinkSync(outside, join(home, `d${folder}/link`));
  }
  expect(await emptyFolder(home)).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
  expect(readdirSync(outside)).toEqual(['precious']);
});
