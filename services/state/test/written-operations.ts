import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { SteppingHost } from './stepping-hosts.ts';
import { filled, GOOD, home, type Subject } from './subjects.ts';

const PINNED = {
  vault: /^rename state\/vault\/states\/ID.json.new/,
  btrfs: /^rename top\/@states\/records/,
  zfs: /^spawn zfs → set → croft:note/,
};

/** A state that is gone back to at the next boot; where a boot loader is asked for it, it is in its menu already. */
async function bootable(host: SteppingHost): Promise<void> {
  await host.must('SaveSystemState', { stateName: 'one' });
  if (host.storage.driver === 'zfs') await host.must('UpdateBootMenu');
}

/** Of a user who belongs to no machine: he is linked and his home is moved, or neither. */
const MOVE_AND_LINK: Subject = {
  name: 'move-and-link',
  operation: 'CreateUserData',
  prepare: async (host, round) => {
    await filled(host, `u${round}`);
    await host.must('DissociateUser', { user: `u${round}` });
  },
  ask: (host, round) => host.call('CreateUserData', { user: `u${round}`, homepath: home(host, `v${round}`) }),
  happened: ({ homes }, round) =>
    homes.some((one) => one.startsWith(`u${round} `) && one.endsWith(' 1 true')),
  has: {
    vault: /^rename homes\/uN → homes\/vN/,
    btrfs: /^rename top\/@home\/uN → top\/@home\/vN/,
  },
};

/** What writes states, homes and marks. */
export const WRITES: readonly Subject[] = [
  {
    name: 'save-system',
    operation: 'SaveSystemState',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      host.fill(host.tree, { ...GOOD, round: `of ${round}` });
    },
    ask: (host, round) => host.call('SaveSystemState', { stateName: `s${round}`, updateBootMenu: true }),
    happened: ({ states }, round) => states.includes(`system s${round} 1`),
    has: {
      vault: /^rename state\/vault\/states\/ID.json.new/,
      btrfs: /^call snapshot →/,
      zfs: /^spawn zfs → snapshot/,
    },
  },
  {
    name: 'save-user',
    operation: 'SaveUserState',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      host.fill(home(host, 'ada'), { ...GOOD, round: `of ${round}` });
    },
    ask: (host, round) => host.call('SaveUserState', { userName: 'ada', stateName: `s${round}` }),
    happened: ({ states }, round) => states.includes(`ada s${round} 1`),
    has: {
      vault: /^rename state\/vault\/states\/ID.json.new/,
      btrfs: /^call snapshot →/,
      zfs: /^spawn zfs → snapshot/,
    },
  },
  {
    name: 'remove-system',
    operation: 'RemoveSystemState',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      host.fill(host.tree, { ...GOOD, round: `of ${round}` });
      await host.must('SaveSystemState', { stateName: `s${round}`, updateBootMenu: true });
    },
    ask: (host, round) => host.call('RemoveSystemState', { stateName: `s${round}` }),
    happened: ({ states }, round) => !states.includes(`system s${round} 1`),
    has: {
      vault: /^rm state\/vault\/states/,
      btrfs: /^call destroy →/,
      zfs: /^spawn zfs → destroy/,
    },
  },
  {
    name: 'remove-user',
    operation: 'RemoveUserState',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      host.fill(home(host, 'ada'), { ...GOOD, round: `of ${round}` });
      await host.must('SaveSystemState', { stateName: `s${round}` });
    },
    // Out of a state of the system, whose record stays.
    ask: (host, round) =>
      host.call('RemoveUserState', { userName: 'ada', stateName: `s${round}`, force: true }),
    happened: ({ states }, round) => !states.includes(`ada s${round} 1`),
    has: {
      vault: /^rename state\/vault\/states\/ID.json.new/,
      btrfs: /^call destroy →/,
      zfs: /^spawn zfs → destroy/,
    },
  },
  {
    name: 'collect',
    operation: 'GC',
    prepare: async (host, round) => {
      await host.must('GC', { all: true });
      for (const one of ['one', 'two']) {
        host.fill(host.tree, { ...GOOD, round: `${one} of ${round}` });
        await host.must('SaveSystemState', { autosave: true, updateBootMenu: true });
      }
    },
    ask: (host) => host.call('GC'),
    happened: ({ states }) => states.length === 0,
    goesOn: true,
    has: {
      vault: /^unlink state\/vault\/objects/,
      btrfs: /^call destroy →/,
      zfs: /^spawn zfs → destroy/,
    },
  },
  {
    name: 'create-home',
    operation: 'CreateUserData',
    prepare: async () => {},
    ask: (host, round) =>
      host.call('CreateUserData', { user: `u${round}`, homepath: home(host, `u${round}`) }),
    happened: ({ homes }, round) => homes.some((one) => one.startsWith(`u${round} `)),
    has: {
      vault: /^rename state\/vault\/homes/,
      btrfs: /^rename top\/@states\/work\/ID → top\/@home/,
      zfs: /^spawn zfs → create/,
    },
  },
  {
    name: 'link-home',
    operation: 'CreateUserData',
    prepare: async (host, round) => {
      await filled(host, `u${round}`);
      await host.must('DissociateUser', { user: `u${round}` });
    },
    ask: (host, round) =>
      host.call('CreateUserData', { user: `u${round}`, homepath: home(host, `u${round}`) }),
    happened: ({ homes }, round) =>
      homes.some((one) => one.startsWith(`u${round} `) && one.endsWith(' 1 true')),
    has: {
      vault: /^rename state\/vault\/homes/,
      btrfs: /^rename top\/@states\/homes/,
      zfs: /^spawn zfs → set → croft:links/,
    },
  },
  MOVE_AND_LINK,
  // There one comes after the other, and whoever asks again has him linked.
  { ...MOVE_AND_LINK, name: 'move-then-link', goesOn: true, has: { zfs: /^spawn zfs → set → mountpoint/ } },
  {
    name: 'change-home',
    operation: 'ChangeHomeOnUserData',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada0');
      const { homes } = await host.dump();
      // Where the round before left it.
      if (homes[0]?.path !== home(host, `ada${round - 1}`))
        await host.must('ChangeHomeOnUserData', {
          home: homes[0]?.path,
          newHome: home(host, `ada${round - 1}`),
        });
    },
    ask: (host, round) =>
      host.call('ChangeHomeOnUserData', {
        home: home(host, `ada${round - 1}`),
        newHome: home(host, `ada${round}`),
      }),
    happened: ({ files }, round) => files[`ada${round}/file`] !== undefined,
    has: {
      vault: /^rename homes\/adaN → homes\/adaN/,
      btrfs: /^rename top\/@home\/adaN → top\/@home\/adaN/,
      zfs: /^spawn zfs → set → mountpoint/,
    },
  },
  {
    name: 'dissociate',
    operation: 'DissociateUser',
    prepare: (host, round) => filled(host, `u${round}`),
    ask: (host, round) => host.call('DissociateUser', { user: `u${round}` }),
    happened: ({ homes }, round) =>
      homes.some((one) => one.startsWith(`u${round} `) && one.endsWith(' 0 true')),
    has: {
      vault: /^rename state\/vault\/homes/,
      btrfs: /^rename top\/@states\/homes/,
      zfs: /^spawn zfs → set → croft:links/,
    },
  },
  {
    name: 'remove-home',
    operation: 'DissociateUser',
    prepare: (host, round) => filled(host, `u${round}`, GOOD),
    ask: (host, round) => host.call('DissociateUser', { user: `u${round}`, removeHome: true }),
    happened: ({ homes, files }, round) =>
      homes.some((one) => one.startsWith(`u${round} `) && one.endsWith(' 0 true')) &&
      !Object.keys(files).some((file) => file.startsWith(`u${round}/`)),
    goesOn: true,
    tells: /could not be removed/,
    has: { vault: /^unlink its files/, btrfs: /^unlink top\/@its files/, zfs: /^unlink its files/ },
  },
  {
    name: 'update-menu',
    operation: 'UpdateBootMenu',
    runs: true,
    prepare: async (host, round) => {
      await host.must('SaveSystemState', { stateName: `s${round}` });
    },
    ask: (host) => host.call('UpdateBootMenu'),
    happened: ({ menu }, round) => menu.includes(`, s${round}'`) || menu.includes(`, s${round} `),
    has: {
      vault: /^rename boot\/grub\/croft.cfg.new/,
      btrfs: /^spawn btrfs → subvolume → snapshot → .*boot/,
      zfs: /^rename boot\/grub\/croft.cfg.new/,
    },
  },
  {
    name: 'last-used',
    operation: 'UpdateLastUsed',
    // ZFS writes down whole seconds.
    prepare: (host) => sleep(host.storage.driver === 'zfs' ? 1000 : 0),
    ask: (host) => host.call('UpdateLastUsed'),
    happened: ({ lastUsedAt }, _round, before) => lastUsedAt !== before.lastUsedAt,
    has: {
      vault: /^rename state\/vault\/machines/,
      btrfs: /^rename top\/@states\/machines/,
      zfs: /^spawn zfs → set → croft:last-used/,
    },
  },
  {
    name: 'describe',
    operation: 'Describe',
    prepare: async (host, round) => {
      if (round === 1) await host.must('SaveSystemState', { stateName: 'one' });
    },
    ask: (host, round) => host.extra('Describe', { stateName: 'one', description: `of ${round}` }),
    happened: ({ said }, round) => said.includes(`one: of ${round}`),
    has: PINNED,
  },
  {
    name: 'pin',
    operation: 'Pin',
    prepare: async (host, round) => {
      if (round === 1) {
        await host.must('SaveSystemState', { stateName: 'one' });
        await host.must('UpdateBootMenu');
      }
      await host.extra('Unpin', { stateName: 'one' });
    },
    ask: (host) => host.extra('Pin', { stateName: 'one' }),
    happened: ({ said }) => said.includes('one: , pinned'),
    has: PINNED,
  },
  {
    name: 'unpin',
    operation: 'Unpin',
    prepare: async (host, round) => {
      if (round === 1) await host.must('SaveSystemState', { stateName: 'one' });
      await host.extra('Pin', { stateName: 'one' });
    },
    ask: (host) => host.extra('Unpin', { stateName: 'one' }),
    happened: ({ said }) => !said.includes('one: , pinned'),
    has: PINNED,
  },
  {
    name: 'request-revert',
    operation: 'RequestRevert',
    prepare: async (host, round) => {
      if (round === 1) await bootable(host);
      await host.extra('CancelRevert');
    },
    ask: (host) => host.extra('RequestRevert', { stateName: 'one', users: true }),
    happened: ({ next }) => next === 'one',
    has: {
      vault: /^rename state\/vault\/machines/,
      btrfs: /^rename top\/@states\/machines/,
      zfs: /^spawn grub-editenv → boot\/grub\/grubenv → set/,
    },
  },
  {
    name: 'cancel-revert',
    operation: 'CancelRevert',
    prepare: async (host, round) => {
      if (round === 1) await bootable(host);
      await host.extra('RequestRevert', { stateName: 'one' });
    },
    ask: (host) => host.extra('CancelRevert'),
    happened: ({ next }) => next === '',
    // What the boot loader is no longer asked for is no longer wanted.
    settles: true,
    has: {
      vault: /^rename state\/vault\/machines/,
      btrfs: /^rename top\/@states\/machines/,
      zfs: /^spawn grub-editenv → boot\/grub\/grubenv → unset/,
    },
  },
  {
    name: 'import',
    operation: 'Import',
    prepare: async (host, round) => {
      const file = join(host.folder, '../exported.tar');
      if (round === 1) {
        await filled(host, 'ada');
        host.fill(host.tree, GOOD);
        await host.must('SaveSystemState', { stateName: 'one' });
        writeFileSync(file, await host.exported('one'));
      }
      // So that all of its content has to come back.
      for (const stateName of ['one', `i${round - 1}`]) await host.call('RemoveSystemState', { stateName });
    },
    ask: (host, round) => host.import(readFileSync(join(host.folder, '../exported.tar')), `i${round}`),
    happened: ({ states }, round) =>
      states.includes(`system i${round} 1`) && states.includes(`ada i${round} 1`),
    async holds(host, round) {
      const users = ['', 'ada'];
      // On ZFS each is looked into as a clone, so one in a round is enough.
      for (const userName of host.storage.driver === 'zfs' ? [users[round % 2]] : users)
        expect(await host.extra('Diff', { stateName: `i${round}`, userName })).toMatchObject({
          code: 0,
          order: ['summary'],
        });
    },
    has: {
      vault: /^rename state\/vault\/states\/ID.json.new/,
      btrfs: /^spawn btrfs → property → set/,
      zfs: /^spawn zfs → create/,
    },
  },
  {
    name: 'adopt',
    operation: 'Adopt',
    twice: true,
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      else await host.must('RemoveSystemState', { stateName: 'zsys' });
      // Of a name that the mark has already, which hides nothing then.
      host.storage.saveAsZsys?.('zsys');
    },
    ask: (host) => host.extra('Adopt'),
    happened: ({ states }) => states.includes('system zsys 1') && states.includes('ada zsys 1'),
    has: { zfs: /^spawn zfs → set → croft:adopted/ },
  },
  ...(['Export', 'Diff'] as const).map(reading),
];

/** They write nothing, but on zfs-fuse a state is looked into as a clone. */
function reading(operation: 'Export' | 'Diff'): Subject {
  let done = 0;
  return {
    name: operation.toLowerCase(),
    operation,
    prepare: async (host, round) => {
      done = 0;
      if (round > 1) return;
      host.fill(host.tree, GOOD);
      await host.must('SaveSystemState', { stateName: 'one' });
    },
    async ask(host, round) {
      const answer = await host.extra(operation, { stateName: 'one' });
      if (answer.code === 0) done = round;
      return answer;
    },
    happened: (_look, round) => done === round,
    has: { zfs: /^spawn zfs → clone/ },
  };
}
