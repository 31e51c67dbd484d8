import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { operationNames } from '../../src/rpc.ts';
import { extraNames } from '../../src/rpc-extras.ts';
import { type Daemon, temporaryFolder, vaultFacts } from '../daemon.ts';
import { memberOf } from '../drivers/fixture.ts';
import { poolFor } from '../drivers/zfs-daemon.ts';
import { useZfs } from '../drivers/zfs-pool.ts';
import { callAs, needRoot, type OtherUser, startDaemonAs, startPublicDaemon, users } from './other-users.ts';

useZfs();

beforeEach(needRoot);

// What every local user may, and what belongs to the user whose state it is; everything else, also what is added, is for
// administrators until somebody says here that it is not.
const READING = ['Version', 'Status', 'MachineList', 'MachineShow', 'DumpStates', 'Watch'];
const OWN = ['SaveUserState', 'RemoveUserState', 'Describe', 'Pin', 'Unpin'];

const names: readonly string[] = [...operationNames, ...extraNames];
/** It never ends by itself. */
const WATCH_MS = 2000;

/** A request that is well formed and does as little as possible when it is let through. */
const requests: Record<string, object> = {
  ...Object.fromEntries(OWN.map((name) => [name, { userName: users.ada.name, stateName: 'not-there' }])),
  SaveUserState: { userName: users.ada.name },
  SaveSystemState: { stateName: '..' },
  RemoveSystemState: { stateName: 'not-there' },
};

const calls = names.map((name) => ({ name, request: requests[name] ?? {} }));

const may = {
  everything: names,
  'read and save his own': [...READING, ...OWN],
  read: READING,
};

const matrix: [string, OtherUser, keyof typeof may][] = [
  ['root', users.root, 'everything'],
  ['a member of the group of administrators', users.operator, 'everything'],
  ['the user whose home it is', users.ada, 'read and save his own'],
  ['another user', users.other, 'read'],
  ['a uid without a name', { uid: 3_999_999, gid: 3_999_999 }, 'read'],
];

async function withHome(daemon: Daemon): Promise<Daemon> {
  const homepath = join(temporaryFolder(), 'home');
  mkdirSync(homepath);
  expect((await daemon.call('CreateUserData', { user: users.ada.name, homepath })).code).toBe(0);
  return daemon;
}

const facts = async (daemon: Daemon) => ({ dump: await daemon.dump(), vault: vaultFacts(daemon.folder) });

describe('at the socket for everybody', () => {
  it.each(matrix)('%s may do what he may, of every operation', async (_who, user, allowed) => {
    const daemon = await withHome(await startPublicDaemon());
    const refused = calls.filter(({ name }) => !may[allowed].includes(name));
    const before = await facts(daemon);
    for (const { name, code, details, messages } of await callAs(user, daemon.service.address, refused)) {
      expect([name, code, messages]).toEqual([name, 7, 0]);
      expect(details).toMatch(
        new RegExp(`^${name} is for .*administrators: root, .*, members of the group daemon, and`),
      );
    }
    expect(await facts(daemon)).toEqual(before);
    const open = calls.filter(({ name }) => may[allowed].includes(name));
    for (const { name, code } of await callAs(user, daemon.service.address, open, { deadlineMs: WATCH_MS }))
      expect([name, code === 7 || code === 16]).toEqual([name, false]);
  });

  it('a user saves and removes his own states and nobody else does', async () => {
    const daemon = await withHome(await startPublicDaemon());
    const { address } = daemon.service;
    const userName = users.ada.name;
    const save = { name: 'SaveUserState', request: { userName, stateName: 'mine' } };
    const remove = { name: 'RemoveUserState', request: { userName, stateName: 'mine' } };
    const names = async () => (await daemon.dump()).machines[0]?.states.map(({ name }) => name);
    expect(await callAs(users.other, address, [save])).toMatchObject([{ code: 7 }]);
    expect(await names()).toEqual([]);
    expect(await callAs(users.ada, address, [save])).toMatchObject([{ code: 0 }]);
    expect(await callAs(users.other, address, [remove])).toMatchObject([{ code: 7 }]);
    expect(await names()).toEqual(['mine']);
    expect(await callAs(users.ada, address, [remove])).toMatchObject([{ code: 0 }]);
    expect(await names()).toEqual([]);
  });

  it.each([
    '',
    'no-such-user',
    '0',
    String(users.other.uid),
    'root',
    'x'.repeat(10_000),
    '-x',
    'a:b',
    'a\nb',
  ])('attack: another user names himself %j', async (userName) => {
    const daemon = await startPublicDaemon();
    const call = { name: 'SaveUserState', request: { userName } };
    expect(await callAs(users.other, daemon.service.address, [call])).toMatchObject([
      { code: 7, details: expect.stringMatching(/^SaveUserState is for the user whose home it is/) },
    ]);
    expect([3, 5]).toContain((await callAs(users.root, daemon.service.address, [call]))[0]?.code);
  });

  it('attack: what somebody else calls his own is not', async () => {
    const daemon = await withHome(await startPublicDaemon());
    const userName = users.ada.name;
    await daemon.call('SaveUserState', { userName, stateName: 'hers' });
    await daemon.save('whole');
    const before = await facts(daemon);
    const tries = ['Describe', 'Pin', 'Unpin', 'RemoveUserState'].flatMap((name) =>
      ['', userName, users.other.name].flatMap((given) =>
        ['hers', 'whole'].map((stateName) => ({
          name,
          request: { userName: given, stateName, force: true },
        })),
      ),
    );
    const answers = await callAs(users.other, daemon.service.address, tries);
    for (const [at, { name, request }] of tries.entries()) {
      // His own name is his, and he has no such states; nothing else is.
      const code = request.userName === users.other.name ? 5 : 7;
      expect([name, request, answers[at]]).toEqual([
        name,
        request,
        expect.objectContaining({ code, messages: 0 }),
      ]);
    }
    expect(await facts(daemon)).toEqual(before);
  });

  it('attack: a user has what was made from his state removed with it', async (context) => {
    const storage = await poolFor(context);
    const daemon = await startPublicDaemon({ folder: storage.folder, settings: storage.settings });
    const userName = users.ada.name;
    await daemon.call('CreateUserData', { user: userName, homepath: join(storage.homesFolder, userName) });
    const { address } = daemon.service;
    const request = { userName, stateName: 'mine' };
    expect(await callAs(users.ada, address, [{ name: 'SaveUserState', request }])).toMatchObject([
      { code: 0 },
    ]);
    const { member } = await memberOf(daemon, 'mine', userName);
    storage.zfs('clone', '-o', 'mountpoint=none', member.snapshot, `${storage.pool}/clone`);
    storage.zfs('create', `${storage.pool}/clone/of-root`);
    const before = [await daemon.dump(), await storage.facts()];
    const remove = [true, false].map((dryrun) => ({
      name: 'RemoveUserState',
      request: { ...request, force: true, dryrun },
    }));
    for (const { code, details } of await callAs(users.ada, address, remove))
      expect([code, details]).toEqual([7, expect.stringMatching(/clone\/of-root was made from it/)]);
    expect([await daemon.dump(), await storage.facts()]).toEqual(before);
    // What is his goes, and of the rest who may decides.
    expect(await callAs(users.operator, address, remove)).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(storage.zfs('list', '-H', '-r', '-o', 'name', storage.pool)).not.toContain('clone');
  });

  it('attack: a user has the daemon read what he cannot read in his own home', async () => {
    const daemon = await withHome(await startPublicDaemon());
    const { address } = daemon.service;
    const userName = users.ada.name;
    const home = (await daemon.dump()).homes[0]?.path as string;
    mkdirSync(join(home, 'closed'), { mode: 0o700 });
    writeFileSync(join(home, 'closed/secret'), 'the text', { mode: 0o600 });
    const request = { userName, stateName: 'mine' };
    expect(await callAs(users.ada, address, [{ name: 'SaveUserState', request }])).toMatchObject([
      { code: 0 },
    ]);
    rmSync(join(home, 'closed/secret'));
    const reading = ['Export', 'Diff'].map((name) => ({ name, request }));
    const refused = { code: 7, messages: 0, details: expect.stringContaining('is for administrators') };
    expect(await callAs(users.ada, address, reading)).toMatchObject([refused, refused]);
    expect(await callAs(users.root, address, reading)).toMatchObject([{ code: 0 }, { code: 0 }]);
  });

  it('tells what went wrong lately to administrators alone', async () => {
    const daemon = await startPublicDaemon({ settings: { STATESVC_MIN_FREE: '90' } });
    expect((await daemon.call('SaveSystemState')).code).toBe(8);
    expect((await daemon.call('Status')).lines.at(-1)).toMatch(
      /^error: .*SaveSystemState: not enough free space/,
    );
    const status = [{ name: 'Status', request: {} }];
    const linesOf = async (user: OtherUser) =>
      (await callAs(user, daemon.service.address, status))[0]?.lines.at(-1);
    expect(await linesOf(users.other)).toBe('errors: 1, which administrators are told');
    expect(await linesOf(users.operator)).toMatch(/^error: /);
    const json = [{ name: 'Status', request: {}, metadata: { format: 'json' } }];
    const errorsFor = async (user: OtherUser) => {
      const [answer] = await callAs(user, daemon.service.address, json);
      const { errorCount, errors } = JSON.parse(answer?.lines.join('\n') ?? '') as Record<string, unknown>;
      return [errorCount, errors];
    };
    expect(await errorsFor(users.other)).toEqual([1, null]);
    expect(await errorsFor(users.operator)).toEqual([
      1,
      [
        {
          at: expect.any(String),
          operation: 'SaveSystemState',
          message: expect.stringContaining('not enough free space'),
        },
      ],
    ]);
  });

  it('attack: a call claims to be somebody else, in whatever metadata', async () => {
    const daemon = await startPublicDaemon({ lookupPrograms: [] });
    const metadata = { authorization: 'Bearer root', 'x-forwarded-for': 'connection-1', uid: '0' };
    expect(await daemon.call('GC', {}, { metadata })).toMatchObject({ code: 16, order: [] });
  });
});

it('the user that the daemon runs as administrates, and root', async () => {
  const address = await startDaemonAs(users.other);
  const save = [{ name: 'SaveSystemState', request: {} }];
  expect(await callAs(users.other, address, save)).toMatchObject([{ code: 0 }]);
  expect(await callAs(users.root, address, save)).toMatchObject([{ code: 0 }]);
  expect(await callAs(users.ada, address, save)).toMatchObject([{ code: 7 }]);
});

describe('without a group of administrators', () => {
  it('nobody is one for being in some group', async () => {
    const daemon = await startPublicDaemon({ settings: { STATESVC_ADMIN_GROUP: '' } });
    const [answer] = await callAs(users.operator, daemon.service.address, [{ name: 'GC', request: {} }]);
    expect(answer?.code).toBe(7);
    expect(answer?.details).not.toContain('group');
  });
});
