import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DumpedState } from './daemon.ts';
import { run } from './drivers/zfs-programs.ts';
import type { SteppingHost } from './stepping-hosts.ts';
import { BAD, filled, GOOD, home, type Subject } from './subjects.ts';

/** Whether a folder holds what it held in the state, and nothing else. */
const isGood = (files: Record<string, string>, below: string) =>
  [...Object.keys(GOOD), ...Object.keys(BAD)].every(
    (file) => files[below + file] === GOOD[file as keyof typeof GOOD],
  );

/** The state that is gone back to. */
export async function good(host: SteppingHost): Promise<DumpedState> {
  const states = (await host.dump()).machines.flatMap((machine) => machine.states);
  return states.find(({ name, user }) => name === 'good' && user === null) as DumpedState;
}

/** Makes the state in the first round. */
async function goodOnce(host: SteppingHost, round: number): Promise<void> {
  if (round > 1) return;
  await filled(host, 'ada', GOOD);
  host.fill(host.tree, GOOD);
  await host.must('SaveSystemState', { stateName: 'good' });
}

const bothOf = (host: SteppingHost) => [host.tree, home(host, 'ada')];

/** Subvolumes in the system and in a home, made after the state, and the states that ways back left. */
async function nestedOnce(host: SteppingHost, round: number): Promise<void> {
  if (round > 1) return void (await host.must('GC'));
  for (const folder of bothOf(host)) {
    run('btrfs', 'subvolume', 'create', join(folder, 'c/nested'));
    writeFileSync(join(folder, 'c/nested/file'), 'precious');
  }
}

/** The first root of the machine. */
export const rootOf = ({ name }: SteppingHost) => `${name}/ROOT/debian`;

/** Names of all file systems of the pool, each with what it says of some properties. */
export function datasetsOf({ name }: SteppingHost, ...properties: readonly string[]): string[][] {
  const rows = run('zfs', 'list', '-H', '-r', '-t', 'filesystem', '-o', ['name', ...properties].join(), name);
  return rows
    .trim()
    .split('\n')
    .map((row) => row.split('\t'));
}

/** The root that the last way back made, or the first one. */
function lastRoot(host: SteppingHost): string {
  const roots = datasetsOf(host, 'croft:managed', 'croft:retired').filter(
    ([, managed, retired]) => managed === 'yes' && retired !== 'yes',
  );
  return roots.at(-1)?.[0] ?? rootOf(host);
}

/** Boots the snapshot of the state as a boot menu does. */
export async function bootGood(host: SteppingHost, words = ''): Promise<void> {
  const {
    members: [first],
  } = await good(host);
  host.bootWith(`statesvc.revert=userdata ${words}`, `root=ZFS=${first?.snapshot}`);
  await host.restart();
}

/** Takes the states that ways back left, which take up to thirty processes to remove, before there are many. */
async function collectNowAndThen(host: SteppingHost, round: number): Promise<void> {
  if (round % 4 === 0) await host.must('GC');
}

/** What happens when a machine boots. */
export const BOOTS: readonly Subject[] = [
  {
    name: 'go-back',
    operation: 'PrepareBoot',
    prepare: async (host, round) => {
      await goodOnce(host, round);
      for (const folder of bothOf(host)) host.fill(folder, BAD);
      host.bootWith(`statesvc.state=${(await good(host)).id} statesvc.revert=userdata`);
      await host.restart();
    },
    ask: (host) => host.call('PrepareBoot'),
    happened: ({ files }) => isGood(files, '') && isGood(files, 'ada/'),
    goesOn: true,
    twice: true,
    savesFirst: true,
    has: { vault: /^rename its files → its files/ },
  },
  {
    // Subvolumes are exchanged, all or none, and what lies in the old ones goes along.
    name: 'exchange',
    operation: 'PrepareBoot',
    prepare: async (host, round) => {
      await goodOnce(host, round);
      await nestedOnce(host, round);
      for (const folder of bothOf(host)) writeFileSync(join(folder, 'a/file'), `bad ${round}`);
      host.bootWith(`statesvc.state=${(await good(host)).id} statesvc.revert=userdata`);
      await host.restart();
    },
    ask: (host) => host.call('PrepareBoot'),
    happened({ files }, round) {
      // Never neither: a machine that boots now finds a system, and nothing is lost of what lies in it.
      const both = ['', 'ada/'].map((below) => files[`${below}a/file`]);
      expect([both, files['c/nested/file'], files['ada/c/nested/file']]).toEqual([
        expect.toSatisfy(
          (found: string[]) =>
            found.every((one) => one === 'good') || found.every((one) => one === `bad ${round}`),
        ),
        'precious',
        'precious',
      ]);
      return both[0] === 'good';
    },
    goesOn: true,
    twice: true,
    savesFirst: true,
    has: { btrfs: /^rename top\/@states\/work\/ID\/c\/nested → top\/@\/c\/nested/ },
  },
  {
    // Clones are made beside what runs, which nothing is done to.
    name: 'clone',
    operation: 'PrepareBoot',
    prepare: async (host, round) => {
      await goodOnce(host, round);
      if (round === 1) run('zfs', 'create', `${rootOf(host)}/var`);
      else {
        // Somebody chose the old root again, and the clones are in nobody's way.
        host.bootWith('ro');
        await host.restart();
        await host.must('PrepareBoot');
        await collectNowAndThen(host, round);
        const clones = datasetsOf(host, 'origin').filter(([, origin]) => origin !== '-');
        for (const [name = ''] of clones.toReversed()) run('zfs', 'destroy', name);
      }
      await bootGood(host);
    },
    ask: (host) => host.call('PrepareBoot'),
    happened: ({ heads }) => heads.some((head) => /debian_\w+\t.*"done":true/.test(head)),
    goesOn: true,
    twice: true,
    async holds(host) {
      // The next boot mounts the home that was cloned, and what runs now is as it was.
      const homes = datasetsOf(host, 'origin', 'canmount').filter(([name]) => name?.includes('/ada_'));
      expect(homes.map(([, origin, canmount]) => [origin !== '-', canmount]).sort()).toEqual([
        [false, 'noauto'],
        [true, 'on'],
      ]);
      for (const folder of bothOf(host)) expect(readFileSync(join(folder, 'a/file'), 'utf8')).toBe('good');
    },
    has: { zfs: /^spawn zfs → clone/ },
  },
  {
    // What was cloned stands on its own from now on.
    name: 'promote',
    operation: 'CommitBoot',
    prepare: async (host, round) => {
      await goodOnce(host, round);
      host.bootWith('ro', `root=ZFS=${lastRoot(host)}`);
      await host.restart();
      await host.must('PrepareBoot');
      await collectNowAndThen(host, round);
      await bootGood(host, `BOOT_IMAGE=/vmlinuz-6.1.${round}`);
      await host.must('PrepareBoot');
    },
    ask: (host) => host.call('CommitBoot'),
    happened: ({ kernel, lastUsedAt }, round) => kernel.endsWith(`6.1.${round}`) && lastUsedAt !== null,
    goesOn: true,
    twice: true,
    has: { zfs: /^spawn zfs → promote/ },
  },
  {
    name: 'commit-boot',
    operation: 'CommitBoot',
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
    has: {
      vault: /^rename state\/vault\/machines/,
      btrfs: /^rename top\/@states\/machines/,
      zfs: /^spawn zfs → set → croft:last-booted-kernel/,
    },
  },
];
