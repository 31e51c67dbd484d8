import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, median } from './figure.ts';
import { startDaemon } from './state/daemon.ts';
import { copyTree, makeTree } from './state/trees.ts';

const FILES = 200_000;
const LIMIT_MS = 5000;

/** Saving a tree of 200,000 small files again when nothing has changed. */
export async function* figures(): AsyncGenerator<Figure> {
  const place = await mkdtemp(join(tmpdir(), 'croft-bench-state-'));
  try {
    const tree = join(place, 'tree');
    await makeTree(tree, FILES, () => randomBytes(200));
    await using daemon = await startDaemon(place);
    await sleep(200);
    await daemon.run('save');
    const unchanged: number[] = [];
    for (let round = 0; round < 3; round++) unchanged.push(await daemon.time('save'));
    const [ours, copy] = [median(unchanged), await copyTree(tree, join(place, 'copy'))];
    const common = { bench: 'state-large', ours, unit: 'ms' };
    const what = 'save of an unchanged tree of 200,000 files';
    yield { ...common, figure: `${what}, 5 s`, ratio: LIMIT_MS / ours, theirs: LIMIT_MS, limit: '≥ 1' };
    yield { ...common, figure: `${what}, cp -a`, ratio: copy / ours, theirs: copy };
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
