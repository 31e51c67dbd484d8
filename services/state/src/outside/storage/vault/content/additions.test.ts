import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../../test/daemon.ts';
import { Additions } from './additions.ts';
import { Objects } from './objects.ts';

function scene() {
  const folder = temporaryFolder();
  const [store, staging] = [join(folder, 'objects'), join(folder, 'staging')];
  for (const path of [store, staging]) mkdirSync(path);
  const objects = new Objects(store);
  const additions = new Additions(objects, staging, { budget: Number.POSITIVE_INFINITY });
  const put = async (path: string, limit: number) => {
    const fd = openSync(path, 'r');
    try {
      return await additions.put(fd, false, limit);
    } finally {
      closeSync(fd);
    }
  };
  return { folder, staging, objects, additions, put };
}

it('keeps nothing of a file that fails while it is read', async () => {
  const { folder, staging, objects, additions, put } = scene();
  writeFileSync(join(folder, 'whole'), 'content');
  const whole = await put(join(folder, 'whole'), 7);
  // A folder can be opened and not read.
  await expect(put(folder, 1_000_000)).rejects.toThrow('EISDIR');
  await additions.finish();
  expect([...(await objects.list())]).toEqual([whole.hash]);
  expect(readFileSync(objects.pathOf(whole.hash), 'utf8')).toBe('content');
  expect(existsSync(staging)).toBe(false);
});

it('puts hundreds in their places, and each content once', async () => {
  const { folder, objects, additions, put } = scene();
  const hashes = new Set<string>();
  for (let file = 0; file < 300; file++) {
    writeFileSync(join(folder, 'file'), `content ${file >> 1}`);
    hashes.add((await put(join(folder, 'file'), 100)).hash);
  }
  expect(readdirSync(objects.folder)).toEqual([]);
  await additions.finish();
  expect(hashes.size).toBe(150);
  expect([...(await objects.list())].sort()).toEqual([...hashes].sort());
});
