import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, median } from './figure.ts';
import { type Daemon, startDaemon } from './state/daemon.ts';
import {
  changeTree,
  copyTree,
  makeTree,
  mixedContent,
  spaceOf,
  syncAtOnce,
  syncEach,
} from './state/trees.ts';

const FILES = 10_000;
const CHANGED = 100;
const ROUNDS = 5;
const STATES = 20;
/** What design and issue promise for a tree of this size. */
const LIMIT_MS = 400;
const REVERT_LIMIT_MS = 1000;
const SPACE_LIMIT = 1.3;
/** Files as young as a save are hashed again by the next one; nobody's system is a second old. */
const AGE_MS = 200;

/**
 * Saving a tree of 10,000 files and 200 MB through the client and the daemon, against `cp -a` of the same tree in the same run.
 * A ratio of 2 means that saving takes half the time of copying.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const place = await mkdtemp(join(tmpdir(), 'croft-bench-state-'));
  const tree = join(place, 'tree');
  try {
    await makeTree(tree, FILES, mixedContent);
    // Garbage collection keeps nothing, so that space is measured from the beginning.
    await writeFile(join(place, 'policy.yaml'), 'keep: {days: 0, newest: 0, rules: []}\n');
    await syncAtOnce(place);
    const daemon = await startDaemon(place);
    try {
      yield* firstSave(daemon, place);
      yield* laterSaves(daemon, place);
      yield* space(daemon, place);
    } finally {
      await daemon[Symbol.asyncDispose]();
    }
    yield* revert(place);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Everything is new, and on the disk when the state is there; so it is with the copy. */
async function* firstSave(daemon: Daemon, place: string): AsyncGenerator<Figure> {
  const [tree, copy] = [join(place, 'tree'), join(place, 'copy')];
  await sleep(AGE_MS);
  const ours = await daemon.time('save', 'first');
  const copied: number[] = [];
  const atOnce: number[] = [];
  for (let round = 0; round < 3; round++) {
    copied.push(await copyTree(tree, copy));
    atOnce.push((copied.at(-1) as number) + (await syncAtOnce(copy)));
  }
  await copyTree(tree, copy);
  const each = median(copied) + (await syncEach(copy));
  const what = 'first save of 10,000 files, cp -a --reflink=never';
  yield against(each, `${what} and fsync of each file`, ours, '≥ 0.5');
  yield against(median(atOnce), `${what} and one syncfs`, ours);
}

async function* laterSaves(daemon: Daemon, place: string): AsyncGenerator<Figure> {
  const tree = join(place, 'tree');
  const copies: number[] = [];
  const unchanged: number[] = [];
  const changed: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    copies.push(await copyTree(tree, join(place, 'copy')));
    unchanged.push(await daemon.time('save'));
    await changeTree(tree, FILES, round);
    await sleep(AGE_MS);
    changed.push(await daemon.time('save'));
  }
  const what = 'save of an unchanged tree of 10,000 files';
  yield against(median(copies), `${what}, cp -a`, median(unchanged), '≥ 1');
  yield against(LIMIT_MS, `${what}, 0.4 s`, median(unchanged), '≥ 1');
  yield against(median(copies), `save with ${CHANGED} of 10,000 files changed, cp -a`, median(changed));
}

/** Twenty states, each with other files changed, in a vault of their own against one copy. */
async function* space(daemon: Daemon, place: string): AsyncGenerator<Figure> {
  const tree = join(place, 'tree');
  await daemon.run('gc', '--all', '--yes');
  for (let state = 0; state < STATES; state++) {
    await changeTree(tree, FILES, ROUNDS + state);
    await daemon.run('save', `space-${state}`);
  }
  const vault = await spaceOf(join(place, 'state/vault'));
  await copyTree(tree, join(place, 'copy'));
  const copy = await spaceOf(join(place, 'copy'));
  const figure = `space of ${STATES} states with 1 % changed in each, 1.3 copies`;
  yield { ...against(copy * SPACE_LIMIT, figure, vault, '≥ 1'), unit: 'bytes' };
}

/** Going back to a state when a hundred files have changed since; what is there before is saved first. */
async function* revert(place: string): AsyncGenerator<Figure> {
  const took: number[] = [];
  for (let round = 0; round < 3; round++) {
    const name = `to-go-back-to-${round}`;
    {
      await using daemon = await startDaemon(place);
      await daemon.run('save', name);
      await writeFile(join(place, 'cmdline'), `statesvc.state=${await idOf(daemon, name)}\n`);
    }
    await changeTree(join(place, 'tree'), FILES, STATES + ROUNDS + 1);
    await sleep(AGE_MS);
    await using daemon = await startDaemon(place);
    took.push(await daemon.time('prepare-boot'));
  }
  const figure = `going back with ${CHANGED} of 10,000 files changed, 1 s`;
  yield against(REVERT_LIMIT_MS, figure, median(took), '≥ 1');
}

async function idOf(daemon: Daemon, name: string): Promise<string> {
  const [machine] = JSON.parse(await daemon.run('dump')).machines as {
    states: { id: string; name: string }[];
  }[];
  return machine?.states.find((state) => state.name === name)?.id ?? '';
}

function against(theirs: number, figure: string, ours: number, limit?: string): Figure {
  const measured = { bench: 'state', figure, ratio: theirs / ours, ours, theirs, unit: 'ms' };
  return limit === undefined ? measured : { ...measured, limit };
}
