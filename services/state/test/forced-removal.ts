import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { run } from './drivers/zfs-programs.ts';
import type { SteppingHost } from './stepping-hosts.ts';
import { filled, GOOD, type Subject } from './subjects.ts';
import { bootGood, datasetsOf, good, rootOf } from './written-boots.ts';

/** Ids of the states that the boot menu offers. */
function offered({ boot }: SteppingHost): string[] {
  const menu = join(boot, 'grub/croft.cfg');
  if (!existsSync(menu)) return [];
  return [...readFileSync(menu, 'utf8').matchAll(/--id 'croft-([0-9a-f-]{36})/g)].map(([, id = '']) => id);
}

/** The machine went back to the state, root and home, and from there to the first root again; somebody cloned it as well. */
async function goneBackTo(host: SteppingHost): Promise<void> {
  await bootGood(host);
  await host.must('PrepareBoot');
  await host.must('SaveSystemState', { stateName: 'late' });
  const [member] = (await good(host)).members;
  run('zfs', 'clone', '-o', 'mountpoint=none', member?.snapshot ?? '', `${rootOf(host)}-clone`);
  host.bootWith('ro');
  await host.restart();
  await host.must('PrepareBoot');
  await host.must('GC');
}

/** A state that only goes by force, with all that was made from it where something can be. */
export const FORCED_REMOVAL: Subject = {
  name: 'remove-force',
  operation: 'RemoveSystemState',
  prepare: async (host, round) => {
    if (round === 1) await filled(host, 'ada', GOOD);
    host.fill(host.tree, { ...GOOD, round: `of ${round}` });
    await host.must('SaveSystemState', { stateName: 'good' });
    await host.extra('Pin', { stateName: 'good' });
    if (host.storage.driver === 'zfs') await goneBackTo(host);
    await host.must('UpdateBootMenu');
    expect(offered(host)).toContain((await good(host)).id);
  },
  ask: (host) => host.call('RemoveSystemState', { stateName: 'good', force: true }),
  happened: ({ states, heads }) => !states.some((state) => / (good|late) /.test(state)) && heads.length <= 1,
  async holds(host) {
    const ids = (await host.dump()).machines.flatMap(({ states }) => states.map(({ id }) => id));
    expect(offered(host).filter((id) => !ids.includes(id))).toEqual([]);
    if (host.storage.driver !== 'zfs') return;
    expect(datasetsOf(host, 'origin').filter(([, origin]) => origin !== '-')).toEqual([]);
  },
  settles: true,
  again: true,
  tells: /boot menu was not updated/,
  has: {
    vault: /^rm state\/vault\/states/,
    btrfs: /^call destroy →/,
    zfs: /^spawn zfs → destroy → ROOT\/debian-clone/,
  },
};
