import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';
import { fillTree, restore } from './sample-tree.ts';

async function withUsers(...users: string[]) {
  const daemon = await startDaemon();
  fillTree(daemon.tree);
  const homes: Record<string, string> = {};
  for (const user of users) {
    const homepath = join(temporaryFolder(), user);
    await daemon.call('CreateUserData', { user, homepath });
    writeFileSync(join(homepath, 'whose'), user);
    homes[user] = homepath;
  }
  return { daemon, homes };
}

const namesOf = async (daemon: Daemon) =>
  (await daemon.dump()).machines[0]?.states.map(({ kind, user, name }) => `${kind} ${user ?? '-'} ${name}`);

// Folders of objects stay when they are empty.
const contentOf = ({ folder }: Daemon) => vaultFacts(folder).filter((fact) => !fact.endsWith(' /'));

describe('SaveSystemState', () => {
  it('saves the home of each user as a state of his own', async () => {
    const { daemon, homes } = await withUsers('ada', 'bob');
    await daemon.save('all');
    const states = (await daemon.dump()).machines[0]?.states ?? [];
    expect(states).toMatchObject([
      { name: 'all', kind: 'system', user: null, system: null, members: [{ role: 'system' }] },
      { name: 'all', kind: 'user', user: 'ada', system: states[0]?.id, members: [{ path: homes['ada'] }] },
      { name: 'all', kind: 'user', user: 'bob', system: states[0]?.id, members: [{ path: homes['bob'] }] },
    ]);
    const { target } = await restore(daemon, 'all', 'bob');
    expect(treeFacts(target)).toEqual(treeFacts(homes['bob'] as string));
  });

  it('refuses a name that one of its users has, and nothing changes', async () => {
    const { daemon } = await withUsers('ada');
    await daemon.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    expect((await daemon.call('SaveSystemState', { stateName: 'mine' })).code).toBe(6);
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  });
});

describe('SaveUserState', () => {
  it('saves one home and nothing else', async () => {
    const { daemon, homes } = await withUsers('ada', 'bob');
    const answer = await daemon.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
    expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'mine' }] });
    await daemon.call('SaveUserState', { userName: 'bob', stateName: 'mine' });
    expect(await namesOf(daemon)).toEqual(['user bob mine', 'user ada mine']);
    const { target } = await restore(daemon, 'mine', 'ada');
    expect(treeFacts(target)).toEqual(treeFacts(homes['ada'] as string));
  });

  it('makes a name when none is given', async () => {
    const { daemon } = await withUsers('ada');
    const answer = await daemon.call('SaveUserState', { userName: 'ada' });
    expect(answer.results[0]?.['stateName']).toMatch(/^auto_[a-z0-9]{6}$/);
    expect((await daemon.dump()).machines[0]?.states[0]?.automatic).toBe(true);
  });

  it.each([
    ['no user', '', 'x', 3],
    ['a bad user', 'a b', 'x', 3],
    ['an unknown user', 'eve', 'x', 5],
    ['a user who was dissociated', 'bob', 'x', 5],
    ['a bad name', 'ada', 'a b', 3],
    ['the automatic prefix', 'ada', 'auto_mine', 3],
    ['a name of his', 'ada', 'taken', 6],
    ['a name of the system', 'ada', 'all', 6],
  ])('refuses %s, and nothing changes', async (_what, userName, stateName, code) => {
    const { daemon } = await withUsers('ada', 'bob');
    await daemon.call('DissociateUser', { user: 'bob' });
    await daemon.save('all');
    await daemon.call('SaveUserState', { userName: 'ada', stateName: 'taken' });
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    const answer = await daemon.call('SaveUserState', { userName, stateName });
    expect(answer).toMatchObject({ code, order: [] });
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  });
});

describe('RemoveUserState', () => {
  it('removes a state of the user, and what only it needs', async () => {
    const { daemon } = await withUsers('ada', 'bob');
    await daemon.save('all');
    const before = contentOf(daemon);
    writeFileSync(join((await daemon.dump()).homes[0]?.path as string, 'more'), 'only here');
    await daemon.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
    const dry = await daemon.call('RemoveUserState', { userName: 'ada', stateName: 'mine', dryrun: true });
    expect(await namesOf(daemon)).toContain('user ada mine');
    const answer = await daemon.call('RemoveUserState', { userName: 'ada', stateName: 'mine' });
    expect(answer).toMatchObject({ code: 0, lines: dry.lines });
    expect(await namesOf(daemon)).toEqual(['system - all', 'user ada all', 'user bob all']);
    expect(contentOf(daemon)).toEqual(before);
  });

  it('takes a part out of a system state only with force', async () => {
    const { daemon } = await withUsers('ada', 'bob');
    await daemon.save('all');
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    const request = { userName: 'ada', stateName: 'all' };
    for (const dryrun of [true, false]) {
      const refused = await daemon.call('RemoveUserState', { ...request, dryrun });
      expect(refused).toMatchObject({ code: 9, results: [] });
      expect(refused.lines).toEqual([
        `vault:${daemon.tree}/ada@all belongs to the system state vault:${daemon.tree}@all, which would be without it`,
      ]);
    }
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
    expect((await daemon.call('RemoveUserState', { ...request, force: true })).code).toBe(0);
    expect(await namesOf(daemon)).toEqual(['system - all', 'user bob all']);
    // What is left is whole.
    await daemon.service.close(0);
    const again = await startDaemon({ folder: daemon.folder, tree: daemon.tree });
    expect(await namesOf(again)).toEqual(['system - all', 'user bob all']);
    expect((await restore(again, 'all', 'bob')).target).toBeDefined();
    expect((await again.call('RemoveSystemState', { stateName: 'all' })).code).toBe(0);
    expect(contentOf(again).filter((fact) => !fact.startsWith('homes.json'))).toEqual([]);
  });

  it.each([
    ['a state of the system', 'ada', 'all-but-ada', 5],
    ['a state of another user', 'bob', 'mine', 5],
    ['nothing', 'ada', '', 5],
    ['a bad user', '..', 'mine', 3],
  ])('refuses %s even with force, and nothing changes', async (_what, userName, stateName, code) => {
    const { daemon } = await withUsers('ada', 'bob');
    await daemon.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
    await daemon.call('DissociateUser', { user: 'ada' });
    await daemon.save('all-but-ada');
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    const answer = await daemon.call('RemoveUserState', { userName, stateName, force: true });
    expect(answer).toMatchObject({ code, order: [] });
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  });
});

describe('RemoveSystemState', () => {
  it('takes the states of the users along, and leaves those they saved themselves', async () => {
    const { daemon } = await withUsers('ada', 'bob');
    await daemon.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
    const before = contentOf(daemon);
    await daemon.save('all');
    expect((await daemon.call('RemoveSystemState', { stateName: 'all' })).code).toBe(0);
    expect(await namesOf(daemon)).toEqual(['user ada mine']);
    expect(contentOf(daemon)).toEqual(before);
  });

  it('does not find the state of a user', async () => {
    const { daemon } = await withUsers('ada');
    await daemon.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
    expect((await daemon.call('RemoveSystemState', { stateName: 'mine', force: true })).code).toBe(5);
    expect(await namesOf(daemon)).toEqual(['user ada mine']);
  });
});

it('a machine of which only states of users are left is shown, and collected', async () => {
  const { daemon: first } = await withUsers('ada');
  const id = `vault:${first.tree}`;
  await first.save('old');
  await first.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
  await first.call('SaveUserState', { userName: 'ada', stateName: '' });
  await first.service.close(0);
  const policy = join(temporaryFolder(), 'policy.yaml');
  writeFileSync(policy, 'keep: {days: 0, newest: 0, rules: []}\n');
  const { folder } = first;
  // It runs another system now.
  const daemon = await startDaemon({ folder, settings: { STATESVC_POLICY: policy } });
  const others = async () =>
    (await daemon.dump()).machines.slice(1).map((machine) => [machine.id, machine.states.length]);
  expect(await others()).toEqual([[id, 4]]);
  expect((await daemon.call('RemoveSystemState', { stateName: 'old' })).code).toBe(0);
  expect((await daemon.call('Refresh')).code).toBe(0);
  expect(await others()).toEqual([[id, 2]]);
  expect((await daemon.call('MachineList')).results[0]?.['machineList']).toContain(id);
  const shown = await daemon.call('MachineShow', { machineId: id });
  expect(shown.results[0]?.['machineInfo']).toMatch(/^ada {2}.* 2$/m);
  expect((await daemon.call('GC')).lines.at(-1)).toBe('removed 1 state');
  expect(await others()).toEqual([[id, 1]]);
  expect((await daemon.call('GC', { all: true })).lines.at(-1)).toBe('removed 1 state');
  expect(await others()).toEqual([]);
});
