import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { expect, it, onTestFinished } from 'vitest';
import { Additions } from '../src/outside/storage/vault/content/additions.ts';
import { Objects } from '../src/outside/storage/vault/content/objects.ts';
import { bytesOf } from '../src/outside/storage/vault/files.ts';
import { writeContent } from '../src/outside/storage/vault/trees/materialise.ts';
import { missingForBtrfs, openBtrfs } from './drivers/btrfs-image.ts';

it.for([
  ['root', 0],
  ['another user', 65_534],
] as const)('keeps what shares its blocks to itself, whatever the mode: as %s', async ([, uid], context) => {
  const missing = missingForBtrfs();
  if (missing !== undefined) skipWithout(context, missing);
  const disk = await openBtrfs();
  onTestFinished(() => disk.close());
  chmodSync(disk.base, 0o711);
  const folder = join(disk.root, 'vault');
  mkdirSync(folder);
  chownSync(folder, uid, uid);
  process.seteuid?.(uid);
  try {
    const [store, staging] = [join(folder, 'objects'), join(folder, 'staging')];
    for (const path of [store, staging]) mkdirSync(path);
    const objects = new Objects(store);
    const additions = new Additions(objects, staging, { budget: Number.POSITIVE_INFINITY });
    const modes = [0o444, 0o4755, 0o640];
    const file = (mode: number) => join(folder, mode.toString(8));
    const hashes: string[] = [];
    for (const mode of modes) {
      writeFileSync(file(mode), `${mode}`.repeat(100_000));
      chmodSync(file(mode), mode);
      const fd = openSync(file(mode), 'r');
      hashes.push((await additions.put(fd, false, 1_000_000)).hash);
      closeSync(fd);
    }
    // They did share them: nothing was written.
    expect(additions.written).toBe(0);
    await additions.finish();
    const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
    expect(hashes.map((hash) => modeOf(objects.pathOf(hash)))).toEqual(['600', '600', '600']);
    // And back, also of one that an earlier version kept as it was.
    const [hash = ''] = hashes;
    chmodSync(objects.pathOf(hash), 0o444);
    const entry = { path: 'a', type: 'file', mode: '444', uid, gid: uid, mtimeNs: '0', hash } as const;
    await writeContent(objects, entry, bytesOf(join(folder, 'back')));
    expect(modeOf(join(folder, 'back'))).toBe('600');
    expect(readFileSync(join(folder, 'back'))).toEqual(readFileSync(file(0o444)));
  } finally {
    process.seteuid?.(0);
  }
});
