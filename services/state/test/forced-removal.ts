import { expect } from 'vitest';
import { run } from './drivers/zfs-programs.ts';
import { filled, GOOD, type Subject } from './subjects.ts';
import { bootGood, datasetsOf, good, rootOf } from './written-boots.ts';

/** A state that only goes by force, with all that was made from it where something can be. */
export const FORCED_REMOVAL: Subject = {
  name: 'remove-force',
  operation: 'RemoveSystemState',
  prepare: async (host, round) => {
    if (round === 1) await filled(host, 'ada', GOOD);
    host.fill(host.tree, { ...GOOD, round: `of ${round}` });
    await host.must('SaveSystemState', { stateName: 'good' });
    await host.extra('Pin', { stateName: 'good' });
    if (host.storage.driver !== 'zfs') return;
    // The machine went back to it, root and home, and from there to the first root again.
    await bootGood(host);
    await host.must('PrepareBoot');
    await host.must('SaveSystemState', { stateName: 'late' });
    const [member] = (await good(host)).members;
    run('zfs', 'clone', '-o', 'mountpoint=none', member?.snapshot ?? '', `${rootOf(host)}-clone`);
    host.bootWith('ro');
    await host.restart();
    await host.must('PrepareBoot');
    await host.must('GC');
  },
  ask: (host) => host.call('RemoveSystemState', { stateName: 'good', force: true }),
  happened: ({ states, heads }) => !states.some((state) => / (good|late) /.test(state)) && heads.length <= 1,
  async holds(host) {
    if (host.storage.driver !== 'zfs') return;
    expect(datasetsOf(host, 'origin').filter(([, origin]) => origin !== '-')).toEqual([]);
  },
  settles: true,
  has: {
    vault: /^rm state\/vault\/states/,
    btrfs: /^spawn btrfs → subvolume → delete/,
    zfs: /^spawn zfs → destroy → ROOT\/debian-clone/,
  },
};
