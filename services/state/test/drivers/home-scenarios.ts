import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { temporaryFolder, treeFacts } from '../daemon.ts';
import { fillTree } from '../sample-tree.ts';
import { machineOf, memberOf, namesOf, type StorageFixture, statesOf, withDaemon } from './fixture.ts';

/** Homes, and states of them. */
export function homeScenarios(fixture: StorageFixture): void {
  const withAda = async (context: TestContext) => {
    const host = await withDaemon(context, fixture);
    const path = join(host.storage.homesFolder, 'ada');
    expect(await host.daemon.call('CreateUserData', { user: 'ada', homepath: path })).toMatchObject({
      code: 0,
    });
    writeFileSync(join(path, 'file'), 'of ada');
    return { ...host, path };
  };

  describe('homes', () => {
    it('are made private, belong to their user, and are there after a reboot', async (context) => {
      const { daemon, storage, start } = await withDaemon(context, fixture);
      const path = join(storage.homesFolder, 'nobody');
      expect((await daemon.call('CreateUserData', { user: 'nobody', homepath: path })).code).toBe(0);
      const { mode, uid } = lstatSync(path);
      expect(mode & 0o7777).toBe(0o700);
      if (process.getuid?.() === 0) expect(uid).toBe(65534);
      const { homes, machines } = await daemon.dump();
      expect(homes).toEqual([{ user: 'nobody', path, machines: [machines[0]?.id] }]);
      await daemon.service.close(0);
      await storage.reopen();
      expect((await (await start()).dump()).homes).toEqual(homes);
      expect(lstatSync(path).isDirectory()).toBe(true);
    });

    it.skipIf(process.getuid?.() !== 0)(
      'that a user left do not become those of another account, and nothing changes',
      async (context) => {
        const { daemon, storage } = await withDaemon(context, fixture);
        const homepath = join(storage.homesFolder, 'nobody');
        expect((await daemon.call('CreateUserData', { user: 'nobody', homepath })).code).toBe(0);
        writeFileSync(join(homepath, 'file'), 'of nobody');
        expect((await daemon.call('DissociateUser', { user: 'nobody' })).code).toBe(0);
        const before = [await daemon.dump(), treeFacts(homepath)];
        expect((await daemon.call('CreateUserData', { user: 'daemon', homepath })).code).toBe(9);
        expect([await daemon.dump(), treeFacts(homepath)]).toEqual(before);
      },
    );

    it.for([
      ['a name that no file system takes', `/${'x'.repeat(256)}`, 3],
      ['a path that is as long as one may be', '/x'.repeat(1900), 9],
      ['a place to which links lead in a circle', '/circle/eve', 9],
    ] as const)(
      'are not made, moved or put at %s, and nothing changes',
      async ([_what, below, code], context) => {
        const { daemon, storage, path } = await withAda(context);
        symlinkSync('circle', join(storage.homesFolder, 'circle'));
        const before = [await daemon.dump(), treeFacts(path), readdirSync(storage.homesFolder)];
        const newHome = `${storage.homesFolder}${below}`;
        for (const [operation, request] of [
          ['CreateUserData', { user: 'eve', homepath: newHome }],
          ['CreateUserData', { user: 'ada', homepath: newHome }],
          ['ChangeHomeOnUserData', { home: path, newHome }],
        ] as const)
          expect([operation, await daemon.call(operation, request)]).toMatchObject([operation, { code }]);
        expect([await daemon.dump(), treeFacts(path), readdirSync(storage.homesFolder)]).toEqual(before);
      },
    );

    it('are not put into those of others, around them or into the system by another way, and nothing changes', async (context) => {
      const { daemon, storage, path } = await withAda(context);
      const bobs = join(storage.homesFolder, 'bob');
      expect((await daemon.call('CreateUserData', { user: 'bob', homepath: bobs })).code).toBe(0);
      const ways = join(temporaryFolder(), 'ways');
      mkdirSync(ways);
      symlinkSync(storage.homesFolder, join(ways, 'homes'));
      symlinkSync(storage.systemPath, join(ways, 'system'));
      const before = [await daemon.dump(), treeFacts(storage.homesFolder), treeFacts(storage.systemPath)];
      for (const place of ['homes/ada', 'homes/ada/in', 'system/in']) {
        const homepath = join(ways, place);
        for (const [operation, request] of [
          ['CreateUserData', { user: 'eve', homepath }],
          ['CreateUserData', { user: 'bob', homepath }],
          ['ChangeHomeOnUserData', { home: bobs, newHome: homepath }],
        ] as const)
          expect([place, operation, await daemon.call(operation, request)]).toMatchObject([
            place,
            operation,
            { code: place.startsWith('homes') || fixture.name === 'vault' ? 6 : 9 },
          ]);
      }
      expect([await daemon.dump(), treeFacts(storage.homesFolder), treeFacts(storage.systemPath)]).toEqual(
        before,
      );
      // By another way to his own place he is at home.
      expect((await daemon.call('CreateUserData', { user: 'bob', homepath: bobs })).code).toBe(0);
      expect(readFileSync(join(path, 'file'), 'utf8')).toBe('of ada');
    });

    it('take the place of an empty folder', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      const path = join(storage.homesFolder, 'ada');
      mkdirSync(path);
      expect((await daemon.call('CreateUserData', { user: 'ada', homepath: path })).code).toBe(0);
      writeFileSync(join(path, 'file'), 'of ada');
      await daemon.save('with-ada');
      const { member } = await memberOf(daemon, 'with-ada', 'ada');
      expect(readFileSync(join(await storage.contentOf(member), 'file'), 'utf8')).toBe('of ada');
    });

    it('move with owner, mode and content, and are saved where they are then', async (context) => {
      const { daemon, storage, path } = await withAda(context);
      fillTree(path);
      chmodSync(path, 0o750);
      if (process.getuid?.() === 0) chownSync(path, 12345, 23456);
      const before = treeFacts(path);
      const newHome = join(storage.homesFolder, 'ada-new');
      const answer = await daemon.call('ChangeHomeOnUserData', { home: path, newHome });
      expect(answer).toMatchObject({
        code: 0,
        lines: [`the home of ada was moved from ${path} to ${newHome}`],
      });
      expect(treeFacts(newHome)).toEqual(before);
      expect(existsSync(path)).toBe(false);
      await daemon.save('moved');
      const { member } = await memberOf(daemon, 'moved', 'ada');
      expect(member.path).toBe(newHome);
      expect(treeFacts(await storage.contentOf(member))).toEqual(before);
      // A home that moved is still the one that was saved.
      expect((await daemon.call('CreateUserData', { user: 'ada', homepath: path })).code).toBe(0);
      expect(treeFacts(path)).toEqual(before);
      expect(existsSync(newHome)).toBe(false);
    });

    it.for([
      ['the home of another user', 'CreateUserData', { user: 'eve', homepath: 'HOME' }, 6],
      ['a place in it', 'CreateUserData', { user: 'eve', homepath: 'HOME/sub' }, 6],
      ['the system', 'CreateUserData', { user: 'eve', homepath: 'SYSTEM' }, 6],
      ['a file', 'CreateUserData', { user: 'eve', homepath: 'HOMES/file' }, 9],
      ['a place that is not there', 'CreateUserData', { user: 'eve', homepath: 'HOMES/none/eve' }, 9],
      ['a user that is a path', 'CreateUserData', { user: '../eve', homepath: 'HOMES/eve' }, 3],
      ['a path with ..', 'CreateUserData', { user: 'eve', homepath: 'HOMES/../eve' }, 3],
      ['to move what is no home', 'ChangeHomeOnUserData', { home: 'HOMES/full', newHome: 'HOMES/x' }, 5],
      ['to move to what is not empty', 'ChangeHomeOnUserData', { home: 'HOME', newHome: 'HOMES/full' }, 9],
      ['to move into itself', 'ChangeHomeOnUserData', { home: 'HOME', newHome: 'HOME/sub' }, 9],
      ['to another file system', 'ChangeHomeOnUserData', { home: 'HOME', newHome: '/dev/shm/croft-x' }, 9],
      ['to dissociate a stranger', 'DissociateUser', { user: 'eve', removeHome: true }, 5],
    ] as const)('refuse %s, and nothing changes', async ([, operation, given, code], context) => {
      const { daemon, storage, path } = await withAda(context);
      mkdirSync(join(storage.homesFolder, 'full/of'), { recursive: true });
      writeFileSync(join(storage.homesFolder, 'file'), '');
      const place = (text: string) =>
        text
          .replace(/^HOMES/, storage.homesFolder)
          .replace(/^HOME/, path)
          .replace(/^SYSTEM/, storage.systemPath);
      const request = Object.fromEntries(
        Object.entries(given).map(([key, value]) => [key, typeof value === 'string' ? place(value) : value]),
      );
      const facts = async () => [await daemon.dump(), await storage.facts(), treeFacts(storage.homesFolder)];
      const before = await facts();
      const answer = await daemon.call(operation, request);
      expect(answer).toMatchObject({ code, order: [] });
      expect(answer.details).not.toBe('');
      expect(await facts()).toEqual(before);
      expect(existsSync('/dev/shm/croft-x')).toBe(false);
    });

    it('leave the machine, with their content or without', async (context) => {
      const { daemon, storage, path } = await withAda(context);
      await daemon.save('with-ada');
      expect((await daemon.call('DissociateUser', { user: 'ada' })).code).toBe(0);
      expect(readFileSync(join(path, 'file'), 'utf8')).toBe('of ada');
      await daemon.save('without-ada');
      expect(await namesOf(daemon)).toEqual(['without-ada', 'with-ada', 'ada with-ada']);
      expect((await daemon.call('CreateUserData', { user: 'ada', homepath: path })).code).toBe(0);
      mkdirSync(join(path, 'deep/er'), { recursive: true });
      const answer = await daemon.call('DissociateUser', { user: 'ada', removeHome: true });
      expect(answer).toMatchObject({ code: 0 });
      expect(existsSync(path) ? readdirSync(path) : []).toEqual([]);
      const { member } = await memberOf(daemon, 'with-ada', 'ada');
      expect(readFileSync(join(await storage.contentOf(member), 'file'), 'utf8')).toBe('of ada');
    });

    it('are saved with the system, and alone', async (context) => {
      const { daemon, storage, path } = await withAda(context);
      writeFileSync(join(storage.systemPath, 'file'), 'of the system');
      await daemon.save('all');
      const [system, user] = [await memberOf(daemon, 'all'), await memberOf(daemon, 'all', 'ada')];
      expect(user.state).toMatchObject({ kind: 'user', system: system.state.id });
      expect(treeFacts(await storage.contentOf(user.member))).toEqual(treeFacts(path));
      expect(treeFacts(await storage.contentOf(system.member))).toEqual(treeFacts(storage.systemPath));
      writeFileSync(join(path, 'file'), 'changed');
      const alone = await daemon.call('SaveUserState', { userName: 'ada', stateName: 'alone' });
      expect(alone).toMatchObject({ code: 0, results: [{ stateName: 'alone' }] });
      expect(await namesOf(daemon)).toEqual(['ada alone', 'all', 'ada all']);
      const { member } = await memberOf(daemon, 'alone', 'ada');
      expect(treeFacts(await storage.contentOf(member))).toEqual(treeFacts(path));
    });

    it('are taken out of a save of the system only by force, and the rest stays', async (context) => {
      const { daemon, storage, path } = await withAda(context);
      await daemon.save('all');
      const before = [await statesOf(daemon), await storage.facts()];
      const request = { userName: 'ada', stateName: 'all' };
      const refused = await daemon.call('RemoveUserState', request);
      expect(refused).toMatchObject({ code: 9 });
      expect([await statesOf(daemon), await storage.facts()]).toEqual(before);
      expect((await daemon.call('RemoveUserState', { ...request, force: true })).code).toBe(0);
      expect(await namesOf(daemon)).toEqual(['all']);
      expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 1 state']);
      const { member } = await memberOf(daemon, 'all');
      expect(treeFacts(await storage.contentOf(member))).toEqual(treeFacts(storage.systemPath));
      rmSync(join(path, 'file'));
      expect((await daemon.call('RemoveSystemState', { stateName: 'all' })).code).toBe(0);
      expect(machineOf(await daemon.dump()).states).toEqual([]);
    });
  });
}
