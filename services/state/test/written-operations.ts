import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from './daemon.ts';
import type { Look } from './step-trial.ts';
import type { SteppingHost } from './stepping-hosts.ts';

/** An operation, and how to tell whether it happened. */
export interface Subject {
  readonly name: string;
  /** Before the process is started for a round. */
  readonly beforeStart?: (host: SteppingHost, round: number) => void;
  readonly prepare: (host: SteppingHost, round: number) => Promise<void>;
  readonly ask: (host: SteppingHost, round: number) => Promise<Answer>;
  readonly happened: (look: Look, round: number, before: Look) => boolean;
  /** It is many things, and goes on where it was interrupted: in between some have happened and others not. */
  readonly goesOn?: true;
  /** What it says when it did what it could. */
  readonly tells?: RegExp;
  /** A step that it must have, or nothing was tested. */
  readonly has: RegExp;
}

const GOOD = { 'a/file': 'good', b: 'both', 'c/d/e': 'only good' };
const BAD = { 'a/file': 'bad', b: 'both', extra: 'only bad', 'f/g': 'only bad, too' };

const home = (host: SteppingHost, name: string) => join(host.homes, name);
const filled = async (host: SteppingHost, user: string, files: Record<string, string> = { file: user }) => {
  await host.must('CreateUserData', { user, homepath: home(host, user) });
  host.fill(home(host, user), files);
};
const cleared = async (host: SteppingHost) => {
  await host.must('GC', { all: true });
};

const isGood = (files: Record<string, string>, below: string) =>
  files[`${below}a/file`] === 'good' &&
  files[`${below}extra`] === undefined &&
  files[`${below}f/g`] === undefined;

/** Every operation that writes. */
export const SUBJECTS: readonly Subject[] = [
  {
    name: 'save-system',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      host.fill(host.tree, { ...GOOD, round: `of ${round}` });
    },
    ask: (host, round) => host.call('SaveSystemState', { stateName: `s${round}`, updateBootMenu: true }),
    happened: ({ states }, round) => states.includes(`system s${round} 1`),
    has: /^rename state\/vault\/states\/ID.json.new/,
  },
  {
    name: 'save-user',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      host.fill(home(host, 'ada'), { ...GOOD, round: `of ${round}` });
    },
    ask: (host, round) => host.call('SaveUserState', { userName: 'ada', stateName: `s${round}` }),
    happened: ({ states }, round) => states.includes(`ada s${round} 1`),
    has: /^rename state\/vault\/states\/ID.json.new/,
  },
  {
    name: 'remove-system',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      host.fill(host.tree, { ...GOOD, round: `of ${round}` });
      await host.must('SaveSystemState', { stateName: `s${round}`, updateBootMenu: true });
    },
    ask: (host, round) => host.call('RemoveSystemState', { stateName: `s${round}` }),
    happened: ({ states }, round) => !states.includes(`system s${round} 1`),
    has: /^rm state\/vault\/states/,
  },
  {
    name: 'remove-user',
    prepare: async (host, round) => {
      if (round === 1) await filled(host, 'ada');
      host.fill(home(host, 'ada'), { ...GOOD, round: `of ${round}` });
      await host.must('SaveSystemState', { stateName: `s${round}` });
    },
    // Out of a state of the system, whose record stays.
    ask: (host, round) =>
      host.call('RemoveUserState', { userName: 'ada', stateName: `s${round}`, force: true }),
    happened: ({ states }, round) => !states.includes(`ada s${round} 1`),
    has: /^rename state\/vault\/states\/ID.json.new/,
  },
  {
    name: 'collect',
    prepare: async (host, round) => {
      await cleared(host);
      for (const one of ['one', 'two']) {
        host.fill(host.tree, { ...GOOD, round: `${one} of ${round}` });
        await host.must('SaveSystemState', { autosave: true, updateBootMenu: true });
      }
    },
    ask: (host) => host.call('GC'),
    happened: ({ states }) => states.length === 0,
    goesOn: true,
    has: /^unlink state\/vault\/objects/,
  },
  {
    name: 'create-home',
    prepare: async () => {},
    ask: (host, round) =>
      host.call('CreateUserData', { user: `u${round}`, homepath: home(host, `u${round}`) }),
    happened: ({ homes }, round) => homes.some((one) => one.startsWith(`u${round} `)),
    has: /^rename state\/vault\/homes/,
  },
  {
    name: 'link-home',
    prepare: async (host, round) => {
      await filled(host, `u${round}`);
      await host.must('DissociateUser', { user: `u${round}` });
    },
    ask: (host, round) =>
      host.call('CreateUserData', { user: `u${round}`, homepath: home(host, `u${round}`) }),
    happened: ({ homes }, round) =>
      homes.some((one) => one.startsWith(`u${round} `) && one.endsWith(' 1 true')),
    has: /^rename state\/vault\/homes/,
  },
  {
    // Of a user who belongs to no machine: he is linked and his home is moved, or neither.
    name: 'move-and-link',
    prepare: async (host, round) => {
      await filled(host, `u${round}`);
      await host.must('DissociateUser', { user: `u${round}` });
    },
    ask: (host, round) =>
      host.call('CreateUserData', { user: `u${round}`, homepath: home(host, `v${round}`) }),
    happened: ({ homes }, round) =>
      homes.some((one) => one.startsWith(`u${round} `) && one.endsWith(' 1 true')),
    has: /^rename homes\/uN → homes\/vN/,
  },
  {
    name: 'change-home',
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
    has: /^rename homes\/adaN → homes\/adaN/,
  },
  {
    name: 'dissociate',
    prepare: (host, round) => filled(host, `u${round}`),
    ask: (host, round) => host.call('DissociateUser', { user: `u${round}` }),
    happened: ({ homes }, round) =>
      homes.some((one) => one.startsWith(`u${round} `) && one.endsWith(' 0 true')),
    has: /^rename state\/vault\/homes/,
  },
  {
    name: 'remove-home',
    prepare: (host, round) => filled(host, `u${round}`, GOOD),
    ask: (host, round) => host.call('DissociateUser', { user: `u${round}`, removeHome: true }),
    happened: ({ homes, files }, round) =>
      homes.some((one) => one.startsWith(`u${round} `) && one.endsWith(' 0 true')) &&
      !Object.keys(files).some((file) => file.startsWith(`u${round}/`)),
    goesOn: true,
    tells: /could not be removed/,
    has: /^unlink its files/,
  },
  {
    name: 'go-back',
    prepare: async (host, round) => {
      if (round === 1) {
        await filled(host, 'ada', GOOD);
        host.fill(host.tree, GOOD);
        await host.must('SaveSystemState', { stateName: 'good' });
      }
      const dump = await host.dump();
      const good = dump.machines[0]?.states.find(({ name, user }) => name === 'good' && user === null);
      host.fill(host.tree, BAD);
      host.fill(home(host, 'ada'), BAD);
      host.bootWith(`statesvc.state=${good?.id} statesvc.revert=userdata`);
      await host.restart();
    },
    ask: (host) => host.call('PrepareBoot'),
    happened: ({ files }) => isGood(files, '') && isGood(files, 'ada/'),
    goesOn: true,
    has: /^rename its files → its files/,
  },
  {
    name: 'commit-boot',
    prepare: async (host, round) => {
      if (round === 1) {
        await host.must('SaveSystemState', { stateName: 'one' });
        await host.must('UpdateBootMenu');
      }
      host.bootWith(`BOOT_IMAGE=/vmlinuz-6.1.${round} ro`);
      await host.restart();
    },
    ask: (host) => host.call('CommitBoot'),
    happened: ({ kernel }, round) => kernel.endsWith(`6.1.${round}`),
    has: /^rename state\/vault\/machines/,
  },
  {
    name: 'update-menu',
    prepare: async (host, round) => {
      await host.must('SaveSystemState', { stateName: `s${round}` });
    },
    ask: (host) => host.call('UpdateBootMenu'),
    happened: ({ menu }, round) => menu.includes(`, s${round}'`) || menu.includes(`, s${round} `),
    has: /^rename boot\/grub\/croft.cfg.new/,
  },
  {
    name: 'last-used',
    prepare: async () => {},
    ask: (host) => host.call('UpdateLastUsed'),
    happened: ({ lastUsedAt }, _round, before) => lastUsedAt !== before.lastUsedAt,
    has: /^rename state\/vault\/machines/,
  },
  {
    name: 'describe',
    prepare: async (host, round) => {
      if (round === 1) await host.must('SaveSystemState', { stateName: 'one' });
    },
    ask: (host, round) => host.extra('Describe', { stateName: 'one', description: `of ${round}` }),
    happened: ({ said }, round) => said.includes(`one: of ${round}`),
    has: /^rename state\/vault\/states\/ID.json.new/,
  },
  {
    name: 'pin',
    prepare: async (host, round) => {
      if (round === 1) {
        await host.must('SaveSystemState', { stateName: 'one' });
        await host.must('UpdateBootMenu');
      }
      await host.extra('Unpin', { stateName: 'one' });
    },
    ask: (host) => host.extra('Pin', { stateName: 'one' }),
    happened: ({ said }) => said.includes('one: , pinned'),
    has: /^rename state\/vault\/states\/ID.json.new/,
  },
  {
    name: 'request-revert',
    prepare: async (host, round) => {
      if (round === 1) await host.must('SaveSystemState', { stateName: 'one' });
      await host.extra('CancelRevert');
    },
    ask: (host) => host.extra('RequestRevert', { stateName: 'one', users: true }),
    happened: ({ next }) => next === 'one',
    has: /^rename state\/vault\/machines/,
  },
  {
    name: 'import',
    prepare: async (host, round) => {
      const file = join(host.folder, '../exported.tar');
      if (round === 1) {
        host.fill(host.tree, GOOD);
        await host.must('SaveSystemState', { stateName: 'one' });
        writeFileSync(file, await host.exported('one'));
      }
      // So that all of its content has to come back.
      for (const stateName of ['one', `i${round - 1}`]) await host.call('RemoveSystemState', { stateName });
    },
    ask: (host, round) => host.import(readFileSync(join(host.folder, '../exported.tar')), `i${round}`),
    happened: ({ states }, round) => states.includes(`system i${round} 1`),
    has: /^rename state\/vault\/states\/ID.json.new/,
  },
];
