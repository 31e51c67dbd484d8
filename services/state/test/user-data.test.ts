import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder, treeFacts } from './daemon.ts';
import { fillTree } from './sample-tree.ts';
import { homesOf, withHome } from './user-data-scene.ts';

/** A daemon that asks a directory of users which answers as a script does. */
async function daemonWithDirectory(script: string): Promise<Daemon> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'getent'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return await startDaemon({ settings: { STATESVC_SEARCH_PATH: `${folder}:/usr/bin:/bin` } });
}

describe('CreateUserData', () => {
  it('makes a private folder and links it to the machine', async () => {
    const { daemon, path, machine } = await withHome();
    expect(lstatSync(path).mode & 0o777).toBe(0o700);
    expect(await homesOf(daemon)).toEqual([{ user: 'ada', path, machines: [machine] }]);
  });

  it.skipIf(process.getuid?.() !== 0)('gives the folder to a user of the host', async () => {
    const { path } = await withHome('nobody');
    expect(lstatSync(path).uid).toBe(65534);
  });

  it.skipIf(process.getuid?.() !== 0)('gives the folder to a user whom only a directory knows', async () => {
    const daemon = await daemonWithDirectory('echo dora:x:4711:4712::/home/dora:/bin/sh');
    const homepath = join(temporaryFolder(), 'dora');
    expect((await daemon.call('CreateUserData', { user: 'dora', homepath })).code).toBe(0);
    expect(lstatSync(homepath)).toMatchObject({ uid: 4711, gid: 4712 });
  });

  it.skipIf(process.getuid?.() !== 0)('makes none when the directory does not answer', async () => {
    const daemon = await daemonWithDirectory('exit 3');
    const homepath = join(temporaryFolder(), 'dora');
    const answer = await daemon.call('CreateUserData', { user: 'dora', homepath });
    expect(answer).toMatchObject({ code: 14, details: expect.stringContaining('getent ended with 3') });
    expect([existsSync(homepath), await homesOf(daemon)]).toEqual([false, []]);
  });

  it('adopts a folder that is there as it is', async () => {
    const daemon = await startDaemon();
    const homepath = temporaryFolder();
    fillTree(homepath);
    const before = treeFacts(homepath);
    expect((await daemon.call('CreateUserData', { user: 'ada', homepath })).code).toBe(0);
    expect(treeFacts(homepath)).toEqual(before);
  });

  it('moves the home of a user who has one, and adopts what is at the new path', async () => {
    const { daemon, path, machine } = await withHome();
    writeFileSync(join(path, 'file'), 'content');
    const moved = `${path}-moved`;
    expect((await daemon.call('CreateUserData', { user: 'ada', homepath: moved })).code).toBe(0);
    expect(readFileSync(join(moved, 'file'), 'utf8')).toBe('content');
    expect(existsSync(path)).toBe(false);
    const other = temporaryFolder();
    writeFileSync(join(other, 'copied'), 'by hand');
    expect((await daemon.call('CreateUserData', { user: 'ada', homepath: other })).code).toBe(0);
    expect(readdirSync(moved)).toEqual(['file']);
    expect(await homesOf(daemon)).toEqual([{ user: 'ada', path: other, machines: [machine] }]);
  });

  it('takes the place of one that belongs to no machine any more', async () => {
    const { daemon, path } = await withHome();
    await daemon.call('DissociateUser', { user: 'ada' });
    expect((await daemon.call('CreateUserData', { user: 'bob', homepath: path })).code).toBe(0);
    expect((await homesOf(daemon)).map(({ user, machines }) => [user, machines.length])).toEqual([
      ['ada', 0],
      ['bob', 1],
    ]);
  });

  it.each([
    ['itself', 'HOME'],
    ['in it', 'HOME/bob'],
    ['around it', 'HOME/..'],
  ])('takes nothing along when the home of another user is there by now: %s', async (_what, where) => {
    const daemon = await startDaemon();
    const machine = `vault:${daemon.tree}`;
    const base = temporaryFolder();
    const [old, to] = [join(base, 'old/home'), join(temporaryFolder(), 'new')];
    mkdirSync(join(base, 'old'));
    expect((await daemon.call('CreateUserData', { user: 'ada', homepath: old })).code).toBe(0);
    await daemon.call('DissociateUser', { user: 'ada' });
    const path = join(where.replace('HOME', old));
    expect((await daemon.call('CreateUserData', { user: 'bob', homepath: path })).code).toBe(0);
    writeFileSync(join(path, 'file'), 'of bob');
    const before = treeFacts(base);
    expect(await daemon.call('CreateUserData', { user: 'ada', homepath: to })).toMatchObject({
      code: 0,
      lines: [`${to} is the home of ada now`],
    });
    expect([treeFacts(base), readdirSync(to)]).toEqual([before, []]);
    expect(await homesOf(daemon)).toEqual([
      { user: 'ada', path: to, machines: [machine] },
      { user: 'bob', path, machines: [machine] },
    ]);
  });

  it('refuses to take along what is the home of another user by another path, and nothing changes', async () => {
    const { daemon, path } = await withHome();
    const way = join(temporaryFolder(), 'way');
    symlinkSync(join(path, '..'), way);
    await daemon.call('DissociateUser', { user: 'ada' });
    expect((await daemon.call('CreateUserData', { user: 'bob', homepath: join(way, 'ada') })).code).toBe(0);
    writeFileSync(join(path, 'file'), 'of bob');
    const before = [await daemon.dump(), treeFacts(path)];
    const homepath = `${path}-new`;
    expect(await daemon.call('CreateUserData', { user: 'ada', homepath })).toMatchObject({
      code: 9,
      order: [],
      details: `"${path}" cannot be used for a home: the home of bob is there by now: call CreateUserData with the path of a folder of his that is not empty`,
    });
    expect([await daemon.dump(), treeFacts(path), existsSync(homepath)]).toEqual([...before, false]);
  });

  it('is there after a restart', async () => {
    const { daemon, path, machine } = await withHome();
    await daemon.service.close(0);
    const again = await startDaemon({ folder: daemon.folder, tree: daemon.tree });
    expect(await homesOf(again)).toEqual([{ user: 'ada', path, machines: [machine] }]);
  });

  it.each([
    ['no user', { user: '' }, 3],
    ['a user that is an option', { user: '-r' }, 3],
    ['a user that is a path', { user: '../eve' }, 3],
    ['a relative path', { homepath: 'home/eve' }, 3],
    ['the root', { homepath: '//' }, 3],
    ['..', { homepath: '/home/../etc' }, 3],
    ['the home of another user', { homepath: 'HOME' }, 6],
    ['a folder in it', { homepath: 'HOME/sub' }, 6],
    ['the system itself', { homepath: 'TREE' }, 6],
    ['what the system is in', { homepath: '/tmp' }, 6],
    ['where the states are kept', { homepath: 'VAULT' }, 9],
    ['what that is in', { homepath: 'VAULT/..' }, 3],
    ['a place in it', { homepath: 'VAULT/vault/states' }, 9],
    ['a link into it', { homepath: 'WAY/vault/new' }, 9],
    ['a file', { homepath: 'FILE' }, 9],
    ['a link', { homepath: 'LINK' }, 9],
    ['a place that is not there', { homepath: '/nonexistent/eve' }, 9],
    ['a name that no file system takes', { homepath: `PLACE/${'x'.repeat(256)}` }, 3],
    ['a place that no file system takes', { homepath: `PLACE/${'x'.repeat(256)}/eve` }, 3],
    ['a place to which links lead in a circle', { homepath: 'PLACE/circle/eve' }, 9],
  ])('refuses %s, and nothing changes', async (_what, given: { user?: string; homepath?: string }, code) => {
    const { daemon, path } = await withHome();
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(path, join(folder, 'link'));
    symlinkSync(daemon.folder, join(folder, 'way'));
    symlinkSync('circle', join(folder, 'circle'));
    const homepath = (given.homepath ?? join(folder, 'eve'))
      .replace('HOME', path)
      .replace('TREE', daemon.tree)
      .replace('FILE', join(folder, 'file'))
      .replace('LINK', join(folder, 'link'))
      .replace('WAY', join(folder, 'way'))
      .replace('PLACE', folder)
      .replace('VAULT', daemon.folder);
    const before = [await daemon.dump(), treeFacts(folder), treeFacts(path), treeFacts(daemon.tree)];
    const answer = await daemon.call('CreateUserData', { user: 'eve', ...given, homepath });
    expect(answer).toMatchObject({ code, order: [] });
    expect(answer.details).not.toBe('');
    expect([await daemon.dump(), treeFacts(folder), treeFacts(path), treeFacts(daemon.tree)]).toEqual(before);
  });

  it('refuses on a machine that is not managed', async () => {
    const daemon = await startDaemon({ settings: { STATESVC_VAULT_SYSTEM: 'none' } });
    const homepath = join(temporaryFolder(), 'ada');
    expect((await daemon.call('CreateUserData', { user: 'ada', homepath })).code).toBe(9);
    expect(existsSync(homepath)).toBe(false);
  });
});

/** It has an account on every system. */
const nobody = { name: 'nobody', uid: 65_534 };

describe.skipIf(process.getuid?.() !== 0)(
  'a folder with files that belongs to somebody else than the user',
  () => {
    /** As `/home` is root's, with the homes of others in it. */
    function homesFolder(): string {
      const folder = join(temporaryFolder(), 'home');
      mkdirSync(join(folder, 'bob'), { recursive: true });
      writeFileSync(join(folder, 'bob/precious'), 'of bob');
      return folder;
    }
    const refusal = (folder: string, instead: string) => ({
      code: 9,
      order: [],
      details: `"${folder}" cannot be used for a home: it is not empty and belongs to root, not to nobody. If it is the home, give it to nobody with "chown"; else ${instead}`,
    });

    it('does not become his home, and nothing changes', async () => {
      const daemon = await startDaemon();
      const folder = homesFolder();
      const before = [await daemon.dump(), treeFacts(folder)];
      const answer = await daemon.call('CreateUserData', { user: nobody.name, homepath: folder });
      expect(answer).toMatchObject(refusal(folder, 'choose another path'));
      expect([await daemon.dump(), treeFacts(folder)]).toEqual(before);
      // Nor in place of one that he has.
      const own = join(temporaryFolder(), 'own');
      await daemon.call('CreateUserData', { user: nobody.name, homepath: own });
      expect((await daemon.call('CreateUserData', { user: nobody.name, homepath: folder })).code).toBe(9);
      expect(await homesOf(daemon)).toMatchObject([{ path: own }]);
    });

    it('becomes it when it is given to him, and so does an empty one', async () => {
      const daemon = await startDaemon();
      const folder = homesFolder();
      chownSync(folder, nobody.uid, nobody.uid);
      expect((await daemon.call('CreateUserData', { user: nobody.name, homepath: folder })).code).toBe(0);
      const other = await startDaemon();
      const homepath = temporaryFolder();
      expect((await other.call('CreateUserData', { user: nobody.name, homepath })).code).toBe(0);
    });

    it('is neither moved nor emptied when it was taken for his home, and nothing changes', async () => {
      const daemon = await startDaemon();
      const folder = homesFolder();
      chownSync(folder, nobody.uid, nobody.uid);
      expect((await daemon.call('CreateUserData', { user: nobody.name, homepath: folder })).code).toBe(0);
      chownSync(folder, 0, 0);
      const before = [await daemon.dump(), treeFacts(folder)];
      const elsewhere = join(temporaryFolder(), 'elsewhere');
      const moving = refusal(
        folder,
        'call CreateUserData with the path of a folder of his that is not empty',
      );
      for (const [operation, request, refused] of [
        ['CreateUserData', { user: nobody.name, homepath: elsewhere }, moving],
        ['ChangeHomeOnUserData', { home: folder, newHome: elsewhere }, moving],
        [
          'DissociateUser',
          { user: nobody.name, removeHome: true },
          refusal(folder, 'call DissociateUser without removeHome'),
        ],
      ] as const)
        expect([operation, await daemon.call(operation, request)]).toMatchObject([operation, refused]);
      expect([await daemon.dump(), treeFacts(folder), existsSync(elsewhere)]).toEqual([...before, false]);
      // As they say.
      const own = join(folder, 'nobody');
      mkdirSync(own);
      writeFileSync(join(own, 'file'), '');
      chownSync(own, nobody.uid, nobody.uid);
      expect((await daemon.call('CreateUserData', { user: nobody.name, homepath: own })).code).toBe(0);
      expect((await daemon.call('DissociateUser', { user: nobody.name, removeHome: true })).code).toBe(0);
      expect([readdirSync(own), readdirSync(join(folder, 'bob'))]).toEqual([[], ['precious']]);
    });
  },
);

describe('DissociateUser', () => {
  it('leaves the home and the states of the user', async () => {
    const { daemon, path } = await withHome();
    writeFileSync(join(path, 'file'), 'content');
    await daemon.save('with-ada');
    expect((await daemon.call('DissociateUser', { user: 'ada' })).code).toBe(0);
    expect(readdirSync(path)).toEqual(['file']);
    expect(await homesOf(daemon)).toMatchObject([{ user: 'ada', machines: [] }]);
    await daemon.save('without-ada');
    const states = (await daemon.dump()).machines[0]?.states.map(({ name, user }) => [name, user]);
    expect(states).toEqual([
      ['without-ada', null],
      ['with-ada', null],
      ['with-ada', 'ada'],
    ]);
    // And back.
    expect((await daemon.call('CreateUserData', { user: 'ada', homepath: path })).code).toBe(0);
    expect(readdirSync(path)).toEqual(['file']);
  });

  it('empties the home, and follows no link out of it', async () => {
    const { daemon, path } = await withHome();
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'precious'), 'content');
    fillTree(path);
    symlinkSync(outside, join(path, 'link'));
    mkdirSync(join(path, 'deep/er'), { recursive: true });
    symlinkSync(outside, join(path, 'deep/er/link'));
    await daemon.save('kept');
    const answer = await daemon.call('DissociateUser', { user: 'ada', removeHome: true });
    expect(answer.code).toBe(0);
    expect(readdirSync(path)).toEqual([]);
    expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('content');
    expect((await daemon.dump()).machines[0]?.states).toHaveLength(2);
  });

  it('leaves a home that became a link alone, and says so', async () => {
    const { daemon, path } = await withHome();
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'precious'), 'content');
    rmSync(path, { recursive: true });
    symlinkSync(outside, path);
    const answer = await daemon.call('DissociateUser', { user: 'ada', removeHome: true });
    expect(answer.code).toBe(0);
    expect(answer.lines).toContain(`warning: ${path} is a link or no folder and was left alone`);
    expect(readdirSync(outside)).toEqual(['precious']);
  });

  it('tells what keeps it from emptying a home that links in a circle lead to, and nothing changes', async () => {
    const daemon = await startDaemon();
    const [place, away] = [join(temporaryFolder(), 'place'), join(temporaryFolder(), 'away')];
    mkdirSync(place);
    const request = { user: 'ada', removeHome: true };
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(place, 'ada') });
    writeFileSync(join(place, 'ada/file'), 'content');
    renameSync(place, away);
    symlinkSync('place', place);
    const before = [await daemon.dump(), treeFacts(away)];
    const answer = await daemon.call('DissociateUser', request);
    expect(answer).toMatchObject({ code: 9, details: expect.stringContaining('ELOOP') });
    expect([await daemon.dump(), treeFacts(away)]).toEqual(before);
  });

  it.each(['eve', 'ada/..', ''])('refuses %j, and nothing changes', async (user) => {
    const { daemon, path } = await withHome();
    writeFileSync(join(path, 'file'), 'content');
    const before = await daemon.dump();
    expect((await daemon.call('DissociateUser', { user, removeHome: true })).code).toBe(
      user === 'eve' ? 5 : 3,
    );
    expect(await daemon.dump()).toEqual(before);
    expect(readdirSync(path)).toEqual(['file']);
  });
});
