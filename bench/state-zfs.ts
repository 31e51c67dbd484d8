import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPool, type ZfsPool } from '../services/state/test/drivers/zfs-image.ts';
import { missingForZfs, startZfs, stopZfs } from '../services/state/test/drivers/zfs-programs.ts';
import { type Figure, median } from './figure.ts';
import { type Daemon, startDaemon } from './state/daemon.ts';

const ROUNDS = 15;
const FILES = 200;
/** Of design §6: over the time of the raw commands. */
const LIMIT = '≥ 0.83';

/**
 * Saving and removing a system with one home on ZFS by the daemon, and by commands of its client besides, which connect anew
 * and ask more than once, against the bare commands one after the other, as a script would run them: a recursive snapshot of the
 * pool, destroying those of the containers, and a mark; and destroying both trees by their names. A ratio of 1 means the same time;
 * 0.83 is the promised factor of 1.2. `destroy -r`, which takes what others made as well (decision 0016), stands beside it.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const missing = missingForZfs();
  if (missing !== undefined) {
    process.stderr.write(`state-zfs: ${missing} is missing\n`);
    return;
  }
  startZfs();
  const storage = await openPool({ megabytes: 512 });
  try {
    for (const name of ['var', 'var/log', 'usr', 'srv', 'opt'])
      storage.zfs('create', `${storage.root}/${name}`);
    // Only one of them mounts here, and nothing comes between it and its programs.
    const settings = { ...storage.settings, STATESVC_SEARCH_PATH: '/usr/sbin:/sbin:/usr/bin:/bin' };
    await using daemon = await startDaemon(storage.base, settings);
    await daemon.run('users', 'create', 'ada', join(storage.homesFolder, 'ada'));
    mkdirSync(join(storage.systemPath, 'etc'));
    for (let file = 0; file < FILES; file++)
      writeFileSync(join(storage.systemPath, `etc/${file}`), `${file}`);
    yield* saveAndRemove(daemon, storage);
  } finally {
    await storage.close();
    stopZfs();
  }
}

async function* saveAndRemove(
  daemon: Daemon,
  { zfs, pool, root, systemPath }: ZfsPool,
): AsyncGenerator<Figure> {
  const home = zfs('list', '-H', '-r', '-o', 'name', `${pool}/USERDATA`).trim().split('\n').at(-1) as string;
  const took: Record<
    'save' | 'saveCommand' | 'remove' | 'removeCommand' | 'snapshot' | 'destroy' | 'destroyEach',
    number[]
  > = {
    save: [],
    saveCommand: [],
    remove: [],
    removeCommand: [],
    snapshot: [],
    destroy: [],
    destroyEach: [],
  };
  const trees = (name: string) =>
    zfs('list', '-H', '-r', '-t', 'snapshot', '-o', 'name', root, home)
      .split('\n')
      .filter((snapshot) => snapshot.endsWith(`@${name}`));
  for (let round = 0; round < ROUNDS; round++) {
    const change = () => writeFileSync(join(systemPath, 'etc/changed'), `${Math.random()}`);
    const name = `bare-${round}`;
    change();
    took.save.push(await daemon.timeSave(`s${round}`));
    change();
    took.snapshot.push(
      await timed([
        ['snapshot', '-r', '-o', 'croft:bare=x', `${pool}@${name}`],
        ...[pool, `${pool}/ROOT`, `${pool}/USERDATA`].map((container) => ['destroy', `${container}@${name}`]),
        ['set', 'croft:complete=x', `${root}@${name}`],
      ]),
    );
    change();
    took.saveCommand.push(await daemon.time('save', `c${round}`));
    took.remove.push(await daemon.timeRemoval(`s${round}`));
    took.destroy.push(await timed([root, home].map((tree) => ['destroy', '-r', `${tree}@${name}`])));
    zfs('snapshot', '-r', `${pool}@each-${round}`);
    took.destroyEach.push(await timed(trees(`each-${round}`).map((snapshot) => ['destroy', snapshot])));
    for (const container of [pool, `${pool}/ROOT`, `${pool}/USERDATA`])
      zfs('destroy', `${container}@each-${round}`);
    took.removeCommand.push(await daemon.time('remove', `c${round}`, '--yes'));
  }
  const what = 'a system of 6 datasets with one home on ZFS';
  const times = (key: keyof typeof took) => median(took[key]);
  yield promised(against(times('snapshot'), `save of ${what}`, times('save')));
  yield against(times('snapshot'), `save of ${what}, by the command`, times('saveCommand'));
  yield promised(against(times('destroyEach'), `removal of ${what}, by their names`, times('remove')));
  yield against(times('destroyEach'), `removal of ${what}, by the command`, times('removeCommand'));
  yield against(times('destroy'), `removal of ${what}, by -r, with what others made`, times('remove'));
}

/** What the bare program takes, one call after the other. */
async function timed(calls: readonly (readonly string[])[]): Promise<number> {
  const begun = performance.now();
  for (const args of calls) await promisify(execFile)('zfs', args);
  return performance.now() - begun;
}

const promised = (figure: Figure): Figure => ({ ...figure, limit: LIMIT });

function against(theirs: number, figure: string, ours: number): Figure {
  return { bench: 'state-zfs', figure, ratio: theirs / ours, ours, theirs, unit: 'ms' };
}
